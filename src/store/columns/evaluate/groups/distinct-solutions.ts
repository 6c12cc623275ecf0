import { memoised } from '../../../../model/memoised.ts'
import type { Evaluation } from '../evaluation.ts'
import type { Batch } from '../vectors/batch.ts'
import { KeyedGroups } from './keyed-groups.ts'

/** Solutions that are remembered at most, and how many are seen before it is asked whether enough of them occurred before. */
const [MAX_KNOWN, FIRST_ROWS] = [2 ** 20, 2 ** 15]

/** Solutions without the variables that nothing reads any more, each once: the rest of a query is evaluated for fewer of them. */
export class DistinctSolutions {
  private readonly names: ReadonlySet<string>
  private readonly evaluation: Evaluation
  /** The solutions so far by the variables that they have; null once they are passed on as they are. */
  private known: Map<string, KeyedGroups> | null = new Map()
  private rows = 0

  /** @param names the variables that are read */
  constructor(names: ReadonlySet<string>, evaluation: Evaluation) {
    this.names = names
    this.evaluation = evaluation
  }

  /** The solutions of a batch that did not occur before. They may occur again where few of them did. */
  of(batch: Batch): Batch {
    const names = batch.variables.filter(name => this.names.has(name))
    const isWhole = names.length === batch.variables.length
    if (isWhole || this.known === null || names.some(name => batch.deferred(name) !== null)) return batch
    const groups = memoised(this.known, names.join(' '), () => new KeyedGroups(names, this.evaluation))
    const rows = newRows(batch, groups)
    this.rows += batch.size
    const count = groups.count()
    if (count > MAX_KNOWN || (this.rows > FIRST_ROWS && 4 * count > 3 * this.rows)) this.known = null
    return batch.rows(rows).only(names)
  }
}

/** Solutions without what nothing reads any more, each once; as they are where it matters how often each occurs. */
export function* eachOnce(
  batches: Iterable<Batch>,
  names: ReadonlySet<string> | null,
  evaluation: Evaluation,
): Generator<Batch> {
  if (names === null) return yield* batches
  const distinct = new DistinctSolutions(names, evaluation)
  for (const batch of batches) yield distinct.of(batch)
}

/** The rows of a batch that make new groups. */
export function newRows(batch: Batch, groups: KeyedGroups): Uint32Array {
  let next = groups.count()
  const numbers = groups.assign(batch)
  const rows = new Uint32Array(groups.count() - next)
  let count = 0
  for (let row = 0; row < numbers.length; row++)
    if (numbers[row] === next) {
      rows[count++] = row
      next += 1
    }
  return rows
}
