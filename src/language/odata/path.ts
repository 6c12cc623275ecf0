import type { Fault } from '../../errors/errors.ts'
import type { KeyAlias, KeyPredicate, ODataLiteral, PathSegment, Span } from './ast.ts'
import { percentDecoded } from './decode.ts'
import { checkLength, odataFault } from './faults.ts'
import { parseExpression, parseFilter } from './parse.ts'

const OPTION = 'path'

const PLAIN = ['$metadata', '$count', '$value', '$ref', '$all', '$entity', '$batch', '$links'] as const

/**
 * Parses the resource path below the root of the service, undecoded and without its query (URL Conventions, section 4). It is
 * split before it is decoded, so that a key may contain an encoded slash; only the expression of `$filter(…)` has slashes of its
 * own. Keys may be literals (`('a')`), named (`(recordid='a')`), aliases (`(@k)`), and raw text without quotes (OData service
 * 1.4). Empty segments at both ends are dropped.
 *
 * Throws ODataError; spans are those of the decoded path.
 */
export function parsePath(raw: string): readonly PathSegment[] {
  checkLength(OPTION, raw)
  const segments: PathSegment[] = []
  const trimmed = raw.replace(/^\//, '').replace(/\/$/, '')
  if (trimmed === '') return segments
  let from = 0
  for (const piece of pieces(trimmed)) {
    const text = percentDecoded(piece, OPTION)
    segments.push(segment(text, from))
    from += text.length + 1
  }
  return segments
}

/** The undecoded segments of a path; those of a filter that was split are joined again. */
function pieces(raw: string): readonly string[] {
  const found: string[] = []
  let filter: string[] = []
  let state: Balance = { depth: 0, isQuoted: false }
  for (const part of raw.split('/')) {
    if (filter.length === 0 && !/^(?:\$|%24)filter(?:\(|%28)/.test(part)) {
      found.push(part)
      continue
    }
    filter.push(part)
    state = balance(part, state)
    if (state.depth > 0 || state.isQuoted) continue
    found.push(filter.join('/'))
    filter = []
  }
  return filter.length === 0 ? found : [...found, filter.join('/')]
}

interface Balance {
  readonly depth: number
  readonly isQuoted: boolean
}

function balance(text: string, before: Balance): Balance {
  let { depth, isQuoted } = before
  for (const [found] of text.matchAll(/'|%27|[()]|%28|%29/g)) {
    if (found === "'" || found === '%27') isQuoted = !isQuoted
    else if (!isQuoted) depth += found === '(' || found === '%28' ? 1 : -1
  }
  return { depth, isQuoted }
}

function segment(text: string, from: number): PathSegment {
  const span = { from, to: from + text.length }
  const plain = PLAIN.find(type => type === text)
  if (plain !== undefined) return { type: plain, span }
  const open = text.indexOf('(')
  if (open < 0) {
    if (/[)'"]/.test(text)) throw fault(`unexpected ${/[)'"]/.exec(text)?.[0]} in a segment`, span)
    return { type: 'name', name: text, key: null, span }
  }
  const name = text.slice(0, open)
  if (!text.endsWith(')') || name === '') throw fault('a segment whose parentheses do not match', span)
  const inner = text.slice(open + 1, -1)
  const place = { from: from + open + 1, to: span.to - 1 }
  if (name === '$filter') return { type: '$filter', expression: parseFilter(inner), span }
  if (name === '$crossjoin') return { type: '$crossjoin', names: crossed(inner, place), span }
  return { type: 'name', name, key: inner.trim() === '' ? 'empty' : key(inner, place), span }
}

function crossed(text: string, span: Span): readonly string[] {
  const names = text.split(',').map(name => name.trim())
  if (names.some(name => name === '' || /[()'"=]/.test(name)))
    throw fault('$crossjoin takes names of entity sets', span)
  return names
}

const ALIAS = /^@[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]{0,127}$/u

function key(text: string, span: Span): KeyPredicate {
  if (ALIAS.test(text)) return { type: 'alias', name: text, span }
  const [quote, equals] = [text.indexOf("'"), text.indexOf('=')]
  if (equals >= 0 && (quote < 0 || equals < quote)) return { type: 'named', parts: named(text, span), span }
  if (quote >= 0) return { type: 'value', literal: keyLiteral(text, span), span }
  if (/[()"@]/.test(text)) throw fault('a key with characters that must be enclosed in quotes', span)
  return { type: 'raw', text, span }
}

const PAIR =
  /[ \t]*([\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]{0,127})=((?:[^',]|'[^']*')+)(,|$)/uy

function named(text: string, span: Span) {
  const parts: { readonly name: string; readonly value: ODataLiteral | KeyAlias }[] = []
  PAIR.lastIndex = 0
  for (let more = true; more; ) {
    const start = PAIR.lastIndex
    const match = PAIR.exec(text)
    if (match === null) throw fault('a key with names is written name=value', span)
    const [whole, name = '', value = '', comma] = match
    const from = span.from + start + whole.indexOf('=') + 1
    if (parts.some(part => part.name === name)) throw fault(`${name} was there before`, span)
    parts.push({ name, value: keyValue(value, { from, to: from + value.length }) })
    more = comma === ','
  }
  return parts
}

function keyValue(text: string, span: Span): ODataLiteral | KeyAlias {
  const trimmed = text.trimEnd()
  return ALIAS.test(trimmed) ? { type: 'alias', name: trimmed, span } : keyLiteral(trimmed, span)
}

function keyLiteral(text: string, span: Span): ODataLiteral {
  const expression = parseExpression(text, 'key')
  if (expression.type !== 'literal') throw fault(`${text.slice(0, 60)} is no literal`, span)
  return { ...expression, span }
}

function fault(reason: string, span: Span): Fault {
  return odataFault(OPTION, reason, span)
}
