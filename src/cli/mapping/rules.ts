import { shortIri } from '../../catalog/mapping-preview.ts'
import type { RuleReport } from '../../mapping/compile.ts'
import type { SkippedExample } from '../../mapping/report.ts'

/** Rules told one by one, each with what it made, what it left out and why (mapping rules, section 8, "Data-time report"). */
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
} as const satisfies Record<SkippedExample['reason'], string>

function ruleText(rule: RuleReport, prefixes: Readonly<Record<string, string>>): string {
  const { resource, predicate, term, place, made, nulls, invalidIri, illTyped, examples } = rule
  const what = predicate === null ? 'the subject' : shortIri(predicate, prefixes)
  const where = place === undefined ? '' : `line ${place.line}: `
  const counts = predicate === null ? counted(made, 'resource') : counted(made, 'triple')
  const skipped = [
    ...(nulls > 0 ? [`${nulls} without a value`] : []),
    ...(invalidIri > 0 ? [`${invalidIri} no valid IRI`] : []),
    ...(illTyped > 0 ? [`${illTyped} not of the datatype`] : []),
  ]
  const left = skipped.length === 0 ? '' : `, left out: ${skipped.join(', ')}`
  return `  ${where}${resource}, ${what} ${shortIri(term, prefixes)}: ${counts}${left}\n${examplesText(examples)}`
}

/** The records that were left out: those without a value by their ids alone. */
function examplesText(examples: readonly SkippedExample[]): string {
  const empty = examples.filter(({ reason }) => reason === 'null').map(({ recordId }) => recordId)
  const lines = examples
    .filter(({ reason }) => reason !== 'null')
    .map(
      ({ reason, text, recordId }) =>
        `    ${REASONS[reason]}: ${JSON.stringify(text)} (record ${recordId})\n`,
    )
  if (empty.length > 0) lines.push(`    ${REASONS.null}: record ${empty.join(', ')}\n`)
  return lines.join('')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
