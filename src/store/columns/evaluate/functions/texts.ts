import { createHash } from 'node:crypto'
import { withoutOuterSpace } from '../../../../model/white-space.ts'
import { LODESTONE } from '../../../../rdf/vocab.ts'
import { checkTextLength } from '../evaluation-limits.ts'
import { integerTerm, type TermValue, type TextValue, text, truth } from '../vectors/value.ts'
import type { ArgumentValue, ExtensionFunction } from './extension-function.ts'
import { codesWithWord, searchedWord, subjectsWithWord, valueMatches } from './search.ts'

/** Functions of texts, and of the words in them, that SPARQL lacks. */
export const TEXT_FUNCTIONS: readonly (readonly [string, ExtensionFunction])[] = [
  [
    LODESTONE.search,
    {
      isTest: true,
      // The search of a subject needs its graph, which a value alone does not identify.
      apply: () => null,
      overSubjects: ([word, mode, ...predicates], graph, context) => {
        const searched = searchedWord(word, mode)
        return searched && subjectsWithWord(graph, searched, predicates.flatMap(iriOf), context)
      },
    },
  ],
  [
    LODESTONE.matches,
    {
      isTest: true,
      apply: ([value, word, mode]) => {
        const searched = searchedWord(word, mode)
        return value === undefined || searched === null ? null : truth(valueMatches(value, searched))
      },
      overCodes: ([word, mode], column) => {
        const searched = searchedWord(word, mode)
        return searched === null ? null : codesWithWord(column, searched)
      },
    },
  ],
  [
    LODESTONE.trim,
    { apply: ([value]) => (value?.type === 'text' ? text(withoutOuterSpace(value.value)) : null) },
  ],
  [
    LODESTONE.replace,
    {
      apply: ([value, from, to]) => {
        if (value?.type !== 'text' || from?.type !== 'text' || to?.type !== 'text') return null
        // An empty text occurs nowhere, just as a pattern that matches it is an error.
        if (from.value === '') return null
        const parts = value.value.split(from.value)
        const length = value.value.length + (parts.length - 1) * to.value.length
        checkTextLength(length)
        return text(parts.join(to.value))
      },
    },
  ],
  [
    LODESTONE.indexOf,
    {
      apply: ([value, part]) => {
        if (value?.type !== 'text' || part?.type !== 'text') return null
        const at = value.value.indexOf(part.value)
        return integerTerm(at < 0 ? -1 : lengthOf(value.value.slice(0, at)))
      },
    },
  ],
  [LODESTONE.substring, { apply: ([value, start, length]) => ownSubstring(value, start, length) }],
]

function iriOf(value: TermValue): readonly string[] {
  return value.type === 'iri' ? [value.value] : []
}

/** Characters from a position that is counted from 0, or from the end where it is negative. */
function ownSubstring(value: ArgumentValue, start: ArgumentValue, length: ArgumentValue): TermValue | null {
  if (value?.type !== 'text' || start?.type !== 'number') return null
  if (length !== undefined && length.type !== 'number') return null
  const characters = [...value.value]
  const first = Math.trunc(start.value)
  const from = first < 0 ? Math.max(0, characters.length + first) : first
  const count = length === undefined ? characters.length : Math.trunc(length.value)
  return text(characters.slice(from, from + Math.max(0, count)).join(''))
}

/** Arguments of a function of texts are compatible where the second has no language or that of the first (section 17.4.3.1.2). */
export function areCompatible(left: TextValue, right: TextValue): boolean {
  return right.language === '' || right.language.toLowerCase() === left.language.toLowerCase()
}

/** Number of characters. */
export function lengthOf(value: string): number {
  let length = value.length
  for (let at = 0; at + 1 < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code < 0xd800 || code > 0xdbff) continue
    const next = value.charCodeAt(at + 1)
    if (next >= 0xdc00 && next <= 0xdfff) {
      length -= 1
      at += 1
    }
  }
  return length
}

/** Characters from a position, counted from 1, with the rounding of XPath (fn:substring). */
export function substring(value: string, start: number, length: number | null): string {
  const first = Math.round(start)
  const end = length === null ? Number.POSITIVE_INFINITY : first + Math.round(length)
  if (Number.isNaN(first) || Number.isNaN(end)) return ''
  const from = Math.max(1, first)
  if (end <= from) return ''
  const isPlain = lengthOf(value) === value.length
  if (isPlain) return value.slice(from - 1, end === Number.POSITIVE_INFINITY ? undefined : end - 1)
  return [...value].slice(from - 1, end === Number.POSITIVE_INFINITY ? undefined : end - 1).join('')
}

/** The text before or after the first occurrence of another text; empty without a language where it does not occur. */
export function around(value: TextValue, part: TextValue, side: 'before' | 'after'): TermValue {
  const at = value.value.indexOf(part.value)
  if (at < 0) return text('')
  const found = side === 'before' ? value.value.slice(0, at) : value.value.slice(at + part.value.length)
  return text(found, value.language)
}

/** Joins texts; the result has a language if all texts have the same one. */
export function concatenated(parts: readonly TextValue[]): TermValue {
  const [first] = parts
  const language = first?.language ?? ''
  const isShared = language !== '' && parts.every(part => part.language === language)
  return text(parts.map(part => part.value).join(''), isShared ? language : '')
}

/** Percent-encoding of all but unreserved characters (fn:encode-for-uri). */
export function encodeForUri(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Basic filtering with the ranges of RFC 4647, section 3.3.1; `*` matches any language. */
export function languageMatches(language: string, range: string): boolean {
  if (range === '*') return language !== ''
  const [tag, required] = [language.toLowerCase(), range.toLowerCase()]
  return tag === required || tag.startsWith(`${required}-`)
}

/** A digest in hexadecimal digits. */
export function digestOf(algorithm: string, value: string): TermValue {
  return text(createHash(algorithm).update(value).digest('hex'))
}
