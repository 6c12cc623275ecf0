import { Fault } from '../errors.ts'
import { lookup, setMember } from '../model/lookup.ts'
import { isSecret } from './secrets.ts'

/** Query parameters by name, each with all its values in order. */
export type QueryParameters = Readonly<Record<string, string | string[]>>

/** Where the parser leaves a piece that it cannot decode: it runs where nothing may be thrown. */
const DAMAGED = Symbol('damaged')

interface ParsedQuery {
  [name: string]: string | string[]
  [DAMAGED]?: { readonly piece: string; readonly parameter: string }
}

/**
 * Reads a query string strictly: a percent sign without two digits and bytes that are not UTF-8 are kept for
 * {@link refuseDamaged} instead of being replaced, so that a damaged filter never answers something else than was asked.
 */
export function parseQueryString(text: string): ParsedQuery {
  const found: ParsedQuery = Object.create(null)
  try {
    readPairs(text, found)
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error
    found[DAMAGED] = { piece: error.message, parameter: error.parameter }
  }
  return found
}

/** Throws BadRequest where the query string of a request could not be decoded. */
export function refuseDamaged(query: unknown): void {
  const damage = (query as ParsedQuery | null)?.[DAMAGED]
  if (damage === undefined) return
  const { piece, parameter } = damage
  if (isSecret(parameter)) {
    const reason = `The value of the ${parameter} parameter cannot be decoded: percent-encoded UTF-8 is expected.`
    throw new Fault('BadRequest', { reason })
  }
  const at = Math.max(0, piece.search(/%(?![0-7][0-9a-f])/i) - 20)
  const excerpt = `${at > 0 ? '…' : ''}${piece.slice(at, at + 60)}${piece.length > at + 60 ? '…' : ''}`
  const where = parameter === '' ? 'The address' : `The value of the ${parameter.slice(0, 40)} parameter`
  const reason = `${where} cannot be decoded: ${excerpt} was found but percent-encoded UTF-8 is expected.`
  throw new Fault('BadRequest', { reason })
}

class UndecodableError extends Error {
  readonly parameter: string

  constructor(piece: string, parameter = '') {
    super(piece)
    this.parameter = parameter
  }
}

function readPairs(text: string, found: ParsedQuery): void {
  for (const part of text.split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const key = decode(at < 0 ? part : part.slice(0, at))
    const value = at < 0 ? '' : decode(part.slice(at + 1), key)
    const before = lookup(found, key)
    if (before === undefined) setMember(found, key, value)
    else if (Array.isArray(before)) before.push(value)
    else setMember(found, key, [before, value])
  }
}

/** @param name the parameter whose value the text is */
function decode(text: string, name?: string): string {
  if (!ESCAPED.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new UndecodableError(text, name)
  }
}

const ESCAPED = /[%+]/
