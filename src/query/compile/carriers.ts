import { any } from '../conditions.ts'
import { type Condition, fieldsOf, type Word } from '../plan.ts'
import { technicalName } from '../technical.ts'
import { requiredFields, scans } from './drives.ts'
import { escapePattern, wordPattern } from './text.ts'

/** Negations of what one triple pattern carries are the negation of any of them: read once. */
export function joinNegations(operands: readonly Condition[]): readonly Condition[] {
  const negations = new Map<string, Condition[]>()
  const others = operands.filter(operand => {
    const carrier = operand.type === 'not' ? carrierOf(operand.operand) : null
    if (operand.type !== 'not' || carrier === null) return true
    negations.set(carrier, [...(negations.get(carrier) ?? []), operand.operand])
    return false
  })
  return [
    ...others,
    ...[...negations.values()].map((negated): Condition => ({ type: 'not', operand: any(negated) })),
  ]
}

/** What one triple pattern of a record brings all that a condition tests: a field with one value, or its words. */
export function carrierOf(condition: Condition): string | null {
  switch (condition.type) {
    case 'and':
    case 'or': {
      const [first = null, ...others] = condition.operands.map(carrierOf)
      return others.every(other => other === first) ? first : null
    }
    case 'words':
      return 'words'
    case 'like':
      if (condition.words.some(isFuzzy)) return null
      break
    case 'not':
    case 'always':
      return null
    case 'relation': {
      const fields = [...fieldsOf(condition.left), ...fieldsOf(condition.right)]
      const isPlain = fields.every(field => !field.multivalued && technicalName(field) === undefined)
      const required = [...requiredFields(condition.left), ...requiredFields(condition.right)]
      if (!isPlain || fields.length === 0 || required.length < fields.length) return null
      return `fields ${[...new Set(fields.map(({ name }) => name))].sort()}`
    }
    default:
  }
  const { field } = condition
  return field.multivalued || technicalName(field) !== undefined ? null : `field ${field.name}`
}

/** Conditions that the same triple pattern carries, together, where any of them reads all its values anyway. */
export function byCarrier(operands: readonly Condition[]): readonly (readonly Condition[])[] {
  const groups = new Map<unknown, Condition[]>()
  for (const operand of operands) {
    const carrier = carrierOf(operand) ?? operand
    groups.set(carrier, [...(groups.get(carrier) ?? []), operand])
  }
  return [...groups.values()].flatMap(group => (group.some(scans) ? [group] : group.map(each => [each])))
}

/** The regular expression of a search for one word that is not misspelt; null for any other condition. */
export function patternOf(condition: Condition): string | null {
  const isSearch = condition.type === 'words' || condition.type === 'like'
  const [word, ...others] = isSearch ? condition.words : []
  if (word === undefined || others.length > 0 || isFuzzy(word)) return null
  if (isPhrase(word) && condition.type === 'words') return null
  if (condition.type === 'like') return wordPattern(word)
  return word.mode === 'prefix' ? ` ${escapePattern(word.text)}` : ` ${escapePattern(word.text)} `
}

/** The first of what a combination combines. */
export function firstLeaf(condition: Condition): Condition {
  const [first] = condition.type === 'and' || condition.type === 'or' ? condition.operands : []
  return first === undefined ? condition : firstLeaf(first)
}

/** True for words that are found by a regular expression only. */
export function isFuzzy({ mode }: Word): boolean {
  return mode === 'fuzzy' || mode === 'unfinished'
}

/** True for several words in a row within one value. */
export function isPhrase({ text }: Word): boolean {
  return text.includes(' ')
}
