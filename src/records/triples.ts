import { compileTriples } from '../query/compile/records.ts'
import type { CompileTarget } from '../query/compile/scope.ts'
import { generate } from '../sparql/generate.ts'
import type { Store } from '../store/store.ts'

/** Records asked for at a time: some ten thousand triples, a few milliseconds of one worker. */
const RECORDS_AT_A_TIME = 1000

/**
 * All facts of a dataset in the order of its source, in bounded pieces of N-Triples. Records are asked for by their
 * positions, so that the last piece costs what the first does; what is not read is not asked.
 */
export async function* recordTriples(
  store: Store,
  target: CompileTarget,
  size: number = RECORDS_AT_A_TIME,
): AsyncGenerator<string> {
  for (let first = 0; first < target.statistics.records; first += size) {
    const length = Math.min(size, target.statistics.records - first)
    const triples = await store.construct(generate(compileTriples(first, length, target)))
    if (triples !== '') yield triples
  }
}
