import type { Argument, Call } from '../../language/odsql/ast.ts'
import { RELATIONS } from '../../language/odsql/vocabulary.ts'
import { type Field, isGeo } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { searchSigns, searchWords } from '../../model/search.ts'
import type { GeoPoint } from '../../model/value.ts'
import { conjunction, disjunction } from '../conditions.ts'
import { ALWAYS, type Condition, type SpatialRelation, type Word, type WordMode } from '../plan.ts'
import type { FieldNames } from './context.ts'
import { acrossMeridian, boxShape, geometryLiteral, metres, pointLiteral } from './geometry-literals.ts'
import { foldNumber, isExpression } from './scalars.ts'

/** Returns the condition of a call in a where clause (ODSQL 3). */
export function resolvePredicate(call: Call, names: FieldNames): Condition {
  const entry = names.function(call)
  const [first, second, third] = call.arguments
  switch (entry.name) {
    case 'search':
    case 'suggest':
    case 'startswith':
      return search(call, entry.name, names)
    case 'distance':
    case 'within_distance': {
      const field = geoField(call, first, names)
      const point = pointLiteral(call, second, names)
      if (third === undefined)
        throw names.fault('A distance without radius is not a condition', call.span, 'compare it')
      return { type: 'withinDistance', field, point, metres: metres(call, third, names) }
    }
    case 'geometry':
      return spatial(call, relationOf(call, third, names), names)
    case 'intersects':
    case 'disjoint':
    case 'within':
      return spatial(call, entry.name, names)
    case 'polygon':
      return spatial(call, 'intersects', names)
    case 'bbox':
    case 'in_bbox':
      return box(call, names)
    default:
      throw names.fault(
        `the function ${entry.name} is not a condition`,
        call.span,
        entry.kind === 'aggregate' ? 'aggregates belong in select' : 'compare it with something',
      )
  }
}

/** The words of a full-text search: all must occur; a trailing `*` makes the word before it a prefix. Without any, its signs. */
export function searchedWords(text: string): readonly Word[] {
  const words = text.split(/\s+/).flatMap(chunk => {
    const folded = searchWords(chunk)
    return folded.map(
      (word, index): Word => ({
        text: word,
        mode: chunk.endsWith('*') && index === folded.length - 1 ? 'prefix' : 'word',
      }),
    )
  })
  return words.length > 0 ? words : signsOf(text)
}

/** The signs of a text without words, each of which must occur. */
export function signsOf(text: string): readonly Word[] {
  return searchSigns(text).map(sign => ({ text: sign, mode: 'part' }))
}

/** A full-text search over all fields; a text of blanks restricts nothing. */
export function wordsCondition(words: readonly Word[]): Condition {
  return words.length === 0 ? ALWAYS : { type: 'words', words }
}

function search(call: Call, kind: 'search' | 'suggest' | 'startswith', names: FieldNames): Condition {
  const last = call.arguments.at(-1)
  if (last?.type !== 'string') throw names.unfit(call, last, 'a text in quotes at its end')
  const fields = searchedFields(call, call.arguments.slice(0, -1), names)
  if (kind === 'startswith')
    return disjunction(
      (fields ?? names.context.dataset.fields.filter(({ type }) => type === 'text')).map(field => ({
        type: 'startsWith',
        field,
        text: last.value,
      })),
    )
  const words = searchWords(last.value)
  if (words.length > MAX_WORDS)
    throw names.conversionError(call, `${words.length} words`, `at most ${MAX_WORDS}`, last.span)
  const modeOf = (text: string, index: number) =>
    kind === 'suggest' ? 'prefix' : index === words.length - 1 ? 'unfinished' : fuzziness(text)
  const requested =
    words.length === 0
      ? signsOf(last.value)
      : words.map((text, index): Word => ({ text, mode: modeOf(text, index) }))
  if (fields === null) return wordsCondition(requested)
  return conjunction(
    requested.map(word => disjunction(fields.map(field => ({ type: 'like', field, words: [word] })))),
  )
}

/** Maximum number of words of one search that may be misspelt: each is tried on every text that contains the words before it. */
const MAX_WORDS = 20

/** Words of three or more letters may be misspelt (ODSQL 3.7). */
function fuzziness(word: string): WordMode {
  return [...word].length > 2 ? 'fuzzy' : 'word'
}

/** The fields that a search names; null for all of them. */
function searchedFields(call: Call, nodes: readonly Argument[], names: FieldNames): readonly Field[] | null {
  if (nodes.length === 0 || (nodes.length === 1 && nodes[0]?.type === 'star')) return null
  return nodes.flatMap(node => {
    if (node.type === 'wildcard')
      return names.context.dataset.fields.filter(
        field => field.type === 'text' && field.name.startsWith(node.prefix),
      )
    if (!isExpression(node)) throw names.unfit(call, node, 'names of text fields')
    const field = names.field(node)
    if (field.type !== 'text') throw names.unfitField(call, field, 'text fields', node.span)
    return [field]
  })
}

function spatial(call: Call, relation: SpatialRelation, names: FieldNames): Condition {
  const [first, second] = call.arguments
  return {
    type: 'spatial',
    field: geoField(call, first, names),
    relation,
    shape: acrossMeridian(geometryLiteral(call, second, names)),
  }
}

function relationOf(call: Call, node: Argument | undefined, names: FieldNames): SpatialRelation {
  const word = node?.type === 'field' ? node.name.toLowerCase() : node?.type === 'string' ? node.value : ''
  const relation = lookup(RELATIONS, word)
  if (relation !== undefined) return relation
  throw names.unfit(call, node, 'INTERSECTS, DISJOINT or WITHIN')
}

/** Two corners as points, or as latitude, longitude, latitude, longitude. */
function box(call: Call, names: FieldNames): Condition {
  const [first, second, third] = call.arguments
  const field = geoField(call, first, names)
  const [a, b] =
    second?.type === 'geometry'
      ? [pointLiteral(call, second, names), pointLiteral(call, third, names)]
      : corners(call, names)
  return { type: 'spatial', field, relation: 'intersects', shape: boxShape(a, b) }
}

function corners(call: Call, names: FieldNames): readonly [GeoPoint, GeoPoint] {
  const numbers = call.arguments.slice(1).map(node => {
    const value = foldNumber(node)
    if (value === null) throw names.unfit(call, node, 'numbers of degrees')
    return value
  })
  const [lat1, lon1, lat2, lon2] = numbers
  if (lat1 === undefined || lon1 === undefined || lat2 === undefined || lon2 === undefined)
    throw names.conversionError(
      call,
      `${numbers.length} numbers`,
      'latitude, longitude, latitude, longitude',
      call.span,
    )
  const isDegree = (value: number, max: number) => Math.abs(value) <= max
  if (!isDegree(lat1, 90) || !isDegree(lat2, 90) || !isDegree(lon1, 180) || !isDegree(lon2, 180))
    throw names.conversionError(
      call,
      'a corner off the map',
      'latitudes within 90 and longitudes within 180',
      call.span,
    )
  return [
    { lat: lat1, lon: lon1 },
    { lat: lat2, lon: lon2 },
  ]
}

function geoField(call: Call, node: Argument | undefined, names: FieldNames): Field {
  if (node === undefined || !isExpression(node)) throw names.unfit(call, node, 'a field with positions')
  const field = names.field(node)
  if (isGeo(field.type)) return field
  throw names.unfitField(call, field, 'a field with positions', node.span)
}
