import { type Field, isGeo } from '../model/field.ts'
import { encodeList, FEWEST_LISTED, LIST_CHUNK, listKey, WORDS_LIST } from '../model/positions.ts'
import type { Value } from '../model/value.ts'
import { valueListIri } from '../rdf/iris.ts'
import { INDEX } from '../rdf/vocab.ts'
import { KeyedPositions } from './keyed-positions.ts'

/** Values of one field, words, and both together of all fields, that are followed. */
const MOST_OF_FIELD = 20_000
const MOST_WORDS = 100_000
const MOST = 2 ** 18
/** So many values tell whether a field is one of names, of which each has its own. */
const TELLING = 5000
/** Part of the values of a field that are new, from which on it is one of names. */
const MOSTLY_NEW = 0.98

/**
 * Gathers which records have the frequent values of each field, and frequent words, so that a page of them is one look-up
 * and their number is known, wherever in the answer the page is: for each value its positions, in lists of a thousand as
 * one literal each. The triples of the facts give them in no order, so that all would have to be read and sorted for a
 * page.
 *
 * A value is followed from where it first occurs, or not at all, so that what is written is whole.
 */
export class ValueLists {
  private readonly columns: readonly (Column | null)[]
  private readonly words = columnOf(WORDS_LIST, MOST_WORDS)
  private readonly pairs: KeyedPositions
  /** The text of each value, and its field, by its number. */
  private readonly keys: string[] = []
  private readonly owners: Column[] = []

  /**
   * @param path of a file for what memory should not hold; it is there for as long as it is needed
   * @param lot pairs of value and position that are held
   */
  constructor(fields: readonly Field[], path: string, lot?: number) {
    this.columns = fields.map(({ name, type }) => (isGeo(type) ? null : columnOf(name, MOST_OF_FIELD)))
    this.pairs = new KeyedPositions(path, MOST, lot)
  }

  /** Notes the values of a record; positions rise by one. */
  add(values: readonly Value[], position: number): void {
    for (let index = 0; index < this.columns.length; index++) {
      const column = this.columns[index]
      const value = values[index]
      if (column === null || column === undefined || value === null || value === undefined) continue
      if (!Array.isArray(value)) this.note(column, value as string | number | boolean, position)
      else for (const each of new Set(value as readonly string[])) this.note(column, each, position)
    }
  }

  /** Notes the words that full-text search reads of a record; positions rise. */
  addWords(words: ReadonlySet<string>, position: number): void {
    for (const word of words) this.note(this.words, word, position)
  }

  /** The triples of all lists, each a line of N-Triples; to be asked once. */
  *triples(): Generator<string> {
    for (const [number, key] of this.keys.entries()) {
      const column = this.owners[number]
      const lists = this.pairs.below(number + 1)
      const total = lists.reduce((sum, { length }) => sum + length, 0)
      // What is no longer followed has no whole list.
      if (total < FEWEST_LISTED || column === undefined || column.values === null) continue
      column.listed = true
      const positions = new Uint32Array(total)
      let filled = 0
      for (const list of lists) {
        positions.set(list, filled)
        filled += list.length
      }
      for (let chunk = 0; chunk * LIST_CHUNK < total; chunk++) {
        const some = positions.subarray(chunk * LIST_CHUNK, (chunk + 1) * LIST_CHUNK)
        const subject = valueListIri(column.field, key, chunk)
        yield `<${subject}> <${INDEX.positions}> "${encodeList(total, some)}" .\n`
      }
    }
  }

  /** The fields of which a list was written. */
  listed(): readonly string[] {
    return this.columns.flatMap(column => (column?.listed ? [column.field] : []))
  }

  /** True where a list of a word was written. */
  hasWords(): boolean {
    return this.words.listed
  }

  /** Removes what is on the disk. */
  close(): void {
    this.pairs.close()
  }

  private note(column: Column, value: string | number | boolean, position: number): void {
    const { values } = column
    if (values === null) return
    column.met += 1
    let number = values.get(value)
    if (number === undefined) {
      if (values.size >= column.most || this.keys.length >= MOST) return
      const key = listKey(value)
      if (key === null) return
      // A text that was cut out of a piece of a file would hold the whole piece.
      const held = typeof value === 'string' ? Buffer.from(value).toString() : value
      number = this.keys.length
      this.keys.push(typeof held === 'string' ? held : key)
      this.owners.push(column)
      values.set(held, number)
      if (values.size === TELLING && column !== this.words && column.met * MOSTLY_NEW < TELLING)
        column.values = null
    }
    this.pairs.add(number, position)
  }
}

interface Column {
  readonly field: string
  /** Values that are followed. */
  readonly most: number
  /** The number of each value; null where there is no use in following them. */
  values: Map<string | number | boolean, number> | null
  /** Values that were met. */
  met: number
  listed: boolean
}

function columnOf(field: string, most: number): Column {
  return { field, most, values: new Map(), met: 0, listed: false }
}
