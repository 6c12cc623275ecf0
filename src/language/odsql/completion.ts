import { type Field, isGeo, isNumeric, isTemporal } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import type { ClauseName, Span } from './ast.ts'
import {
  type FunctionEntry,
  functionsOf,
  LENGTH_UNITS,
  NOW_ADDERS,
  NOW_SETTERS,
  RELATIONS,
  RESERVED_WORDS,
  TIME_UNITS,
} from './vocabulary.ts'

/** The kind of word that a completion inserts. */
export type CompletionKind = 'field' | 'function' | 'keyword' | 'unit' | 'parameter' | 'relation'

/** One word that fits at the cursor. */
export interface Completion {
  /** The replacement for the text from `from` to `to`. */
  readonly label: string
  readonly kind: CompletionKind
  /** The signature of a function, the type of a field, the quantity that a unit measures. */
  readonly detail: string
  /** A description in one line; empty where there is none. */
  readonly says: string
  readonly from: number
  readonly to: number
}

type CompletionOption = Omit<Completion, 'from' | 'to'>

/** The keywords by the context in which they fit. */
const KEYWORDS = {
  condition: {
    not: 'the opposite of a condition',
    true: 'a condition that always holds',
    false: 'a condition that never holds',
  },
  afterCondition: {
    and: 'both conditions hold',
    or: 'one of the conditions holds',
    in: 'one of a list, or within a range',
    is: 'true, false or null',
    like: 'has the words of a text',
  },
  afterIs: { not: 'the opposite', null: 'no value', true: 'the value true', false: 'the value false' },
  afterIsNot: { null: 'no value', true: 'the value true', false: 'the value false' },
  withinRange: { to: 'up to' },
  afterItem: { as: 'a label' },
  afterOrder: { asc: 'upwards', desc: 'downwards' },
  withinCount: { distinct: 'equal values once' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

/** Every keyword that completion offers. */
export const OFFERED_KEYWORDS: readonly string[] = Object.values(KEYWORDS).flatMap(words =>
  Object.keys(words),
)

/** Which fields fit a parameter, by its name in the signature; parameters of other names take literals. */
const TAKES: Readonly<Record<string, (field: Field) => boolean>> = {
  text: ({ type }) => type === 'text',
  field: ({ type }) => type === 'text',
  date: ({ type }) => isTemporal(type),
  number: ({ type }) => isNumeric(type),
  geo: ({ type }) => isGeo(type),
  point: ({ type }) => type === 'geo_point_2d',
  value: () => true,
  other: () => true,
  name: () => true,
  '*': () => true,
}

/** A token of the text before the cursor. */
interface Token {
  readonly type: 'text' | 'quoted' | 'word' | 'number' | 'mark'
  readonly text: string
}

/** The context of the cursor: an open parenthesis, the function that it belongs to, the number of commas since. */
interface Level {
  readonly isOpen: boolean
  readonly call: string | null
  readonly argument: number
}

const TOKEN =
  /(?<text>'(?:\\.|[^'\\])*'?|"(?:\\.|[^"\\])*"?)|(?<quoted>`[^`]*`?)|(?<word>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(?<number>\d+(?:\.\d+)?)|(?<mark>\.\.|[^\s])/gs

/**
 * Returns the completions of the word before a position in a clause: fields, functions, keywords, units, parameters of `now` and
 * relations of shapes that begin with the word, ignoring case. None within a quoted text.
 *
 * @param offset position of the cursor, in characters
 * @param fields the fields that a query may name
 */
export function completions(
  clause: ClauseName,
  text: string,
  offset: number,
  fields: readonly Field[],
): readonly Completion[] {
  const before = text.slice(0, offset)
  const last = scan(before).at(-1)
  if (last?.type === 'text' && !isClosed(last.text)) return []
  if (last?.type === 'quoted' && !isClosed(last.text)) {
    const from = before.length - last.text.length
    const to = before.length + (text[before.length] === '`' ? 1 : 0)
    const names = offersAt(clause, scan(before.slice(0, from)), fields).filter(({ kind }) => kind === 'field')
    const quoted = names.map(option => ({ ...option, label: quote(unquote(option.label)) }))
    return fitting(quoted, last.text.slice(1), { from, to })
  }
  const run = /\w+(?:\.\w+)*\.?$/.exec(before)?.[0] ?? ''
  const digits = /^\d[\d.]*/.exec(run)?.[0] ?? ''
  const start = before.length - run.length
  const units = unitsAt(clause, scan(before.slice(0, start + digits.length)))
  if (units.length > 0)
    return fitting(units, run.slice(digits.length), { from: start + digits.length, to: before.length })
  const offers = offersAt(clause, scan(before.slice(0, start)), fields)
  const named = digits === '' ? offers : offers.filter(({ kind }) => kind === 'field')
  return fitting(named, run, { from: start, to: before.length })
}

function fitting(offers: readonly CompletionOption[], word: string, place: Span): readonly Completion[] {
  const start = word.toLowerCase()
  return offers
    .filter(({ label }) => unquote(label).toLowerCase().startsWith(start))
    .map(option => ({ ...option, ...place }))
}

/** All words that fit after these tokens, whatever their beginning. */
function offersAt(
  clause: ClauseName,
  tokens: readonly Token[],
  fields: readonly Field[],
): readonly CompletionOption[] {
  const level = levelOf(tokens)
  const previous = tokens.at(-1)
  const word = previous?.type === 'word' ? previous.text.toLowerCase() : ''
  if (word === 'as') return []
  if (word === 'is') return keywords('afterIs')
  if (word === 'not' && isWord(tokens.at(-2), 'is')) return keywords('afterIsNot')
  if (isValueEnd(tokens)) return afterValue(clause, tokens, level)
  if (level.call !== null) return withinCall(clause, { ...level, call: level.call }, word, fields)
  const isWhole = clause !== 'where' || startsCondition(previous)
  return [
    ...fields.map(fieldOption),
    ...functionsOf(clause)
      .filter(({ name, kind }) => name !== 'equi' && (isWhole || kind === 'scalar'))
      .map(functionOption),
    ...(clause === 'where' && isWhole ? keywords('condition') : []),
  ]
}

function startsCondition(previous: Token | undefined): boolean {
  return previous === undefined || ['(', 'and', 'or', 'not'].includes(previous.text.toLowerCase())
}

function afterValue(clause: ClauseName, tokens: readonly Token[], level: Level): readonly CompletionOption[] {
  if (level.call !== null) return []
  if (isRangeOpen(tokens)) return keywords('withinRange')
  if (clause === 'where') return keywords('afterCondition')
  if (level.isOpen) return []
  return keywords(clause === 'order_by' ? 'afterOrder' : 'afterItem')
}

/** What fits as an argument: fields of its type, functions of one record, or its own keywords. */
function withinCall(
  clause: ClauseName,
  level: Level & { readonly call: string },
  word: string,
  fields: readonly Field[],
): readonly CompletionOption[] {
  if (level.call === 'now') return parameters()
  const entry = functionsOf(clause).find(({ name }) => name === level.call)
  if (entry === undefined) return []
  const inner = functionsOf(clause).filter(({ name }) => name === 'equi')
  if (entry.name === 'range' && level.argument > 0) return inner.map(functionOption)
  if (entry.name === 'geometry' && level.argument === 2)
    return Object.keys(RELATIONS).map(label => ({ label, kind: 'relation', detail: '', says: '' }))
  const takes = lookup(TAKES, parameterAt(entry, level.argument))
  if (takes === undefined) return []
  const scalars = functionsOf(clause).filter(({ kind }) => kind === 'scalar' && entry.kind !== 'fields')
  return [
    ...fields.filter(takes).map(fieldOption),
    ...(entry.kind === 'condition' ? [] : scalars.map(functionOption)),
    ...(entry.name === 'count' && word === '' ? keywords('withinCount') : []),
  ]
}

/** The name of a parameter; a repeatable one applies to all following arguments. */
function parameterAt({ signature, arity }: FunctionEntry, argument: number): string {
  const names = signature.slice(signature.indexOf('(') + 1, -1).split(', ')
  const isRepeated = arity[0] === 1 && arity[1] > names.length
  return names[isRepeated ? 0 : argument] ?? ''
}

/** The units that fit after a number: of length in a distance, of time in a range. */
function unitsAt(clause: ClauseName, tokens: readonly Token[]): readonly CompletionOption[] {
  if (tokens.at(-1)?.type !== 'number') return []
  const { call, argument } = levelOf(tokens)
  if (clause === 'where' && (call === 'distance' || call === 'within_distance') && argument === 2)
    return Object.entries(LENGTH_UNITS).map(([label, metres]) => unitOption(label, `${metres} m`))
  if (clause === 'group_by' && call === 'range' && argument === 1)
    return Object.entries(TIME_UNITS).map(([label, unit]) => unitOption(label, unit))
  return []
}

function scan(text: string): readonly Token[] {
  return [...text.matchAll(TOKEN)].map(({ 0: found, groups = {} }) => {
    const types = ['text', 'quoted', 'word', 'number'] as const
    return { type: types.find(type => groups[type] !== undefined) ?? 'mark', text: found }
  })
}

/** The innermost parenthesis that is open after these tokens. */
function levelOf(tokens: readonly Token[]): Level {
  const levels: Level[] = [{ isOpen: false, call: null, argument: 0 }]
  tokens.forEach(({ type, text }, index) => {
    if (type !== 'mark') return
    const before = tokens[index - 1]
    const level = levels.at(-1)
    if (text === '(') {
      const isCall = before?.type === 'word' && !isOperator(before.text)
      levels.push({ isOpen: true, call: isCall ? before.text.toLowerCase() : null, argument: 0 })
    } else if (text === ')' && level?.isOpen === true) levels.pop()
    else if (text === ',' && level !== undefined)
      levels[levels.length - 1] = { ...level, argument: level.argument + 1 }
  })
  return levels.at(-1) as Level
}

/** Words after which a value is expected. */
const OPERATORS = ['and', 'or', 'not', 'in', 'like', 'to', 'is', 'distinct']

function isOperator(word: string): boolean {
  return OPERATORS.includes(word.toLowerCase())
}

/** True where a value, or an expression of one, has just ended. */
function isValueEnd(tokens: readonly Token[]): boolean {
  const last = tokens.at(-1)
  if (last === undefined) return false
  if (last.type === 'word') return !isOperator(last.text)
  if (last.type !== 'mark') return true
  return last.text === ')' || (isBracket(last) && !opensRange(tokens, tokens.length - 1))
}

function isBracket(token: Token | undefined): boolean {
  return token?.type === 'mark' && (token.text === '[' || token.text === ']')
}

/** True for the bracket that opens a range or the steps of one; it may be a closing bracket for an exclusive end. */
function opensRange(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1]
  return isWord(before, 'in') || (before?.type === 'mark' && [':', '=', ','].includes(before.text))
}

/** True after the lower end of a range in brackets. */
function isRangeOpen(tokens: readonly Token[]): boolean {
  const at = tokens.findLastIndex(isBracket)
  const since = tokens.slice(at + 1)
  const isParted = since.some(token => isWord(token, 'to') || token.text === '..')
  return at >= 0 && opensRange(tokens, at) && !isParted
}

function isWord(token: Token | undefined, word: string): boolean {
  return token?.type === 'word' && token.text.toLowerCase() === word
}

function isClosed(text: string): boolean {
  return /^(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`)$/s.test(text)
}

function keywords(place: keyof typeof KEYWORDS): readonly CompletionOption[] {
  return Object.entries(KEYWORDS[place]).map(([label, description]) => ({
    label,
    kind: 'keyword',
    detail: '',
    says: description,
  }))
}

function fieldOption({ name, type, label, description }: Field): CompletionOption {
  const isPlain = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(name) && !RESERVED_WORDS.has(name.toLowerCase())
  return { label: isPlain ? name : quote(name), kind: 'field', detail: type, says: description ?? label }
}

function functionOption({ name, signature, description }: FunctionEntry): CompletionOption {
  return { label: name, kind: 'function', detail: signature, says: description }
}

function unitOption(label: string, detail: string): CompletionOption {
  return { label, kind: 'unit', detail, says: '' }
}

function parameters(): readonly CompletionOption[] {
  const setters = Object.entries(NOW_SETTERS).map(([label, [least, max]]): CompletionOption => {
    return { label, kind: 'parameter', detail: `${least} to ${max}`, says: `sets the ${label}` }
  })
  const adders = NOW_ADDERS.map((label): CompletionOption => {
    return { label, kind: 'parameter', detail: 'a whole number', says: `adds ${label}` }
  })
  return [...setters, ...adders]
}

function quote(name: string): string {
  return `\`${name}\``
}

function unquote(label: string): string {
  return label.startsWith('`') ? label.slice(1, -1) : label
}
