import type { RuleReport } from '../../mapping/compile.ts'
import { MAX_EXPANSION } from '../../mapping/expand.ts'
import type { SkippedExample } from '../../mapping/report.ts'
import { shortIri } from '../../publishing/mapping/mapping-preview.ts'
import { counted } from '../print.ts'

/** Describes rules one by one, each with what it created, what it left out and why (Mapping 4.2). */
export function rulesText(
  rules: readonly RuleReport[],
  prefixes: Readonly<Record<string, string>> = {},
): string {
  return rules.map(rule => ruleText(rule, prefixes)).join('')
}

const REASONS = {
  null: 'no value',
  'invalid-iri': 'no valid IRI',
  'ill-typed': 'not of the datatype',
  'invalid-datatype': 'no datatype',
  'invalid-language': 'no language tag',
} as const satisfies Record<SkippedExample['reason'], string>

function ruleText(rule: RuleReport, prefixes: Readonly<Record<string, string>>): string {
  const { resource, predicate, term, place, made: written, examples } = rule
  const what = predicate === null ? 'the subject' : shortIri(predicate, prefixes)
  const where = place === undefined ? '' : `line ${place.line}: `
  const counts = predicate === null ? counted(written, 'resource') : counted(written, 'triple')
  const left = leftOutTexts(rule)
  const omitted = left.length === 0 ? '' : `, left out: ${left.join(', ')}`
  return `  ${where}${resource}, ${what} ${shortIri(term, prefixes)}: ${counts}${omitted}\n${examplesText(examples)}`
}

/** What a rule left out, one text for each reason. */
export function leftOutTexts(rule: RuleReport): readonly string[] {
  const { nulls, invalidIri, illTyped, invalidDatatype, invalidLanguage, cut } = rule
  const reasons = [
    [nulls, 'without a value'],
    [invalidIri, REASONS['invalid-iri']],
    [illTyped, REASONS['ill-typed']],
    [invalidDatatype, REASONS['invalid-datatype']],
    [invalidLanguage, REASONS['invalid-language']],
  ] as const
  const texts = reasons.flatMap(([count, reason]) => (count > 0 ? [`${count} ${reason}`] : []))
  if (cut > 0) texts.push(`combinations of ${counted(cut, 'record')} beyond the first ${MAX_EXPANSION}`)
  return texts
}

/** An example of a value that could not become a term: how often, and the first record that has it. */
function exampleText({ reason, text, recordId, count }: SkippedExample): string {
  const where = count === 1 ? `record ${recordId}` : `${count} times, first in record ${recordId}`
  return `${REASONS[reason]}: ${JSON.stringify(text)} (${where})`
}

/** The records that were left out; those without a value are listed only by id. */
function examplesText(examples: readonly SkippedExample[]): string {
  const empty = examples.filter(({ reason }) => reason === 'null').map(({ recordId }) => recordId)
  const lines = examples
    .filter(({ reason }) => reason !== 'null')
    .map(example => `    ${exampleText(example)}\n`)
  if (empty.length > 0) lines.push(`    ${REASONS.null}: record ${empty.join(', ')}\n`)
  return lines.join('')
}
