import { crc32 } from 'node:zlib'
import { memoised } from '../../../model/memoised.ts'
import { grown } from '../bytes.ts'
import { COLUMNS_FORMAT, type DictionaryHeader, type GraphHeader, TRIPLE_TERM } from '../file-layout.ts'
import { buildColumn } from './column-builder.ts'
import { type LiteralEnding, literalEnding, TRIPLE_ENDING } from './literal-table.ts'
import { ResourceTable, writeResources } from './resource-table.ts'
import type { SectionSink } from './section-writer.ts'
import { SpillFile, ValueLog } from './value-log.ts'

const LINE_FEED = 0x0a
const SPACE = 0x20
const LESS = 0x3c
const GREATER = 0x3e
const QUOTE = 0x22
/** Bytes after the object of a triple: a blank, a full stop and the line feed. */
const END_BYTES = 3

interface PendingColumn {
  readonly predicate: string
  readonly log: ValueLog
  /** The bytes of the predicate with its brackets. */
  readonly bytes: Buffer
  /** The ending of the last literal, and its number. */
  lastEnding: Buffer
  lastEndingNumber: number
}

export interface GraphBuilderOptions {
  /** Path for a file of data that does not fit into memory; null for a small graph. */
  readonly spill?: string | null
  readonly isSearched?: boolean
  /** Bytes that are buffered in memory before the file is used. */
  readonly limit?: number
}

/**
 * Builds the columns of a graph from its triples. Subjects are numbered in order of occurrence, predicates are in the order of
 * their first triples. Memory holds the resources of the graph and, one after another, the distinct values of each predicate;
 * large input is spilled to a file.
 */
export class GraphBuilder {
  private readonly resources = new ResourceTable()
  private readonly spill: SpillFile
  private readonly columns: PendingColumn[] = []
  private readonly columnNumbers = new Map<string, number>()
  /** Resources of the subjects, by number. */
  private subjectResources = new Uint32Array(1024)
  /** One more than the subject number of a resource; 0 where it is not a subject. */
  private resourceSubjects = new Uint32Array(1024)
  private subjects = 0
  private readonly endings: LiteralEnding[] = [literalEnding('')]
  private readonly endingNumbers = new Map<string, number>()
  /** The text of the last subject, its length, and its number. */
  private lastSubject = Buffer.alloc(256)
  private lastSubjectLength = 0
  private lastSubjectNumber = 0
  private lastColumn = -1
  private rest = Buffer.alloc(0)
  private text = 0
  private readonly isSearched: boolean

  constructor({ spill = null, isSearched = false, limit }: GraphBuilderOptions = {}) {
    this.spill = new SpillFile(spill, limit)
    this.isSearched = isSearched
  }

  /**
   * Adds triples as N-Triples in the form of rdf/ntriples.ts: one blank between terms, ` .` and a line feed after them. A chunk
   * may end within a line; it may be overwritten after the call. Throws SyntaxError for any other text.
   */
  add(piece: Uint8Array): void {
    this.text = crc32(piece, this.text)
    let bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    if (this.rest.length > 0) bytes = Buffer.concat([this.rest, bytes])
    let at = 0
    for (;;) {
      const end = bytes.indexOf(LINE_FEED, at)
      if (end < 0) break
      if (end > at) this.addLine(bytes, at, end)
      at = end + 1
    }
    this.rest = at < bytes.length ? Buffer.from(bytes.subarray(at)) : EMPTY
  }

  /** Adds a predicate before its first triple, to determine its position among the others. */
  addPredicate(iri: string): void {
    this.columnOf(iri, Buffer.from(`<${iri}>`))
  }

  /** Adds a subject before its triples, so that it is a subject even without any. */
  addSubject(iri: string): void {
    const bytes = Buffer.from(iri)
    this.subjectOf(this.resources.intern(bytes, 0, bytes.length))
  }

  /** Writes all sections and returns the header without them. */
  finish(sink: SectionSink): Omit<GraphHeader, 'sections'> {
    try {
      if (this.rest.length > 0) throw malformed(this.rest, 0, this.rest.length)
      this.resources.seal()
      this.resourceSubjects = new Uint32Array(0)
      const { header: resources, ranks } = writeResources(this.resources, sink)
      const subjectResources = new Uint32Array(this.subjects)
      for (let subject = 0; subject < this.subjects; subject++)
        subjectResources[subject] = ranks[this.subjectResources[subject] as number] as number
      const dictionaries: DictionaryHeader[] = []
      const known = new Map<string, number>()
      const addDictionary = (dictionary: DictionaryHeader): number =>
        memoised(known, dictionaryKey(dictionary, sink), () => dictionaries.push(dictionary) - 1)
      const context = {
        subjects: this.subjects,
        endings: this.endings,
        resourceRanks: ranks,
        sink,
        isSearched: this.isSearched,
        addDictionary,
      }
      const columns = this.columns.map(({ predicate, log }) => buildColumn(predicate, log, context))
      return {
        format: COLUMNS_FORMAT,
        triples: columns.reduce((sum, { triples }) => sum + triples, 0),
        text: this.text,
        subjects: this.subjects,
        resources,
        subjectResources: sink.add(subjectResources),
        columns,
        dictionaries,
      }
    } finally {
      this.spill.close()
    }
  }

  /** Releases everything, including the file. */
  abandon(): void {
    this.spill.close()
  }

  private addLine(bytes: Buffer, start: number, end: number): void {
    const subjectEnd = this.readSubject(bytes, start, end)
    const column = this.readPredicate(bytes, subjectEnd + 1, end)
    const object = subjectEnd + 1 + column.bytes.length + 1
    const objectEnd = end - END_BYTES + 1
    if (bytes[end - 1] !== 0x2e || bytes[objectEnd] !== SPACE || bytes[object - 1] !== SPACE)
      throw malformed(bytes, start, end)
    const first = bytes[object]
    if (first === LESS && bytes[object + 1] === LESS)
      column.log.addLiteral(this.lastSubjectNumber, this.tripleEnding(), bytes, object, objectEnd)
    else if (first === LESS)
      column.log.addResource(this.lastSubjectNumber, this.resources.intern(bytes, object + 1, objectEnd - 1))
    else if (first !== QUOTE)
      column.log.addResource(this.lastSubjectNumber, this.resources.intern(bytes, object, objectEnd))
    else {
      const close = endsWith(bytes, objectEnd, column.lastEnding)
        ? objectEnd - column.lastEnding.length - 1
        : bytes.lastIndexOf(QUOTE, objectEnd - 1)
      if (close <= object || bytes[close] !== QUOTE) throw malformed(bytes, start, end)
      const ending = this.endingNumber(column, bytes, close + 1, objectEnd)
      column.log.addLiteral(this.lastSubjectNumber, ending, bytes, object + 1, close)
    }
  }

  /** Registers the subject of a line; returns the position after it. */
  private readSubject(bytes: Buffer, start: number, end: number): number {
    const { lastSubject, lastSubjectLength } = this
    const after = start + lastSubjectLength
    if (
      lastSubjectLength > 0 &&
      bytes[after] === SPACE &&
      matches(bytes, start, lastSubject, lastSubjectLength)
    )
      return after
    const isIri = bytes[start] === LESS
    const stop = isIri ? bytes.indexOf(GREATER, start) + 1 : bytes.indexOf(SPACE, start)
    if (stop <= 0 || stop > end || bytes[stop] !== SPACE) throw malformed(bytes, start, end)
    const resource = isIri
      ? this.resources.intern(bytes, start + 1, stop - 1)
      : this.resources.intern(bytes, start, stop)
    this.lastSubjectNumber = this.subjectOf(resource)
    const length = stop - start
    if (length > lastSubject.length) this.lastSubject = Buffer.alloc(2 * length)
    bytes.copy(this.lastSubject, 0, start, stop)
    this.lastSubjectLength = length
    return stop
  }

  private subjectOf(resource: number): number {
    this.resourceSubjects = grown(this.resourceSubjects, resource + 1)
    const known = this.resourceSubjects[resource] as number
    if (known > 0) return known - 1
    const subject = this.subjects++
    this.subjectResources = grown(this.subjectResources, subject + 1)
    this.subjectResources[subject] = resource
    this.resourceSubjects[resource] = subject + 1
    return subject
  }

  private readPredicate(bytes: Buffer, start: number, end: number): PendingColumn {
    // The predicates of one record usually come in the same order as those of the previous one.
    for (let step = 0; step < 2 && step < this.columns.length; step++) {
      const number = (this.lastColumn + 1 - step + this.columns.length) % this.columns.length
      const guess = this.columns[number] as PendingColumn
      if (bytes[start + guess.bytes.length] === SPACE && matches(bytes, start, guess.bytes)) {
        this.lastColumn = number
        return guess
      }
    }
    const stop = bytes.indexOf(GREATER, start) + 1
    if (bytes[start] !== LESS || stop <= 0 || stop > end) throw malformed(bytes, start, end)
    this.lastColumn = this.columnOf(bytes.toString('utf8', start + 1, stop - 1), bytes.subarray(start, stop))
    return this.columns[this.lastColumn] as PendingColumn
  }

  private columnOf(predicate: string, bytes: Uint8Array): number {
    return memoised(this.columnNumbers, predicate, () => {
      const log = new ValueLog(this.spill)
      const column = { predicate, log, bytes: Buffer.from(bytes), lastEnding: EMPTY, lastEndingNumber: 0 }
      return this.columns.push(column) - 1
    })
  }

  /** The ending number of triple terms, which are stored among the literals. */
  private tripleEnding(): number {
    return memoised(this.endingNumbers, TRIPLE_TERM, () => this.endings.push(TRIPLE_ENDING) - 1)
  }

  private endingNumber(column: PendingColumn, bytes: Buffer, start: number, end: number): number {
    if (
      column.lastEndingNumber > 0 &&
      end - start === column.lastEnding.length &&
      matches(bytes, start, column.lastEnding)
    )
      return column.lastEndingNumber
    const text = bytes.toString('utf8', start, end)
    const number = memoised(this.endingNumbers, text, () => this.endings.push(literalEnding(text)) - 1)
    column.lastEnding = Buffer.from(bytes.subarray(start, end))
    column.lastEndingNumber = number
    return number
  }
}

const EMPTY = Buffer.alloc(0)

/** True where the bytes at a position equal a text. */
function matches(bytes: Uint8Array, start: number, text: Uint8Array, length = text.length): boolean {
  // From the end: terms of one document seldom differ at their beginning.
  for (let at = length - 1; at >= 0; at--) if (bytes[start + at] !== text[at]) return false
  return true
}

/** True where a quote and a non-empty text precede a position. */
function endsWith(bytes: Uint8Array, end: number, text: Uint8Array): boolean {
  const start = end - text.length
  return text.length > 0 && bytes[start - 1] === QUOTE && matches(bytes, start, text)
}

function malformed(bytes: Buffer, start: number, end: number): SyntaxError {
  return new SyntaxError(
    `Not N-Triples as Lodestone writes it: ${bytes.toString('utf8', start, Math.min(end, start + 200))}`,
  )
}

/** Identifies a dictionary: sections with bytes by length and checksum, others by their numbers. */
function dictionaryKey({ count, parts }: DictionaryHeader, sink: SectionSink): string {
  return JSON.stringify([count, parts], (name, value: unknown) => {
    if (typeof value !== 'number' || !SECTION_NAMES.has(name)) return value
    const section = sink.sections[value]
    return section === undefined || section.check === 0 ? value : `${section.length}:${section.check}`
  })
}

const SECTION_NAMES: ReadonlySet<string> = new Set([
  'ids',
  'values',
  'types',
  'places',
  'offsets',
  'bytes',
  'tags',
  'longitudes',
  'latitudes',
])
