import { memoised } from '../../model/memoised.ts'
import { GEO } from '../../rdf/vocab.ts'
import { sharedUint32 } from './bytes.ts'
import type { Dictionary } from './dictionary.ts'
import { type DictionarySection, datatypeOf, type OtherPart, type PointPart } from './dictionary-parts.ts'
import { lowerBound, textsOf } from './dictionary-texts.ts'
import type { ColumnHeader } from './file-layout.ts'
import { boxesOfShapes, makeGrid, openGrid, type PointGrid } from './grid.ts'
import type { Derived, SectionSource } from './sections.ts'
import { indexWords, isOutdated, openWordIndex, searchedMoment, type WordIndex } from './words.ts'

/** The subjects of each code, ascending: those of a code are from its start to the start of the next. */
export interface Postings {
  /** By code; one entry more than there are codes. */
  readonly starts: Uint32Array
  readonly subjects: Uint32Array
}

/** The values of one predicate of a graph by subject. */
export class Column {
  readonly header: ColumnHeader
  readonly dictionary: Dictionary
  readonly graphSubjects: number
  private readonly source: SectionSource
  private readonly derived: Derived
  private readonly number: number
  private cachedCodes: Uint32Array | null = null
  private cachedSubjects: Uint32Array | null = null
  private cachedOffsets: Uint32Array | null = null
  private cachedPostings: Postings | null = null
  private cachedRowNumbers: Uint32Array | null = null
  private cachedGrid: PointGrid | null = null
  private readonly cachedWords = new Map<number, WordIndex>()

  constructor(
    number: number,
    header: ColumnHeader,
    graph: { readonly subjects: number; readonly source: SectionSource; readonly derived: Derived },
    dictionary: Dictionary,
  ) {
    this.number = number
    this.header = header
    this.dictionary = dictionary
    this.graphSubjects = graph.subjects
    this.source = graph.source
    this.derived = graph.derived
  }

  get predicate(): string {
    return this.header.predicate
  }

  /** True where no subject has more than one value. */
  get isSingle(): boolean {
    return this.header.offsets === null
  }

  /** True where there is a row for each subject. */
  get isDense(): boolean {
    return this.header.subjects === null
  }

  /** True where every subject of the graph has a value. */
  get isComplete(): boolean {
    return this.header.rows === this.graphSubjects
  }

  /** Codes of all rows, concatenated. */
  get codes(): Uint32Array {
    this.cachedCodes ??= new Uint32Array(this.source.get(this.header.codes))
    return this.cachedCodes
  }

  /** Subjects of the rows of a sparse column. */
  get subjects(): Uint32Array {
    if (this.header.subjects === null) throw new Error(`${this.predicate} has a row for each subject`)
    this.cachedSubjects ??= new Uint32Array(this.source.get(this.header.subjects))
    return this.cachedSubjects
  }

  /** The index of the first code of each row, in a multivalued column. */
  get offsets(): Uint32Array {
    if (this.header.offsets === null) throw new Error(`${this.predicate} has one value a row`)
    this.cachedOffsets ??= new Uint32Array(this.source.get(this.header.offsets))
    return this.cachedOffsets
  }

  /** Rows, with or without a value. */
  get rows(): number {
    return this.isDense ? this.graphSubjects : this.header.rows
  }

  /** Of a sparse column: one more than the row of each subject of the graph, 0 for none. Computed on first use. */
  get rowNumbers(): Uint32Array {
    this.cachedRowNumbers ??= this.derived.numbers(`rows:${this.number}`, () => {
      const numbers = sharedUint32(this.graphSubjects)
      const { subjects } = this
      for (let row = 0; row < subjects.length; row++) numbers[subjects[row] as number] = row + 1
      return numbers
    })
    return this.cachedRowNumbers
  }

  /** The row of a subject; -1 where it has none. */
  rowOf(subject: number): number {
    if (this.isDense) return subject
    const { subjects } = this
    const row = lowerBound(subjects, subject)
    return subjects[row] === subject ? row : -1
  }

  subjectOf(row: number): number {
    return this.isDense ? row : (this.subjects[row] as number)
  }

  /** Index of the first code of a row. */
  startOf(row: number): number {
    return this.isSingle ? row : (this.offsets[row] as number)
  }

  /** Index after the last code of a row. */
  endOf(row: number): number {
    if (!this.isSingle) return this.offsets[row + 1] as number
    return this.codes[row] === 0 ? row : row + 1
  }

  /** The codes of a subject as in its source: in source order, including repeated ones. */
  listOf(subject: number): Uint32Array {
    const { repeats } = this.header
    if (repeats !== null) {
      const repeating = new Uint32Array(this.source.get(repeats.subjects))
      const at = lowerBound(repeating, subject)
      if (repeating[at] === subject) {
        const offsets = new Uint32Array(this.source.get(repeats.offsets))
        return new Uint32Array(this.source.get(repeats.codes)).subarray(offsets[at], offsets[at + 1])
      }
    }
    const row = this.rowOf(subject)
    return row < 0 ? NONE : this.codes.subarray(this.startOf(row), this.endOf(row))
  }

  /**
   * The values of a column with one code per row, from a table by code: computed on first use.
   *
   * @param name identifies the table; a column has one table of a name
   */
  rowValues(name: string, table: Float64Array): Float64Array {
    const [rows] = this.derived.get(`${name}:${this.number}`, () => {
      const buffer = new SharedArrayBuffer(8 * this.codes.length)
      const values = new Float64Array(buffer)
      for (let row = 0; row < values.length; row++) values[row] = table[this.codes[row] as number] as number
      return [buffer]
    })
    return new Float64Array(rows as SharedArrayBuffer)
  }

  /** True where the postings have been computed. */
  get hasPostings(): boolean {
    return this.cachedPostings !== null || this.derived.has(`postings:${this.number}`)
  }

  /** The words of the values of a part of the dictionary: stored in the file, or computed on first use. */
  wordsOf(part: DictionarySection): WordIndex {
    return memoised(this.cachedWords, part.first, () => {
      const { dictionary } = this
      // The coordinates of a shape are not words.
      const isShape = (place: number) => part.kind === 'other' && datatypeOf(part, place) === GEO.wktLiteral
      const formOf = (place: number) => dictionary.form(part.first + place)
      const texts = () =>
        textsOf(part.count, place =>
          isShape(place) ? '' : part.kind === 'moment' ? searchedMoment(formOf(place)) : formOf(place),
        )
      const stored = part.kind === 'text' ? part.words?.() : undefined
      const own = stored === undefined ? null : openWordIndex(stored)
      if (own !== null && !isOutdated(own)) return own
      const name = `words:${this.header.dictionary}:${part.first}`
      return openWordIndex(this.derived.get(name, () => indexWords(texts())))
    })
  }

  /** The points of a part of the dictionary by position: computed on first use. */
  gridOf(part: PointPart): PointGrid {
    this.cachedGrid ??= openGrid(
      this.derived.get(`grid:${this.header.dictionary}:${part.first}`, () => makeGrid(part)),
    )
    return this.cachedGrid
  }

  /** The boxes of the shapes of a part of the dictionary: computed on first use. */
  boxesOf(part: OtherPart, check: () => void = () => undefined): Float64Array {
    const make = () => [boxesOfShapes(part, check).buffer as SharedArrayBuffer]
    const [boxes] = this.derived.get(`boxes:${this.header.dictionary}:${part.first}`, make)
    return new Float64Array(boxes as SharedArrayBuffer)
  }

  /** The subjects of each code: computed on first use. */
  get postings(): Postings {
    if (this.cachedPostings === null) {
      const [starts, subjects] = this.derived.get(`postings:${this.number}`, () => this.makePostings())
      this.cachedPostings = {
        starts: new Uint32Array(starts as SharedArrayBuffer),
        subjects: new Uint32Array(subjects as SharedArrayBuffer),
      }
    }
    return this.cachedPostings
  }

  /** Counting sort: the subjects are ascending, and so they are within each code. */
  private makePostings(): readonly SharedArrayBuffer[] {
    const { codes, dictionary } = this
    const starts = sharedUint32(dictionary.count + 2)
    for (let at = 0; at < codes.length; at++) {
      const code = (codes[at] as number) + 1
      if (code < starts.length) starts[code] = (starts[code] as number) + 1
    }
    // Absent values are counted as code 0 and have no entries among the subjects.
    starts[1] = 0
    for (let code = 2; code < starts.length; code++)
      starts[code] = (starts[code] as number) + (starts[code - 1] as number)
    const next = starts.slice()
    const subjects = sharedUint32(this.header.triples)
    const place = (code: number, subject: number) => {
      const at = next[code] as number
      subjects[at] = subject
      next[code] = at + 1
    }
    if (this.isSingle && this.isDense) {
      for (let subject = 0; subject < codes.length; subject++) {
        const code = codes[subject] as number
        if (code !== 0) place(code, subject)
      }
    } else
      for (let row = 0; row < this.rows; row++) {
        const subject = this.subjectOf(row)
        for (let at = this.startOf(row); at < this.endOf(row); at++) place(codes[at] as number, subject)
      }
    return [starts.buffer as SharedArrayBuffer, subjects.buffer as SharedArrayBuffer]
  }
}

const NONE = new Uint32Array(0)
