import { nearest } from '../../model/did-you-mean.ts'
import { type At, type Reading, reportReading } from './reading.ts'

const SCHEME = /^([a-z][a-z0-9+.-]*):/i
const COMMON: readonly string[] = ['http', 'https', 'ftp']

/** Reports an IRI, or the beginning of a template, with a misspelt web scheme: `htp://`, `http//`. */
export function checkScheme(reading: Reading, at: At, text: string): void {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase()
  const name = scheme ?? /^([a-z]+)\/\//i.exec(text)?.[1]?.toLowerCase()
  if (name === undefined) return
  const isCommon = COMMON.includes(name)
  if (scheme !== undefined && isCommon && /^[a-z]+:\/\/[^/?#]/i.test(text)) return
  const meant = isCommon ? name : nearest(name, COMMON)
  if (meant === undefined) return
  const message = `${JSON.stringify(text.slice(0, 80))} is hardly an address of the web`
  reportReading(reading, 'iri-unusual', at, message, `Addresses of the web begin with ${meant}://`)
}

/** True if a text has a scheme, and so needs no base. */
export function hasScheme(text: string): boolean {
  return SCHEME.test(text)
}
