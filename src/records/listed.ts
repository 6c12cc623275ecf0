import { LIST_CHUNK } from '../model/positions.ts'
import {
  compileOrderPieces,
  compilePieces,
  decodeOrderPieces,
  decodePieces,
  type Lists,
  listName,
  listsOf,
  MOST_PIECES,
  narrowingLists,
  orderPageOf,
  piecesBetween,
  type ValueList,
  valuesOf,
} from '../query/compile/lists.ts'
import type { CompileTarget } from '../query/compile/scope.ts'
import type { Question, RecordQuery } from '../query/plan.ts'
import { valueListIri } from '../rdf/iris.ts'
import type { Asker } from './trace.ts'

/** Records that a filter keeps, in the order of the source, as the index graph lists them. */
export interface Listed {
  /** All that the filter keeps. */
  readonly total: number
  /** The positions of the page, in bounded pieces; what is not read is not asked. */
  readonly positions: () => AsyncGenerator<Uint32Array>
}

/** Values whose lists are put together for one answer. */
const MOST_VALUES = 50
/** Positions that are held to put lists together: some milliseconds to read. */
const MOST_HELD = 200_000
/** Positions that narrow a search down: more are not looked up one by one. */
const MOST_AMONG = 5000
/** Pieces of the list of a page that are asked for at first, and then at a time. */
const FIRST_PIECES = 4
const PIECES = 20
/** More records than a list has. */
const MOST_RECORDS = 2 ** 32

/**
 * The page of a filter that says nothing but which frequent values records have, in the order of the source: it is read
 * from the lists of these values, so that its place in the answer does not matter and nothing is counted. Null where
 * the filter says something else, or where a value has no list.
 */
export async function findListed(
  question: Question,
  target: CompileTarget,
  asker: Asker,
): Promise<Listed | null> {
  const lists = asker.watch.time('compile', () => listsOf(question, target))
  if (lists === null) return null
  const { offset, limit } = question
  const end = (total: number) => (limit === null ? total : Math.min(total, offset + limit))
  if (lists.type === 'list') return pageOfList(lists, offset, end, target, asker)
  const all = await positionsOf(lists, target, asker)
  if (all === null) return null
  const page = all.subarray(offset, Math.max(offset, end(all.length)))
  return {
    total: all.length,
    positions: async function* () {
      if (page.length > 0) yield page
    },
  }
}

/**
 * The positions of a page of all records by one field, in their order, where the index graph lists them; null where it
 * does not.
 */
export async function findFirstInOrder(
  plan: RecordQuery,
  target: CompileTarget,
  asker: Asker,
): Promise<readonly number[] | null> {
  const list = asker.watch.time('compile', () => orderPageOf(plan, target))
  if (list === null || plan.limit === null) return null
  const end = plan.offset + plan.limit
  const pieces = piecesBetween(plan.offset, end)
  if (pieces.length === 0) return []
  const solutions = await asker.ask(compileOrderPieces(list, pieces, target))
  const begin = (pieces[0] ?? 0) * LIST_CHUNK
  const positions = asker.watch.time('decode', () => decodeOrderPieces(list, pieces, solutions))
  return positions.slice(plan.offset - begin, end - begin)
}

/** The few positions that records must have of which a filter says several frequent values; null where it does not. */
export async function amongListed(
  question: Question,
  target: CompileTarget,
  asker: Asker,
): Promise<readonly number[] | null> {
  const lists = asker.watch.time('compile', () => narrowingLists(question, target))
  const positions = lists === null ? null : await positionsOf(lists, target, asker)
  return positions === null || positions.length > MOST_AMONG ? null : [...positions]
}

async function pageOfList(
  list: ValueList,
  offset: number,
  end: (total: number) => number,
  target: CompileTarget,
  asker: Asker,
): Promise<Listed | null> {
  const wanted = piecesBetween(offset, Math.min(end(MOST_RECORDS), offset + FIRST_PIECES * LIST_CHUNK))
  const first = await ask(
    [...new Set([0, ...wanted])].map(piece => ({ list, piece })),
    target,
    asker,
  )
  const total = first.get(listName(list))?.total
  if (total === undefined) return null
  return {
    total,
    positions: async function* () {
      const pieces = piecesBetween(offset, end(total))
      let known = first
      for (let at = 0; at < pieces.length; at++) {
        const piece = pieces[at] ?? 0
        const name = valueListIri(list.field, list.key, piece)
        if (!known.has(name))
          known = await ask(
            pieces.slice(at, at + PIECES).map(each => ({ list, piece: each })),
            target,
            asker,
          )
        const positions = known.get(name)?.positions
        if (positions === undefined) throw new Error(`a list without its piece ${piece}`)
        const begin = piece * LIST_CHUNK
        yield positions.subarray(Math.max(0, offset - begin), Math.max(0, end(total) - begin))
      }
    },
  }
}

/** The positions that lists put together have, in rising order; null where a value has no list, or they are very many. */
async function positionsOf(lists: Lists, target: CompileTarget, asker: Asker): Promise<Uint32Array | null> {
  const values = valuesOf(lists)
  if (values.length > MOST_VALUES) return null
  if (values.length === 0) return put(lists, new Map())
  const first = await ask(
    values.map(list => ({ list, piece: 0 })),
    target,
    asker,
  )
  if (first.size < values.length) return null
  const totals = values.map(list => first.get(listName(list))?.total ?? 0)
  if (totals.reduce((sum, total) => sum + total, 0) > MOST_HELD) return null
  const missing = values.flatMap((list, index) =>
    piecesBetween(LIST_CHUNK, totals[index] ?? 0).map(piece => ({ list, piece })),
  )
  const known = new Map(first)
  for (let at = 0; at < missing.length; at += MOST_PIECES)
    for (const [name, piece] of await ask(missing.slice(at, at + MOST_PIECES), target, asker))
      known.set(name, piece)
  return asker.watch.time('decode', () => {
    const whole = new Map<string, Uint32Array>()
    values.forEach((list, index) => {
      const total = totals[index] ?? 0
      const positions = new Uint32Array(total)
      for (const piece of piecesBetween(0, total)) {
        const some = known.get(valueListIri(list.field, list.key, piece))?.positions
        if (some === undefined) throw new Error(`a list without its piece ${piece}`)
        positions.set(some, piece * LIST_CHUNK)
      }
      whole.set(listName(list), positions)
    })
    return put(lists, whole)
  })
}

function put(lists: Lists, whole: ReadonlyMap<string, Uint32Array>): Uint32Array {
  switch (lists.type) {
    case 'none':
      return new Uint32Array(0)
    case 'list':
      return whole.get(listName(lists)) ?? new Uint32Array(0)
    case 'or':
      return lists.operands.map(operand => put(operand, whole)).reduce(union)
    case 'and':
      return lists.operands
        .map(operand => put(operand, whole))
        .sort((a, b) => a.length - b.length)
        .reduce(intersection)
    default:
      return lists satisfies never
  }
}

/** What two lists in rising order share. */
function intersection(a: Uint32Array, b: Uint32Array): Uint32Array {
  const shared = new Uint32Array(Math.min(a.length, b.length))
  let length = 0
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [left = 0, right = 0] = [a[i], b[j]]
    if (left === right) shared[length++] = left
    if (left <= right) i += 1
    if (right <= left) j += 1
  }
  return shared.subarray(0, length)
}

/** What is in either of two lists in rising order. */
function union(a: Uint32Array, b: Uint32Array): Uint32Array {
  const all = new Uint32Array(a.length + b.length)
  let length = 0
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const left = a[i] ?? Number.POSITIVE_INFINITY
    const right = b[j] ?? Number.POSITIVE_INFINITY
    all[length++] = Math.min(left, right)
    if (left <= right) i += 1
    if (right <= left) j += 1
  }
  return all.subarray(0, length)
}

async function ask(
  pieces: readonly { readonly list: ValueList; readonly piece: number }[],
  target: CompileTarget,
  asker: Asker,
) {
  const statement = asker.watch.time('compile', () => compilePieces(pieces, target))
  const solutions = await asker.ask(statement)
  return asker.watch.time('decode', () => decodePieces(solutions))
}
