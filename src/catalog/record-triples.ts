import type { CompiledMapping } from '../mapping/compile.ts'
import type { Field } from '../model/field.ts'
import { splitQuad } from '../publishing/graphs/rdf-quads.ts'
import { compileTextWith } from '../query/compile/records.ts'
import type { CompileTarget } from '../query/compile/target.ts'
import { exportRecords, recordPositions } from '../query/execute/answer.ts'
import type { Executor } from '../query/execute/executor.ts'
import type { RecordQuery } from '../query/plan.ts'
import { LineSet } from '../rdf/line-set.ts'
import { yieldToOthers } from '../runtime/work-client.ts'
import type { Store } from '../store/store.ts'

/** Records whose triples are written at a time. */
const RECORDS_AT_A_TIME = 250

/** Records that are mapped at a time: some milliseconds, during which other requests wait. */
const MAPPED_AT_A_TIME = 50

/**
 * The facts of the first records of a dataset in source order, in bounded pieces of N-Triples; records are requested as they are
 * read.
 *
 * @param limit their number; null for all
 */
async function* recordTriples(
  store: Pick<Store, 'lines'>,
  target: CompileTarget,
  limit: number | null,
): AsyncGenerator<string> {
  const records = Math.min(limit ?? Number.POSITIVE_INFINITY, target.statistics.records)
  if (records === 0) return
  for await (const triples of store.lines(target.graphs.facts, records, RECORDS_AT_A_TIME)) {
    if (triples !== '') yield triples
    await yieldToOthers()
  }
}

/** True if a query requests all records of a dataset unfiltered and in order, so that the result is the whole graph. */
export function isWholeRecord({ filter, orderBy, limit, offset }: RecordQuery): boolean {
  return filter === null && orderBy.length === 0 && limit === null && offset === 0
}

/** The facts of the records of a query in order, in bounded pieces of N-Triples; its select clause is ignored. */
export async function* matchingTriples(
  plan: RecordQuery,
  target: CompileTarget,
  store: Store,
  executor: Executor,
): AsyncGenerator<string> {
  if (isWholeRecord({ ...plan, limit: null })) {
    yield* recordTriples(store, target, plan.limit)
    return
  }
  if (plan.limit === 0 || target.statistics.records === 0) return
  const { facts } = target.graphs
  const columns = await executor.contents(
    facts,
    (await store.contents(facts, [])).columns.map(({ predicate }) => predicate),
  )
  for await (const positions of recordPositions(plan, target, executor)) {
    let piece = ''
    for (const position of positions)
      for (const lines of columns.lines(position, position + 1)) piece += lines
    if (piece !== '') yield piece
    await yieldToOthers()
  }
}

/**
 * The result of mapping the records of a query, each triple once, in record order, in bounded pieces of N-Triples; named graphs
 * are merged into the default graph.
 */
export async function* mappedTriples(
  plan: RecordQuery,
  target: CompileTarget,
  executor: Executor,
  { map, hasGraphs }: CompiledMapping,
): AsyncGenerator<string> {
  const visible = new LineSet()
  for await (const rows of exportRecords({ ...plan, select: [] }, target, executor)) {
    let piece = ''
    const add = (lines: string) => {
      for (let at = 0; at < lines.length; ) {
        const end = lines.indexOf('\n', at)
        const line = lines.slice(at, end)
        const triple = hasGraphs ? splitQuad(line).triple : line
        if (visible.add(triple)) piece += `${triple}\n`
        at = end + 1
      }
    }
    for (const [at, { record }] of rows.entries()) {
      map(record, { add })
      if (at % MAPPED_AT_A_TIME !== MAPPED_AT_A_TIME - 1) continue
      if (piece !== '') yield piece
      piece = ''
      await yieldToOthers()
    }
    if (piece !== '') yield piece
  }
}

/** The first text field with a value that matches a regular expression; null if there is none. */
export async function fieldWith(
  pattern: string,
  target: CompileTarget,
  executor: Executor,
): Promise<Field | null> {
  for (const field of target.dataset.fields) {
    if (field.type !== 'text') continue
    const query = compileTextWith(pattern, field, target)
    const found = await executor.page({ name: `text of ${field.name}`, query })
    if (found.rows > 0) return field
  }
  return null
}
