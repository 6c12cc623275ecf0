import { Fault } from '../../errors/errors.ts'
import { ODATA_UNSUPPORTED } from '../../language/odata/faults.ts'
import { planSize } from '../conditions.ts'
import type { Condition, Scalar } from '../plan.ts'
import type { ApplyCell } from './evaluate.ts'

/** Evaluations of single operations for one answer, which takes about a second, and characters of the texts that it computes. */
const MAX_OPERATIONS = 20_000_000
const MAX_CHARACTERS = 30_000_000

/** What the steps over the rows of one answer cost. They run in the thread of the server, so it is limited. */
export class RowWork {
  private operations = 0
  private characters = 0

  /** Counts expressions that are evaluated for each of some rows. Faults: ODataUnsupported. */
  count(rows: number, expressions: readonly (Condition | Scalar)[]): void {
    this.operations += rows * expressions.reduce((sum, expression) => sum + planSize(expression), 0)
    if (this.operations > MAX_OPERATIONS) throw tooMuch('take too long')
  }

  /** Counts a computed text. Faults: ODataUnsupported. */
  countText(cell: ApplyCell): ApplyCell {
    if (typeof cell === 'string') this.characters += cell.length
    if (this.characters > MAX_CHARACTERS) throw tooMuch('need too much memory')
    return cell
  }
}

function tooMuch(what: string): Fault {
  return new Fault(ODATA_UNSUPPORTED, {
    reason: `The transformations after the aggregation ${what}: filter the records, or group by fewer properties.`,
  })
}
