import { createHash } from 'node:crypto'
import type { Field } from '../model/field.ts'
import type { Value } from '../model/value.ts'

/**
 * Gives each record its id: 40 hexadecimal digits, a fingerprint of the id fields, else of all values that are not
 * null, by field name, so that neither a new column nor another order of the columns changes it. Records with the
 * same fingerprint get a counter, and those beyond the first are counted.
 */
export class Identities {
  private readonly columns: readonly (readonly [name: string, index: number])[]
  private readonly seen = new Map<string, number>()
  /** Records whose fingerprint another record before them had. */
  repeated = 0

  constructor(fields: readonly Field[], identity: readonly string[]) {
    this.columns = fields
      .map((field, index) => [field.name, index] as const)
      .filter(([name]) => identity.length === 0 || identity.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }

  idOf(values: readonly Value[]): string {
    const parts: unknown[] = []
    for (const [name, index] of this.columns) {
      const value = values[index]
      if (value !== null && value !== undefined) parts.push(name, value)
    }
    const text = JSON.stringify(parts)
    const id = fingerprint(text)
    const before = this.seen.get(id)
    this.seen.set(id, (before ?? 0) + 1)
    if (before === undefined) return id
    this.repeated += 1
    return fingerprint(`${text}#${before}`)
  }
}

function fingerprint(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}
