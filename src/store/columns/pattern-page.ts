import { termText } from '../../rdf/ntriples.ts'
import type { Term, TriplePattern } from '../../rdf/term.ts'
import type { Column } from './column.ts'
import { lowerBound } from './dictionary-texts.ts'
import type { GraphColumns } from './graph.ts'

/**
 * A page of the triples of a graph that match a pattern, and their number. Pages iterate over the subjects from the last to the
 * first, and over the predicates and values of each in the same way: the cost of a page depends on its size, not on its position.
 */
export function matchPage(
  graph: GraphColumns,
  { subject, predicate, object }: TriplePattern,
  offset: number,
  limit: number,
): { readonly triples: string; readonly count: number } {
  const columns =
    predicate === undefined
      ? graph.columns
      : graph.columns.filter(column => column.predicate === predicate.value)
  if (predicate !== undefined && predicate.type !== 'iri') return NOTHING
  if (subject !== undefined) {
    const number = graph.subjectOf(subject)
    return number < 0 ? NOTHING : ofSubject(graph, number, columns, object, offset, limit)
  }
  if (object !== undefined) return withObject(graph, columns, object, offset, limit)
  const [only, ...others] = columns
  if (only === undefined) return NOTHING
  return others.length === 0 ? ofColumn(graph, only, offset, limit) : ofGraph(graph, columns, offset, limit)
}

const NOTHING = { triples: '', count: 0 } as const

class Lines {
  text = ''
  private skip: number
  private rest: number

  constructor(offset: number, limit: number) {
    this.skip = offset
    this.rest = limit
  }

  get isFull(): boolean {
    return this.rest <= 0
  }

  /** Skips lines without creating them; false where they are not all before the page. */
  pass(lines: number): boolean {
    if (lines > this.skip) return false
    this.skip -= lines
    return true
  }

  add(make: () => string): void {
    if (this.skip > 0) this.skip -= 1
    else if (this.rest > 0) {
      this.text += make()
      this.rest -= 1
    }
  }
}

function lineOf(subject: Term, predicate: string, object: Term): string {
  return `${termText(subject)} ${termText({ type: 'iri', value: predicate })} ${termText(object)} .\n`
}

function ofSubject(
  graph: GraphColumns,
  subject: number,
  columns: readonly Column[],
  object: Term | undefined,
  offset: number,
  limit: number,
) {
  const lines = new Lines(offset, limit)
  let count = 0
  for (const column of columns.toReversed()) {
    const row = column.rowOf(subject)
    const code = object === undefined ? 0 : column.dictionary.find(object)
    if (row < 0 || (object !== undefined && code === 0)) continue
    const codes = column.codes.subarray(column.startOf(row), column.endOf(row))
    if (code === 0) {
      count += codes.length
      addRow(graph, column, row, lines)
    } else if (codes.includes(code)) {
      count += 1
      lines.add(() => lineOf(graph.subjectTerm(subject), column.predicate, column.dictionary.term(code)))
    }
  }
  return { triples: lines.text, count }
}

/** The subjects of a value, of one predicate or of each in turn. */
function withObject(
  graph: GraphColumns,
  columns: readonly Column[],
  object: Term,
  offset: number,
  limit: number,
) {
  const found = columns.flatMap(column => {
    const code = column.dictionary.find(object)
    if (code === 0) return []
    const { starts, subjects } = column.postings
    return [{ column, subjects: subjects.subarray(starts[code], starts[code + 1]) }]
  })
  const count = found.reduce((sum, { subjects }) => sum + subjects.length, 0)
  const lines = new Lines(offset, limit)
  // From the last subject to the first over all predicates: a merge from the end.
  const ends = found.map(({ subjects }) => subjects.length)
  for (;;) {
    let best = -1
    for (let number = 0; number < found.length; number++) {
      const end = ends[number] as number
      if (end === 0) continue
      const last = (found[number] as (typeof found)[number]).subjects[end - 1] as number
      const known =
        best < 0
          ? -1
          : ((found[best] as (typeof found)[number]).subjects[(ends[best] as number) - 1] as number)
      if (last >= known) best = number
    }
    if (best < 0 || lines.isFull) return { triples: lines.text, count }
    const { column, subjects } = found[best] as (typeof found)[number]
    const end = ends[best] as number
    if (found.length === 1) {
      const skipped = Math.min(offset, end)
      if (skipped > 0 && lines.pass(skipped)) {
        ends[best] = end - skipped
        if (end === skipped) continue
      }
    }
    const place = (ends[best] as number) - 1
    ends[best] = place
    lines.add(() => lineOf(graph.subjectTerm(subjects[place] as number), column.predicate, object))
  }
}

function ofColumn(graph: GraphColumns, column: Column, offset: number, limit: number) {
  const { triples: count } = column.header
  if (offset >= count) return { triples: '', count }
  const { row: last, skip } = rowBehind(column, offset)
  const lines = new Lines(skip, limit)
  for (let row = last; row >= 0 && !lines.isFull; row--) addRow(graph, column, row, lines)
  return { triples: lines.text, count }
}

function addRow(graph: GraphColumns, column: Column, row: number, lines: Lines): void {
  for (let at = column.endOf(row) - 1; at >= column.startOf(row) && !lines.isFull; at--)
    lines.add(() =>
      lineOf(
        graph.subjectTerm(column.subjectOf(row)),
        column.predicate,
        column.dictionary.term(column.codes[at] as number),
      ),
    )
}

/** The row of the triple that a given number of triples follow, and how many of the row's own precede that one in page order. */
function rowBehind(column: Column, offset: number): { readonly row: number; readonly skip: number } {
  if (!column.isSingle) {
    const { offsets } = column
    const place = column.codes.length - 1 - offset
    const row = lowerBound(offsets, place + 1) - 1
    return { row, skip: (offsets[row + 1] as number) - 1 - place }
  }
  if (column.header.rows === column.rows) return { row: column.rows - 1 - offset, skip: 0 }
  let [row, left] = [column.rows - 1, offset]
  for (; row >= 0; row--) {
    if (column.codes[row] === 0) continue
    if (left === 0) break
    left -= 1
  }
  return { row, skip: 0 }
}

/** All triples of a graph: cumulative numbers of triples by subject determine where a page begins. */
function ofGraph(graph: GraphColumns, columns: readonly Column[], offset: number, limit: number) {
  const count = graph.triples
  if (offset >= count) return { triples: '', count }
  const ends = graph.tripleEnds
  const place = count - 1 - offset
  const last = lowerBound(ends, place + 1)
  const lines = new Lines((ends[last] as number) - 1 - place, limit)
  const behind = columns.toReversed()
  for (let subject = last; subject >= 0 && !lines.isFull; subject--)
    for (const column of behind) {
      const row = column.rowOf(subject)
      if (row >= 0) addRow(graph, column, row, lines)
    }
  return { triples: lines.text, count }
}
