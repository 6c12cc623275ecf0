import { LineSet } from '../catalog/line-set.ts'
import { splitQuad } from '../catalog/rdf-quads.ts'
import type { CompiledMapping } from '../mapping/compile.ts'
import type { Field } from '../model/field.ts'
import { compileRecordTriples, compileTextWith, compileTriples } from '../query/compile/records.ts'
import type { CompileTarget } from '../query/compile/scope.ts'
import type { RecordQuery } from '../query/plan.ts'
import type { Store } from '../store/store.ts'
import { exportRecords, findRecordIris } from './find.ts'
import type { Asker } from './trace.ts'

/** Records asked for at a time: some ten thousand triples, a few milliseconds of one worker. */
const RECORDS_AT_A_TIME = 1000

/**
 * The facts of the first records of a dataset, of all unless told, in the order of its source, in bounded pieces of
 * N-Triples. Records are asked for by their positions, so that the last piece costs what the first does; what is not read
 * is not asked.
 */
export async function* recordTriples(
  store: Store,
  target: CompileTarget,
  size: number = RECORDS_AT_A_TIME,
  limit: number | null = null,
): AsyncGenerator<string> {
  const records = Math.min(limit ?? Number.POSITIVE_INFINITY, target.statistics.records)
  for (let first = 0; first < records; first += size) {
    const length = Math.min(size, records - first)
    const triples = await store.construct(compileTriples(first, length, target))
    if (triples !== '') yield triples
  }
}

/** True where a query asks for the records of a dataset as they are, so that its graph is the whole graph. */
export function isWhole({ filter, orderBy, limit, offset }: RecordQuery): boolean {
  return filter === null && orderBy.length === 0 && limit === null && offset === 0
}

/** The facts of the records of a query in their order, in bounded pieces of N-Triples; what it selects is not looked at. */
export async function* matchingTriples(
  plan: RecordQuery,
  target: CompileTarget,
  store: Store,
  asker: Asker,
): AsyncGenerator<string> {
  if (isWhole({ ...plan, limit: null })) {
    yield* recordTriples(store, target, RECORDS_AT_A_TIME, plan.limit)
    return
  }
  const records = await findRecordIris(plan, target, asker)
  for (let done = 0; done < records.length; done += RECORDS_AT_A_TIME) {
    const some = records.slice(done, done + RECORDS_AT_A_TIME)
    const triples = await store.construct(compileRecordTriples(some, target))
    if (triples !== '') yield triples
  }
}

/**
 * What a mapping says of the records of a query, each triple once, in the order of the records, in bounded pieces of
 * N-Triples; what it puts into graphs is said without them.
 */
export async function* mappedTriples(
  plan: RecordQuery,
  target: CompileTarget,
  asker: Asker,
  { map, hasGraphs }: CompiledMapping,
): AsyncGenerator<string> {
  const seen = new LineSet()
  for await (const rows of exportRecords({ ...plan, select: [] }, target, asker)) {
    let piece = ''
    const add = (lines: string) => {
      for (let at = 0; at < lines.length; ) {
        const end = lines.indexOf('\n', at)
        const line = lines.slice(at, end)
        const triple = hasGraphs ? splitQuad(line).triple : line
        if (seen.add(triple)) piece += `${triple}\n`
        at = end + 1
      }
    }
    for (const { record } of rows) map(record, { add })
    if (piece !== '') yield piece
  }
}

/** The first field of text with a value in which a regular expression finds something; null where none has. */
export async function fieldWith(pattern: string, target: CompileTarget, asker: Asker): Promise<Field | null> {
  for (const field of target.dataset.fields) {
    if (field.type !== 'text') continue
    const found = await asker.ask(compileTextWith(pattern, field, target))
    if (found.length > 0) return field
  }
  return null
}
