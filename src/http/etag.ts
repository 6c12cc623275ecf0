import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { acceptsCoding, CODINGS, type Coding } from './encoding.ts'

/** The release of Lodestone. */
export const { version: RELEASE } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string }

/**
 * A strong entity tag from everything that decides the bytes of an answer (RFC 9110, section 8.8.3), the release of Lodestone
 * with it: another may write the same data in another way.
 */
export function entityTag(...parts: readonly string[]): string {
  return `"${createHash('sha1')
    .update(JSON.stringify([RELEASE, ...parts]))
    .digest('base64url')}"`
}

/** The tag of the same answer in a content coding: its bytes are others, so its strong tag is another. */
export function codedTag(tag: string, coding: Coding): string {
  return `${tag.slice(0, -1)}-${coding}"`
}

/** True where If-None-Match names the tag, so that 304 is the answer (RFC 9110, section 13.1.2). */
export function isKnown(ifNoneMatch: string | undefined, tag: string, acceptEncoding?: string): boolean {
  return knownTag(ifNoneMatch, tag, acceptEncoding) !== null
}

/**
 * True where If-Match names the tag or nothing needs to be matched, so that the request is answered (RFC 9110, section
 * 13.1.1). A tag in any coding is the same data; a proxy that compresses makes it weak.
 *
 * @param tag that of the answer; undefined where it has none
 */
export function isMatched(ifMatch: string | undefined, tag: string | undefined): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true
  if (tag === undefined) return false
  const tags = [tag, ...CODINGS.map(coding => codedTag(tag, coding))]
  return ifMatch.split(',').some(part => tags.includes(part.trim().replace(/^W\//, '')))
}

/**
 * The tag by which If-None-Match names an answer: its own, or its own in a coding that the client can read. Null where
 * it names none of them.
 */
export function knownTag(
  ifNoneMatch: string | undefined,
  tag: string,
  acceptEncoding?: string,
): string | null {
  if (ifNoneMatch === undefined) return null
  if (ifNoneMatch === tag || ifNoneMatch.trim() === '*') return tag
  for (const part of ifNoneMatch.split(',')) {
    const named = part.trim().replace(/^W\//, '')
    if (named === tag) return tag
    const coding = CODINGS.find(known => named === codedTag(tag, known))
    if (coding !== undefined && acceptsCoding(acceptEncoding, coding)) return named
  }
  return null
}
