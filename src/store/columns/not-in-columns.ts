/** A query that columns cannot evaluate, or a part of one: another engine must evaluate it. */
export class NotInColumns extends Error {
  readonly what: string

  constructor(what: string) {
    super(`columns do not evaluate ${what}`)
    this.name = 'NotInColumns'
    this.what = what
  }
}
