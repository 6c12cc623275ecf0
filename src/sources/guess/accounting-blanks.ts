/**
 * Recognises the blanks around the numbers of a column that accounting formats of spreadsheets leave in CSV: ` 1,200.00 `, ` (300.00)`, and
 * ` -   ` for 0, which has two more blanks at its end, in place of decimals. Values that are padded to one length are no such numbers.
 */
export class AccountingBlanks {
  private isPossible = true
  /** Blanks at the end of positive numbers, and of the dash. */
  private readonly ends = new Set<number>()
  private readonly dashEnds = new Set<number>()
  private readonly lengths = new Set<number>()

  note(raw: string): void {
    if (!this.isPossible) return
    const { value = '', blanks = '' } = /^ (?<value>[^ ].*?)(?<blanks> *)$/.exec(raw)?.groups ?? {}
    if (value === '-') this.dashEnds.add(blanks.length)
    else if (!/^[(-]/.test(value)) this.ends.add(blanks.length)
    if (this.lengths.size < 2) this.lengths.add(raw.length)
    this.isPossible = value !== '' && this.ends.size < 2 && this.dashEnds.size < 2
  }

  /** True if a dash is the number 0. */
  get hasZero(): boolean {
    const [end = 0] = this.ends
    const [dashEnd] = this.dashEnds
    return this.isPossible && this.lengths.size > 1 && end > 0 && dashEnd === end + 2
  }
}
