import type { DatasetRecord } from '../model/value.ts'
import {
  type CountPlan,
  compileCount,
  compileFetch,
  compilePage,
  type PagePlan,
} from '../query/compile/records.ts'
import type { CompileTarget } from '../query/compile/scope.ts'
import { decodeCount, decodeRecord, decodeRecordIris } from '../query/decode.ts'
import type { RecordQuery } from '../query/plan.ts'
import { generate } from '../sparql/generate.ts'
import type { Store } from '../store/store.ts'
import type { Stopwatch } from './stopwatch.ts'

/** A page of records and the number of all records that match. */
export interface RecordPage {
  readonly total: number
  readonly records: readonly DatasetRecord[]
}

/**
 * Answers a record query: compile, run, decode. The page comes first; all records are counted only where the page
 * does not tell the total itself.
 */
export async function findRecords(
  plan: RecordQuery,
  target: CompileTarget,
  store: Store,
  watch: Stopwatch,
): Promise<RecordPage> {
  const { page, count } = watch.time('compile', () => ({
    page: compilePage(plan, target),
    count: compileCount(plan, target),
  }))
  const records = await readPage(page, target, store, watch)
  const first = plan.offset + records.length
  if (count.type === 'known') return { total: count.count, records }
  if (records.length < plan.limit && (records.length > 0 || plan.offset === 0))
    return { total: first, records }
  return { total: await readCount(count, store, watch), records }
}

/** One record by its id; null where the version has none. */
export async function findRecord(
  id: string,
  target: CompileTarget,
  iri: string,
  store: Store,
  watch: Stopwatch,
): Promise<DatasetRecord | null> {
  if (!/^[0-9a-f]{40}$/.test(id)) return null
  const text = watch.time('compile', () => generate(compileFetch([iri], target)))
  const solutions = await watch.wait('store', store.select(text))
  const solution = solutions[0]
  return solution === undefined ? null : watch.time('decode', () => decodeRecord(solution))
}

async function readPage(
  page: PagePlan,
  target: CompileTarget,
  store: Store,
  watch: Stopwatch,
): Promise<readonly DatasetRecord[]> {
  if (page.type === 'empty') return []
  const solutions = await watch.wait('store', store.select(generate(page.query)))
  if (page.type === 'positions')
    return watch.time('decode', () => solutions.map(decodeRecord).sort((a, b) => a.position - b.position))
  if (solutions.length === 0) return []
  const iris = decodeRecordIris(solutions)
  const contents = await watch.wait('store', store.select(generate(compileFetch(iris, target))))
  return watch.time('decode', () => {
    const byIri = new Map(contents.map(solution => [solution.record?.value, decodeRecord(solution)]))
    return iris.flatMap(iri => byIri.get(iri) ?? [])
  })
}

async function readCount(count: CountPlan, store: Store, watch: Stopwatch): Promise<number> {
  if (count.type === 'known') return count.count
  return decodeCount(await watch.wait('store', store.select(generate(count.query))))
}
