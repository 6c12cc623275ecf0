import { createHash } from 'node:crypto'

/** A strong entity tag from everything that decides the bytes of an answer (RFC 9110, section 8.8.3). */
export function entityTag(...parts: readonly string[]): string {
  return `"${createHash('sha1').update(JSON.stringify(parts)).digest('base64url')}"`
}

/** True where If-None-Match names the tag, so that 304 is the answer (RFC 9110, section 13.1.2). */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.split(',').some(part => [tag, `W/${tag}`, '*'].includes(part.trim()))
}
