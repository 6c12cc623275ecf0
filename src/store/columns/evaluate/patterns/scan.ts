import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import type { Column } from '../../column.ts'
import { lowerBound } from '../../dictionary-texts.ts'
import type { GraphColumns } from '../../graph.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import { pointsNear } from '../expressions/point-distances.ts'
import { type IdRange, rangeFor } from '../expressions/ranges.ts'
import { Batch, numbersFrom } from '../vectors/batch.ts'
import type { ColumnDomain } from '../vectors/domain.ts'
import { scratchUint32 } from '../vectors/scratch.ts'
import type { IdVector } from '../vectors/vector.ts'
import type { OutermostScan } from './outermost-scan.ts'
import { type ColumnLink, isPosition } from './star.ts'

/** Subjects of the first batch of a scan, and of the largest: few rows are found after reading few subjects. */
const FIRST_BATCH = 2048
const LARGEST_BATCH = 2 ** 18

/** The same where an answer may have to continue in the batch in which it was stopped. */
const FIRST_CONTINUED = 16
const LARGEST_CONTINUED = 2 ** 14

/** A list of candidates is used if it contains at most one in this many of the subjects. */
const LIST_PART = 6

/** Postings of columns with more rows are not built for the first condition that could use them. */
const LARGE_COLUMN = 500_000

/** The subjects of a graph that can match: a list that is computed on demand, and its length. */
interface Candidates {
  readonly count: number
  readonly subjects: () => Uint32Array
}

/** The subjects of a graph that may match a star, in batches, in the variable of its subject. */
export function* scanSubjects(
  graph: GraphColumns,
  name: string,
  links: readonly ColumnLink[],
  filters: readonly AlgebraExpression[],
  evaluation: Evaluation,
  outermost: OutermostScan | null = null,
  max = LARGEST_BATCH,
): Generator<Batch> {
  const largest = outermost === null ? max : Math.min(max, LARGEST_CONTINUED)
  const least = evaluation.readsAll ? largest : outermost === null ? FIRST_BATCH : FIRST_CONTINUED
  const sizes = { least, largest, used: outermost === null ? null : () => evaluation.usedTime }
  const candidates = bestCandidates(graph, links, filters, evaluation)
  const domain = domainsOf(graph).subjects
  const found = (ids: Uint32Array, first?: number) => {
    evaluation.advance(ids.length)
    const vector: IdVector = {
      type: 'ids',
      domain,
      ids,
      isWhole: true,
      ...(first === undefined ? {} : { first }),
    }
    return new Batch(ids.length, new Map([[name, vector]]))
  }
  const begin = outermost?.first ?? null
  if (candidates === null || candidates.count * LIST_PART > graph.subjects) {
    for (const [from, to] of pieces(graph.subjects, sizes, begin)) {
      outermost?.enter(from, to)
      yield found(numbersFrom(from + 1, to + 1), from + 1)
    }
    return
  }
  if (candidates.count === 0) return
  const subjects = candidates.subjects()
  const place = (subject: number) => lowerBound(subjects, subject)
  const start = begin && { from: place(begin.from), to: begin.to === null ? null : place(begin.to) }
  for (const [from, to] of pieces(subjects.length, sizes, start)) {
    outermost?.enter(
      subjects[from] as number,
      to < subjects.length ? (subjects[to] as number) : graph.subjects,
    )
    const ids = scratchUint32(to - from)
    for (let at = from; at < to; at++) ids[at - from] = (subjects[at] as number) + 1
    yield found(ids)
  }
}

/** The sizes of shares, in subjects. */
interface ShareSizes {
  readonly least: number
  readonly largest: number
  /** The part of the time of the answer that is over, from 0 to 1; null where no answer continues in a share. */
  readonly used: (() => number) | null
}

/**
 * The shares of a scan, of growing sizes. They depend on time only where an answer may be continued: then a share takes a small
 * part of the time that an answer may. Quick answers have their solutions in the same order each time.
 */
function* pieces(
  length: number,
  { least, largest, used }: ShareSizes,
  begin: { readonly from: number; readonly to: number | null } | null,
): Generator<readonly [from: number, to: number]> {
  let from = begin?.from ?? 0
  let to = begin?.to ?? from + least
  while (from < length) {
    const before = used?.() ?? 0
    const size = Math.max(1, Math.min(length, to) - from)
    yield [from, from + size]
    const next = nextSize(size, used === null ? 0 : used() - before, begin !== null)
    from += size
    to = from + Math.min(next, largest)
  }
}

/** The parts of the time of an answer that a share may take before the next one is not larger, or as much smaller. */
const [QUICK_SHARE, SLOW_SHARE] = [1 / 256, 1 / 64]

function nextSize(size: number, used: number, isContinued: boolean): number {
  if (used < (isContinued ? QUICK_SHARE : SLOW_SHARE)) return 8 * size
  return used < SLOW_SHARE ? size : Math.max(1, Math.floor((size * SLOW_SHARE) / used))
}

function bestCandidates(
  graph: GraphColumns,
  links: readonly ColumnLink[],
  filters: readonly AlgebraExpression[],
  evaluation: Evaluation,
): Candidates | null {
  let best: Candidates | null = null
  const consider = (candidates: Candidates | null) => {
    if (candidates !== null && (best === null || candidates.count < best.count)) best = candidates
  }
  for (const link of links) {
    if (isPosition(link.predicate)) continue
    const column = graph.column(link.predicate)
    if (column === undefined) return { count: 0, subjects: () => new Uint32Array(0) }
    if (link.object.type === 'variable') {
      if (!column.isDense) consider({ count: column.header.rows, subjects: () => column.subjects })
      const domain = domainsOf(graph).of(column)
      for (const range of rangesFor(link.object.name, filters, domain)) consider(inRange(column, range))
      for (const codes of pointsFor(link.object.name, filters, domain, evaluation))
        consider(withCodes(column, codes))
    } else {
      const code = column.dictionary.find(link.object)
      if (code === 0) return { count: 0, subjects: () => new Uint32Array(0) }
      consider(inRange(column, { from: code, to: code + 1, negated: false }))
    }
  }
  return best
}

/** The ranges of a column's codes to which filters restrict a variable. */
function rangesFor(
  name: string,
  filters: readonly AlgebraExpression[],
  domain: ColumnDomain,
): readonly IdRange[] {
  return filters.flatMap(condition => {
    if (condition.type === 'binary' && condition.operator === '&&')
      return rangesFor(name, [condition.left, condition.right], domain)
    return rangeFor(name, condition, domain) ?? []
  })
}

/** The codes of points to which filters restrict a variable. */
function pointsFor(
  name: string,
  filters: readonly AlgebraExpression[],
  domain: ColumnDomain,
  evaluation: Evaluation,
): readonly (readonly number[])[] {
  return filters.flatMap(condition => {
    const codes = pointsNear(condition, name, domain, evaluation)
    return codes === null ? [] : [codes]
  })
}

function withCodes(column: Column, codes: readonly number[]): Candidates {
  const { starts, subjects } = column.postings
  let count = 0
  for (const code of codes) count += (starts[code + 1] as number) - (starts[code] as number)
  return {
    count,
    subjects: () => {
      const found = scratchUint32(count)
      let next = 0
      for (const code of codes)
        for (let at = starts[code] as number; at < (starts[code + 1] as number); at++)
          found[next++] = subjects[at] as number
      return sortedDistinct(found, column)
    },
  }
}

/** Columns that a selection could have used once: on the next use building their postings pays off. */
const REQUESTED = new WeakSet<Column>()

function inRange(column: Column, { from, to }: IdRange): Candidates | null {
  const { count } = column.dictionary
  const { triples } = column.header
  if (to <= from) return { count: 0, subjects: () => new Uint32Array(0) }
  if (!column.hasPostings) {
    const guess = (triples * (to - from)) / Math.max(1, count)
    if (guess * LIST_PART > column.graphSubjects) return null
    if (column.codes.length > LARGE_COLUMN && !REQUESTED.has(column)) {
      REQUESTED.add(column)
      return null
    }
  }
  const { starts, subjects } = column.postings
  const [begin, end] = [starts[from] as number, starts[to] as number]
  return {
    count: end - begin,
    subjects: () => {
      const found = subjects.subarray(begin, end)
      return to - from === 1 ? found : sortedDistinct(found, column)
    },
  }
}

/** Subjects in ascending order without duplicates. */
function sortedDistinct(subjects: Uint32Array, { graphSubjects, isSingle }: Column): Uint32Array {
  if (subjects.length < graphSubjects / 64) {
    const sorted = scratchUint32(subjects.length)
    sorted.set(subjects)
    sorted.sort()
    if (isSingle) return sorted
    let distinct = 0
    for (let at = 0; at < sorted.length; at++)
      if (at === 0 || sorted[at] !== sorted[at - 1]) sorted[distinct++] = sorted[at] as number
    return sorted.subarray(0, distinct)
  }
  const bits = scratchUint32((graphSubjects >>> 5) + 1).fill(0)
  for (let at = 0; at < subjects.length; at++) {
    const subject = subjects[at] as number
    bits[subject >>> 5] = (bits[subject >>> 5] as number) | (1 << (subject & 31))
  }
  const sorted = scratchUint32(subjects.length)
  let count = 0
  for (let word = 0; word < bits.length; word++) {
    let rest = bits[word] as number
    while (rest !== 0) {
      const lowest = rest & -rest
      sorted[count++] = (word << 5) + 31 - Math.clz32(lowest)
      rest ^= lowest
    }
  }
  return sorted.subarray(0, count)
}

/** Estimated number of subjects of a graph that match a star, for the order of joins. */
export function estimatedSubjects(
  graph: GraphColumns,
  links: readonly ColumnLink[],
  filters: readonly AlgebraExpression[],
): number {
  let least = graph.subjects
  for (const link of links) {
    if (isPosition(link.predicate)) continue
    const column = graph.column(link.predicate)
    if (column === undefined) return 0
    let count = column.header.rows
    if (link.object.type !== 'variable') {
      const code = column.dictionary.find(link.object)
      count = code === 0 ? 0 : countOfCode(column, code)
    } else
      for (const { from, to } of rangesFor(link.object.name, filters, domainsOf(graph).of(column)))
        count = Math.min(count, (column.header.rows * (to - from)) / Math.max(1, column.dictionary.count))
    least = Math.min(least, count)
  }
  return least
}

/** The number of triples with a value: exact where the postings have been computed. */
export function countOfCode(column: Column, code: number): number {
  if (!column.hasPostings && column.codes.length > LARGE_COLUMN)
    return Math.ceil(column.header.triples / Math.max(1, column.dictionary.count))
  const { starts } = column.postings
  return (starts[code + 1] as number) - (starts[code] as number)
}
