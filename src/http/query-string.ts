import { Fault } from '../errors.ts'

/** Query parameters by name, each with all its values in order. */
export type QueryParameters = Readonly<Record<string, string | string[]>>

/** Where the parser leaves a piece that it cannot decode: it runs where nothing may be thrown. */
const DAMAGED = Symbol('damaged')

interface ParsedQuery {
  [name: string]: string | string[]
  [DAMAGED]?: string
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
    found[DAMAGED] = error.message
  }
  return found
}

/** Throws BadRequest where the query string of a request could not be decoded. */
export function refuseDamaged(query: unknown): void {
  const piece = (query as ParsedQuery | null)?.[DAMAGED]
  if (piece === undefined) return
  const excerpt = piece.length > 60 ? `${piece.slice(0, 60)}…` : piece
  const reason = `The address cannot be decoded: ${excerpt} was found but percent-encoded UTF-8 is expected.`
  throw new Fault('BadRequest', { reason })
}

class UndecodableError extends Error {}

function readPairs(text: string, found: ParsedQuery): void {
  for (const part of text.split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const key = decode(at < 0 ? part : part.slice(0, at))
    const value = at < 0 ? '' : decode(part.slice(at + 1))
    const before = found[key]
    if (before === undefined) found[key] = value
    else if (Array.isArray(before)) before.push(value)
    else found[key] = [before, value]
  }
}

function decode(text: string): string {
  if (!ESCAPED.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new UndecodableError(text)
  }
}

const ESCAPED = /[%+]/
