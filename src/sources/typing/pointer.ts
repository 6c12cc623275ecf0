import { lookup } from '../../model/lookup.ts'
import { misconfigured } from '../source.ts'

/**
 * Parses a JSON Pointer (RFC 6901) into its reference tokens: `/a~1b/0` is `a/b` and `0`, the empty text is the whole document.
 * Throws ConfigInvalid for an invalid one.
 */
export function parsePointer(text: string): readonly string[] {
  if (text === '') return []
  if (!text.startsWith('/') || /~(?![01])/.test(text))
    throw misconfigured(
      `${JSON.stringify(text)} is not a JSON Pointer.`,
      'Write /a/b, with ~1 for a slash and ~0 for a tilde within a name.',
    )
  return text
    .slice(1)
    .split('/')
    .map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Writes reference tokens as a JSON Pointer. */
export function formatPointer(tokens: readonly string[]): string {
  return tokens.map(token => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The value at a pointer, given its tokens; undefined if there is none, null within an object that is null. */
export function valueAt(value: unknown, tokens: readonly string[]): unknown {
  let found = value
  for (const token of tokens) {
    if (found === null && value !== null) return null
    if (found === null || typeof found !== 'object') return undefined
    if (Array.isArray(found) ? !/^(0|[1-9]\d*)$/.test(token) : !Object.hasOwn(found, token)) return undefined
    found = lookup(found as Readonly<Record<string, unknown>>, token)
  }
  return found
}

/**
 * The values at a path, in which the token `*` matches every element of an array and every value of an object. Absent values are
 * left out; undefined if there is no value at the part before the first `*`.
 */
export function valuesAt(value: unknown, path: readonly string[]): readonly unknown[] | undefined {
  const star = path.indexOf('*')
  const found = valueAt(value, star < 0 ? path : path.slice(0, star))
  if (found === undefined) return undefined
  if (star < 0) return [found]
  if (found === null || typeof found !== 'object') return []
  const rest = path.slice(star + 1)
  return Object.values(found).flatMap(element => valuesAt(element, rest) ?? [])
}
