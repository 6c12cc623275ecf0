import { Fault } from '../errors.ts'

/** Query parameters by name, each with all its values in order. */
export type QueryParameters = Readonly<Record<string, string | string[]>>

/**
 * Reads a query string strictly: a percent sign without two digits or bytes that are not UTF-8 are refused instead of
 * being replaced, so that a damaged filter never answers something else than was asked.
 */
export function parseQueryString(text: string): Record<string, string | string[]> {
  const found: Record<string, string | string[]> = Object.create(null)
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
  return found
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    const excerpt = text.length > 60 ? `${text.slice(0, 60)}…` : text
    const reason = `The address cannot be decoded: ${excerpt} was found but percent-encoded UTF-8 is expected.`
    throw new Fault('BadRequest', { reason })
  }
}
