import { type Field, isTemporal } from '../model/field.ts'
import { encodeSequence, LIST_CHUNK } from '../model/positions.ts'
import type { Value } from '../model/value.ts'
import { orderListIri } from '../rdf/iris.ts'
import { INDEX } from '../rdf/vocab.ts'

/** Records of a list: nobody turns pages further. */
const LONGEST = 5000
/** In fewer records every order is found quickly. */
const WORTHWHILE = 20_000
/** Longest text that is kept to order it, in UTF-16 code units; a field with a longer one has no lists. */
const LONGEST_TEXT = 100

/**
 * Gathers which records are the first by the values of each field, in both directions, so that the pages people turn are
 * one look-up: a store that has no index by value reads and sorts all values for each of them. Equal values go by
 * position, and what has no value is in no list.
 */
export class OrderLists {
  private readonly columns: readonly (Column | null)[]
  private records = 0

  constructor(fields: readonly Field[]) {
    this.columns = fields.map(({ name, type, multivalued }) => {
      const isText = type === 'text'
      if (multivalued || !(isText || type === 'int' || type === 'double' || isTemporal(type))) return null
      const compare = isText ? compareTexts : compareValues
      return {
        field: name,
        isTemporal: isTemporal(type),
        first: new First(compare),
        last: new First((a, b) => compare(b, a)),
        isOrdered: true,
      }
    })
  }

  /** Notes the values of a record; positions rise by one. */
  add(values: readonly Value[], position: number): void {
    this.records = position + 1
    for (let index = 0; index < this.columns.length; index++) {
      const column = this.columns[index]
      if (column === null || column === undefined || !column.isOrdered) continue
      const value = values[index]
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') continue
      const key = column.isTemporal ? momentKey(String(value)) : value
      if (key === null || (typeof key === 'string' && key.length > LONGEST_TEXT)) {
        column.isOrdered = false
        column.first.clear()
        column.last.clear()
        continue
      }
      column.first.add(key, position)
      column.last.add(key, position)
    }
  }

  /** The triples of all lists, each a line of N-Triples. */
  *triples(): Generator<string> {
    for (const { field, first, last } of this.written())
      for (const [direction, list] of [['ascending', first] as const, ['descending', last] as const]) {
        const positions = list.positions()
        for (let piece = 0; piece * LIST_CHUNK < positions.length; piece++) {
          const some = positions.slice(piece * LIST_CHUNK, (piece + 1) * LIST_CHUNK)
          yield `<${orderListIri(field, direction, piece)}> <${INDEX.positions}> "${encodeSequence(some)}" .\n`
        }
      }
  }

  /** How many records the lists of a field have. */
  lengths(): ReadonlyMap<string, number> {
    return new Map(this.written().map(({ field, first }) => [field, first.positions().length]))
  }

  private written(): readonly Column[] {
    if (this.records < WORTHWHILE) return []
    return this.columns.filter(column => column !== null).filter(({ isOrdered }) => isOrdered)
  }
}

type Key = string | number | bigint
type Compare = (a: Key, b: Key) => number

interface Column {
  readonly field: string
  readonly isTemporal: boolean
  readonly first: First
  readonly last: First
  /** False once a value cannot be ordered here. */
  isOrdered: boolean
}

/** The first by an order, of all that are added. */
class First {
  private readonly compare: Compare
  private held: { readonly key: Key; readonly position: number }[] = []
  /** What is not before it is not among the first. */
  private bound: Key | null = null

  constructor(compare: Compare) {
    this.compare = compare
  }

  add(key: Key, position: number): void {
    // Of equal ones the earlier position is the first.
    if (this.bound !== null && this.compare(key, this.bound) >= 0) return
    this.held.push({ key: typeof key === 'string' ? Buffer.from(key).toString() : key, position })
    if (this.held.length === 2 * LONGEST) this.trim()
  }

  positions(): readonly number[] {
    this.trim()
    return this.held.map(({ position }) => position)
  }

  clear(): void {
    this.held = []
  }

  private trim(): void {
    const { compare } = this
    this.held.sort((a, b) => compare(a.key, b.key) || a.position - b.position)
    this.held.length = Math.min(this.held.length, LONGEST)
    if (this.held.length === LONGEST) this.bound = this.held[LONGEST - 1]?.key ?? null
  }
}

function compareValues(a: Key, b: Key): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** By code points, as SPARQL orders simple literals; the units of UTF-16 order those beyond U+FFFF otherwise. */
function compareTexts(a: Key, b: Key): number {
  const [left, right] = [String(a), String(b)]
  const length = Math.min(left.length, right.length)
  for (let at = 0; at < length; at++) {
    const [x, y] = [left.charCodeAt(at), right.charCodeAt(at)]
    if (x !== y) return rank(x) - rank(y)
  }
  return left.length - right.length
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/** A date or a moment in UTC as a text that is ordered as it is; null for years that are not four digits. */
function momentKey(text: string): string | null {
  return /^\d{4}-/.test(text) ? text.replace(/(?:Z|\+00:00)$/, '') : null
}
