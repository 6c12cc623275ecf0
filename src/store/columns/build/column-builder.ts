import { Arena, ByteTable } from '../bytes.ts'
import { ABSENT, type ColumnHeader, type DictionaryHeader, type DictionaryPart } from '../file-layout.ts'
import { placesByNumber } from '../sorting.ts'
import { DictionaryBuilder } from './dictionary-builder.ts'
import type { LiteralEnding } from './literal-table.ts'
import type { SectionSink } from './section-writer.ts'
import type { ValueLog } from './value-log.ts'

/** The common input of all columns of a graph. */
export interface ColumnContext {
  readonly subjects: number
  readonly endings: readonly LiteralEnding[]
  /** Rank of each resource in sort order, from 1, by its number in the resource table. */
  readonly resourceRanks: Uint32Array
  readonly sink: SectionSink
  /** True for a graph with full-text search: the words of its texts are stored. */
  readonly isSearched: boolean
  readonly addDictionary: (dictionary: DictionaryHeader) => number
}

/** A column has a row for each subject if at least one in this many subjects has a value, or if there are few subjects. */
const SPARSE_BELOW = 3
const FEW_SUBJECTS = 4096

/** Builds the column of a predicate from the log of its values. */
export function buildColumn(predicate: string, log: ValueLog, context: ColumnContext): ColumnHeader {
  const { subjects, codes, dictionary } = readLog(log, context)
  log.clear()
  const sorted = sortedBySubject(subjects, codes, context.subjects)
  const rows = assembleRows(sorted.subjects, sorted.codes)
  const { sink } = context
  const isSparse = SPARSE_BELOW * rows.count < context.subjects && context.subjects > FEW_SUBJECTS
  const repeats =
    rows.repeats.length === 0
      ? null
      : {
          subjects: sink.add(Uint32Array.from(rows.repeats, ({ subject }) => subject)),
          ...addLists(
            rows.repeats.map(list => list.codes),
            sink,
          ),
        }
  const header = { predicate, triples: rows.codes.length, rows: rows.count, dictionary, repeats }
  if (isSparse)
    return {
      ...header,
      subjects: sink.add(rows.subjects),
      offsets: rows.isSingle ? null : sink.add(rows.offsets),
      codes: sink.add(rows.codes),
    }
  if (rows.isSingle) {
    const dense = new Uint32Array(context.subjects)
    for (let row = 0; row < rows.count; row++) dense[rows.subjects[row] as number] = rows.codes[row] as number
    return { ...header, subjects: null, offsets: null, codes: sink.add(dense) }
  }
  const offsets = new Uint32Array(context.subjects + 1)
  for (let row = 0; row < rows.count; row++)
    offsets[(rows.subjects[row] as number) + 1] =
      (rows.offsets[row + 1] as number) - (rows.offsets[row] as number)
  for (let subject = 0; subject < context.subjects; subject++)
    offsets[subject + 1] = (offsets[subject + 1] as number) + (offsets[subject] as number)
  return { ...header, subjects: null, offsets: sink.add(offsets), codes: sink.add(rows.codes) }
}

/** The subjects and codes of all entries of a log, and the number of their dictionary. */
function readLog(log: ValueLog, context: ColumnContext) {
  const { endings, resourceRanks, sink, addDictionary, isSearched } = context
  const subjects = new Uint32Array(log.entries)
  // A literal is represented by its number in the table; a resource by its rank, with the highest bit set.
  const values = new Uint32Array(log.entries)
  const table = new ByteTable()
  const key = new Arena(2 ** 10)
  const used = new Uint8Array(resourceRanks.length + 1)
  let [at, resources] = [0, 0]
  for (const entry = log.reader(); entry.next(); ) {
    subjects[at] = entry.subject
    if (entry.ending === 0) {
      const rank = resourceRanks[entry.resource] as number
      if (used[rank] === 0) resources += 1
      used[rank] = 1
      values[at] = (rank | RESOURCE) >>> 0
    } else {
      key.length = 0
      key.addNumber(entry.ending)
      key.add(entry.bytes, entry.start, entry.end)
      values[at] = table.intern(key.bytes, 0, key.length)
    }
    at++
  }
  table.seal()
  const parts: DictionaryPart[] = []
  const rankCodes = new Uint32Array(resources === 0 ? 0 : used.length)
  if (resources > 0) {
    const ids = new Uint32Array(resources)
    let next = 0
    for (let rank = 1; rank < used.length; rank++)
      if (used[rank] === 1) {
        ids[next++] = rank
        rankCodes[rank] = next
      }
    parts.push({ kind: 'resource', count: resources, ids: sink.add(ids) })
  }
  const literals = new DictionaryBuilder(table, endings, sink, { first: resources + 1, isSearched }).build()
  const dictionary = addDictionary({ count: resources + table.size, parts: [...parts, ...literals.parts] })
  for (let entry = 0; entry < values.length; entry++) {
    const value = values[entry] as number
    values[entry] =
      value >= RESOURCE ? (rankCodes[value - RESOURCE] as number) : (literals.codes[value] as number)
  }
  return { subjects, codes: values, dictionary }
}

const RESOURCE = 0x8000_0000

/** Entries in subject order; those of one subject keep their order. */
function sortedBySubject(subjects: Uint32Array, codes: Uint32Array, count: number) {
  let isSorted = true
  for (let at = 1; at < subjects.length && isSorted; at++)
    isSorted = (subjects[at - 1] as number) <= (subjects[at] as number)
  if (isSorted) return { subjects, codes }
  const { places } = placesByNumber(subjects, count)
  const sorted = (numbers: Uint32Array) => places.map(place => numbers[place] as number)
  return { subjects: sorted(subjects), codes: sorted(codes) }
}

/** Divides sorted entries into rows; a value that occurs twice in a row is one triple, and recorded as a repeat. */
function assembleRows(subjects: Uint32Array, codes: Uint32Array) {
  const repeats: { readonly subject: number; readonly codes: Uint32Array }[] = []
  const rowSubjects = new Uint32Array(subjects.length)
  const offsets = new Uint32Array(subjects.length + 1)
  const distinct = new Uint32Array(codes.length)
  let [rows, size] = [0, 0]
  for (let from = 0; from < subjects.length; ) {
    const subject = subjects[from] as number
    let to = from + 1
    while (to < subjects.length && subjects[to] === subject) to++
    const before = size
    if (to - from === 1) distinct[size++] = codes[from] as number
    else {
      size = addDistinct(codes, from, to, distinct, size)
      if (size - before < to - from) repeats.push({ subject, codes: codes.slice(from, to) })
    }
    rowSubjects[rows++] = subject
    offsets[rows] = size
    from = to
  }
  return {
    count: rows,
    isSingle: size === rows,
    subjects: rowSubjects.subarray(0, rows),
    offsets: offsets.subarray(0, rows + 1),
    codes: distinct.subarray(0, size),
    repeats,
  }
}

/** In rows with more values than this, duplicates are found with a set. */
const LONG_ROW = 32

function addDistinct(
  codes: Uint32Array,
  from: number,
  to: number,
  distinct: Uint32Array,
  start: number,
): number {
  let end = start
  if (to - from > LONG_ROW) {
    for (const code of new Set(codes.subarray(from, to))) distinct[end++] = code
    return end
  }
  for (let at = from; at < to; at++) {
    const code = codes[at] as number
    let same = start
    while (same < end && distinct[same] !== code) same++
    if (same === end) distinct[end++] = code
  }
  return end
}

function addLists(lists: readonly Uint32Array[], sink: SectionSink) {
  const offsets = new Uint32Array(lists.length + 1)
  lists.forEach((list, at) => {
    offsets[at + 1] = (offsets[at] as number) + list.length
  })
  const codes = new Uint32Array(offsets[lists.length] ?? ABSENT)
  lists.forEach((list, at) => {
    codes.set(list, offsets[at])
  })
  return { offsets: sink.add(offsets), codes: sink.add(codes) }
}
