import {
  afterColon,
  BACKSLASH,
  CLOSE,
  COMMA,
  OPEN,
  OPEN_ARRAY,
  QUOTE,
  skipSpace,
  stringEnd,
  valueEnd,
} from './json-bytes-value.ts'

/** Where the elements of an array begin to which names lead from the root; the complement of where they do not. */
export function enterArray(bytes: Uint8Array, root: number, names: readonly Uint8Array[]): number {
  let at = root
  for (const name of names) {
    if (bytes[at] !== OPEN) return ~at
    at = skipSpace(bytes, at + 1)
    for (;;) {
      const { value, isNamed } = member(bytes, at, name)
      if (value < 0) return value
      at = value
      if (isNamed) break
      at = valueEnd(bytes, at)
      if (at < 0) return at
      at = skipSpace(bytes, at)
      if (bytes[at] !== COMMA) return ~at
      at = skipSpace(bytes, at + 1)
    }
  }
  return bytes[at] === OPEN_ARRAY ? at + 1 : ~at
}

/** Where the document ends, from behind that array; the complement of where it does not, or of a name that is there twice. */
export function leaveArray(bytes: Uint8Array, end: number, names: readonly Uint8Array[]): number {
  let at = end
  for (const name of names.toReversed()) at = at < 0 ? at : objectEnd(bytes, at, name)
  return at < 0 ? at : skipSpace(bytes, at)
}

/** Where an object ends, from behind one of its values, if it has no more members of a name. */
export function objectEnd(bytes: Uint8Array, behind: number, name: Uint8Array): number {
  let at = skipSpace(bytes, behind)
  while (bytes[at] === COMMA) {
    at = skipSpace(bytes, at + 1)
    const { value, isNamed } = member(bytes, at, name)
    if (isNamed) return ~at
    at = value < 0 ? value : valueEnd(bytes, value)
    if (at < 0) return at
    at = skipSpace(bytes, at)
  }
  return bytes[at] === CLOSE ? at + 1 : ~at
}

/** A member that begins here: where its value begins, and whether it is the one of a name. */
export function member(
  bytes: Uint8Array,
  at: number,
  name: Uint8Array,
): { readonly value: number; readonly isNamed: boolean } {
  if (bytes[at] !== QUOTE) return { value: ~at, isNamed: false }
  const end = stringEnd(bytes, at + 1)
  if (end < 0) return { value: end, isNamed: false }
  const found = bytes.subarray(at + 1, end)
  // A name with escapes may be any.
  if (found.includes(BACKSLASH)) return { value: ~at, isNamed: false }
  const isNamed = found.length === name.length && found.every((byte, index) => byte === name[index])
  return { value: afterColon(bytes, end + 1), isNamed }
}
