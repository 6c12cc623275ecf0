import { hash } from 'node:crypto'
import type { Field } from '../model/field.ts'
import type { Value } from '../model/value.ts'
import { RecordIds } from './record-ids.ts'

const FIRST_SLOTS = 16

/**
 * Gives each record its id: 40 hexadecimal digits, a fingerprint of the id fields, else of all values that are not
 * null, by field name, so that neither a new column nor another order of the columns changes it. Records with the
 * same fingerprint get a counter, and those beyond the first are counted.
 *
 * Of each record a table has its position and 32 bits of its id; where these are the same, the whole id of the record at
 * that position decides. That is 11 to 21 bytes a record, beside the ids themselves, which may be in a file.
 */
export class Identities {
  /** The ids that were given, in the order of the records. */
  readonly ids: RecordIds
  /** Records whose fingerprint another record before them had. */
  repeated = 0
  private readonly columns: readonly (readonly [name: string, index: number])[]
  private table = newTable(FIRST_SLOTS, false)
  /** Slots that are taken. */
  private distinct = 0

  /** @param file where the ids are written; null for records whose ids are not needed later */
  constructor(fields: readonly Field[], identity: readonly string[], file: string | null = null) {
    this.ids = new RecordIds(file)
    this.columns = fields
      .map((field, index) => [field.name, index] as const)
      .filter(([name]) => identity.length === 0 || identity.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }

  idOf(values: readonly Value[]): string {
    const parts: unknown[] = []
    for (const [name, index] of this.columns) {
      const value = values[index]
      if (value !== null && value !== undefined)
        parts.push(name, typeof value === 'bigint' ? String(value) : value)
    }
    const text = JSON.stringify(parts)
    const first = fingerprint(text)
    const before = this.count(first)
    if (before > 0) this.repeated += 1
    const id = before === 0 ? first : fingerprint(`${text}#${before}`)
    this.ids.add(id)
    return id
  }

  /** Closes the file of ids, and frees the index of records: no more records follow. */
  close(): void {
    this.ids.close()
    this.table = newTable(FIRST_SLOTS, false)
  }

  /** Counts a record; returns how many earlier ones had the same fingerprint. */
  private count(id: string): number {
    if (4 * this.distinct >= 3 * this.table.checks.length) this.grow()
    const check = checkOf(id)
    const { checks, places } = this.table
    const mask = checks.length - 1
    for (let slot = check & mask; ; slot = (slot + 1) & mask) {
      const place = places[slot] ?? 0
      if (place === 0) {
        checks[slot] = check
        places[slot] = this.ids.length + 1
        this.distinct += 1
        return 0
      }
      if (checks[slot] === check && this.ids.at(place - 1) === id) return this.countAgain(slot)
    }
  }

  private countAgain(slot: number): number {
    this.table.repeats ??= new Uint32Array(this.table.checks.length)
    const repeats = (this.table.repeats[slot] ?? 0) + 1
    this.table.repeats[slot] = repeats
    return repeats
  }

  private grow(): void {
    const old = this.table
    const table = newTable(2 * old.checks.length, old.repeats !== null)
    const mask = table.checks.length - 1
    for (let from = 0; from < old.checks.length; from++) {
      if (old.places[from] === 0) continue
      let slot = (old.checks[from] ?? 0) & mask
      while (table.places[slot] !== 0) slot = (slot + 1) & mask
      table.checks[slot] = old.checks[from] ?? 0
      table.places[slot] = old.places[from] ?? 0
      if (table.repeats !== null) table.repeats[slot] = old.repeats?.[from] ?? 0
    }
    this.table = table
  }
}

/** Open addressing with linear probing; a power of two slots. */
interface Table {
  /** The first 32 bits of a fingerprint, which say where its slot is looked for as well. */
  readonly checks: Uint32Array
  /** One more than the position of the record that had the fingerprint first; 0 marks a free slot. */
  readonly places: Uint32Array
  /** Records that had it after the first; null while there are none at all. */
  repeats: Uint32Array | null
}

function newTable(slots: number, hasRepeats: boolean): Table {
  return {
    checks: new Uint32Array(slots),
    places: new Uint32Array(slots),
    repeats: hasRepeats ? new Uint32Array(slots) : null,
  }
}

const CHECK_DIGITS = 8

function checkOf(id: string): number {
  return Number.parseInt(id.slice(0, CHECK_DIGITS), 16)
}

function fingerprint(text: string): string {
  return hash('sha1', text)
}
