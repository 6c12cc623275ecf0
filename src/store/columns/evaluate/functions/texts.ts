import { withoutOuterSpace } from '../../../../model/white-space.ts'
import { LODESTONE } from '../../../../rdf/vocab.ts'
import { checkTextLength } from '../limits.ts'
import { integerTerm, type TermValue, text, truth } from '../value.ts'
import type { ExtensionFunction } from './extension.ts'
import { codesWithWord, searchedWord, subjectsWithWord, valueMatches } from './search.ts'
import { lengthOf } from './text.ts'

/** Functions of texts, and of the words in them, that SPARQL lacks. */
export const TEXT_FUNCTIONS: readonly (readonly [string, ExtensionFunction])[] = [
  [
    LODESTONE.search,
    {
      isTest: true,
      // The search of a subject needs its graph, which a value alone does not identify.
      apply: () => null,
      overSubjects: ([word, mode, ...predicates], graph) => {
        const searched = searchedWord(word, mode)
        return searched === null ? null : subjectsWithWord(graph, searched, predicates.flatMap(iriOf))
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
  [LODESTONE.substring, { apply: ([value, start, length]) => substring(value, start, length) }],
]

function iriOf(value: TermValue): readonly string[] {
  return value.type === 'iri' ? [value.value] : []
}

/** Characters from a position that is counted from 0, or from the end where it is negative. */
function substring(
  value: TermValue | undefined,
  start: TermValue | undefined,
  length: TermValue | undefined,
): TermValue | null {
  if (value?.type !== 'text' || start?.type !== 'number') return null
  if (length !== undefined && length.type !== 'number') return null
  const characters = [...value.value]
  const first = Math.trunc(start.value)
  const from = first < 0 ? Math.max(0, characters.length + first) : first
  const count = length === undefined ? characters.length : Math.trunc(length.value)
  return text(characters.slice(from, from + Math.max(0, count)).join(''))
}
