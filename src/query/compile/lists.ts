import { lookup } from '../../model/lookup.ts'
import {
  decodeList,
  decodeSequence,
  FEWEST_LISTED,
  LIST_CHUNK,
  listKey,
  WORDS_LIST,
} from '../../model/positions.ts'
import { orderListIri, valueListIri } from '../../rdf/iris.ts'
import { INDEX } from '../../rdf/vocab.ts'
import { inGraph, iri, triple, variable } from '../../sparql/build.ts'
import type { Solution } from '../decode.ts'
import type { Condition, Constant, Question, RecordQuery, Word } from '../plan.ts'
import { technicalName } from '../technical.ts'
import { openScope } from './condition.ts'
import { recordsWith } from './estimate.ts'
import { beginsAbsent } from './order.ts'
import type { Statement } from './records.ts'
import type { CompileTarget } from './scope.ts'
import { simplify } from './simplify.ts'

const LIST = variable('list')
const POSITIONS = variable('positions')

/** A value whose records the index graph may list, or a word in the place of one (mapping/value-lists.ts). */
export interface ValueList {
  readonly type: 'list'
  readonly field: string
  readonly key: string
}

/** A filter as lists of positions that are joined and united; `none` keeps no record. */
export type Lists =
  | ValueList
  | { readonly type: 'and' | 'or'; readonly operands: readonly Lists[] }
  | { readonly type: 'none' }

/** Pieces of lists that are asked for at a time. */
export const MOST_PIECES = 200

/** The lists that say all that a filter says; null where something of it has none. */
export function listsOf({ filter, timezone }: Question, target: CompileTarget): Lists | null {
  if (filter === null || !hasLists(target)) return null
  return listsOfCondition(simplify(filter, openScope(target, timezone)), target)
}

/** The lists of several conditions that must all hold, of those that have lists; null where not two do. */
export function narrowingLists({ filter, timezone }: Question, target: CompileTarget): Lists | null {
  if (filter === null || !hasLists(target)) return null
  const condition = simplify(filter, openScope(target, timezone))
  if (condition.type !== 'and') return null
  const operands = condition.operands.flatMap(operand => listsOfCondition(operand, target) ?? [])
  return operands.length < 2 ? null : { type: 'and', operands }
}

/** The values of lists, each once. */
export function valuesOf(lists: Lists): readonly ValueList[] {
  const values = new Map<string, ValueList>()
  const gather = (each: Lists) => {
    if (each.type === 'list') values.set(listName(each), each)
    else if (each.type !== 'none') each.operands.forEach(gather)
  }
  gather(lists)
  return [...values.values()]
}

/** What names a list among those of its dataset. */
export function listName({ field, key }: ValueList): string {
  return valueListIri(field, key, 0)
}

/** Some pieces of lists, in no order. */
export function compilePieces(
  pieces: readonly { readonly list: ValueList; readonly piece: number }[],
  target: CompileTarget,
): Statement {
  const iris = pieces.map(({ list: { field, key }, piece }) => valueListIri(field, key, piece))
  return piecesOf(iris, 'positions of the records of frequent values, as they are listed', target)
}

/** Reads pieces of lists by their IRIs. */
export function decodePieces(
  solutions: readonly Solution[],
): ReadonlyMap<string, { readonly total: number; readonly positions: Uint32Array }> {
  return new Map(
    solutions.map(({ list, positions }) => [list?.value ?? '', decodeList(positions?.value ?? '')]),
  )
}

/** The pieces in which the positions from one place of a list to another are. */
export function piecesBetween(first: number, end: number): readonly number[] {
  const from = Math.floor(first / LIST_CHUNK)
  return Array.from({ length: Math.max(0, Math.ceil(end / LIST_CHUNK) - from) }, (_, at) => from + at)
}

/** The list of first records by an order, as far as a page needs it. */
export interface OrderPage {
  readonly field: string
  readonly direction: 'ascending' | 'descending'
}

/** The list that has the page of all records by one field; null where there is none, or the page is beyond it. */
export function orderPageOf(plan: RecordQuery, target: CompileTarget): OrderPage | null {
  const [first, ...others] = plan.orderBy
  if (plan.filter !== null || first?.value.type !== 'field' || others.length > 0 || plan.limit === null)
    return null
  const { field } = first.value
  if (technicalName(field) !== undefined) return null
  const length = lookup(target.statistics.fields, field.name)?.ordered ?? 0
  if (plan.offset + plan.limit > length || beginsAbsent(first, openScope(target, plan.timezone))) return null
  return { field: field.name, direction: first.descending ? 'descending' : 'ascending' }
}

/** Some pieces of a list of first records. */
export function compileOrderPieces(
  { field, direction }: OrderPage,
  pieces: readonly number[],
  target: CompileTarget,
): Statement {
  const iris = pieces.map(piece => orderListIri(field, direction, piece))
  return piecesOf(iris, `positions of the first records by ${field}, as they are listed`, target)
}

function piecesOf(iris: readonly string[], reason: string, target: CompileTarget): Statement {
  return {
    name: 'positions',
    reason,
    query: {
      type: 'select',
      projection: [{ variable: LIST }, { variable: POSITIONS }],
      where: [
        { type: 'values', variable: LIST, terms: iris.map(iri) },
        inGraph(target.graphs.index, triple(LIST, iri(INDEX.positions), POSITIONS)),
      ],
    },
  }
}

/** Reads pieces of a list of first records, in their order. */
export function decodeOrderPieces(
  { field, direction }: OrderPage,
  pieces: readonly number[],
  solutions: readonly Solution[],
): readonly number[] {
  const texts = new Map(solutions.map(({ list, positions }) => [list?.value, positions?.value ?? '']))
  return pieces.flatMap(piece => {
    const text = texts.get(orderListIri(field, direction, piece))
    if (text === undefined) throw new Error(`a list of ${field} without its piece ${piece}`)
    return decodeSequence(text)
  })
}

function hasLists({ statistics }: CompileTarget): boolean {
  return (
    statistics.listedWords === true || Object.values(statistics.fields).some(({ listed }) => listed === true)
  )
}

function listsOfCondition(condition: Condition, target: CompileTarget): Lists | null {
  switch (condition.type) {
    case 'always':
      return condition.value ? null : { type: 'none' }
    case 'compare':
      return condition.operator === '=' ? listOf(condition, condition.value, target) : null
    case 'oneOf':
      return whole(
        'or',
        condition.values.map(value => listOf(condition, value, target)),
      )
    case 'words':
      return target.statistics.listedWords === true ? whole('and', condition.words.map(wordList)) : null
    case 'and':
    case 'or':
      return whole(
        condition.type,
        condition.operands.map(operand => listsOfCondition(operand, target)),
      )
    default:
      return null
  }
}

/** The list of a word as it stands; a phrase, a beginning or a misspelt word has none. */
function wordList({ text, mode }: Word): ValueList | null {
  const key = mode === 'word' && !text.includes(' ') ? listKey(text) : null
  return key === null || key === '' ? null : { type: 'list', field: WORDS_LIST, key }
}

function whole(type: 'and' | 'or', operands: readonly (Lists | null)[]): Lists | null {
  const known = operands.filter(operand => operand !== null)
  const [first] = known
  if (known.length < operands.length || first === undefined) return null
  return known.length === 1 ? first : { type, operands: known }
}

function listOf(
  { field }: Extract<Condition, { readonly type: 'compare' | 'oneOf' }>,
  value: Constant,
  target: CompileTarget,
): Lists | null {
  if (technicalName(field) !== undefined) return null
  const { fields } = target.statistics
  if (lookup(fields, field.name)?.listed !== true) return null
  const records = recordsWith({ field, value }, target)
  if (records === 0) return { type: 'none' }
  if (records !== null && records < FEWEST_LISTED) return null
  const key = listKey(value)
  return key === null ? null : { type: 'list', field: field.name, key }
}
