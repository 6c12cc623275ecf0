import type { RuleReport } from '../mapping/compile.ts'
import { type Diagnostic, diagnosticText } from '../mapping/diagnostic.ts'
import { invalidValues } from '../mapping/report.ts'
import type { MappingRefusal } from '../publishing/mapping/mapping-file.ts'
import type { MappingReport } from '../publishing/publish-types.ts'
import { leftOutTexts } from './mapping/rules.ts'

/** Maximum diagnostics and rules shown for one publication. */
const SHOWN = 20

/** Describes a refused mapping: the reasons, and what remains in force instead. */
export function refusalText(dataset: string, { file, diagnostics, kept }: MappingRefusal): string {
  const inForce = {
    previous: 'the mapping before it stays in force',
    direct: 'the direct mapping is used',
    version: 'the version before stays in force, for its mapping does not fit the fields any more',
  }[kept]
  return `${dataset}: the mapping is refused; ${inForce}${described(file, diagnostics, dataset)}`
}

/** Describes the noteworthy results of a mapping: warnings, and rules that skipped records. */
export function mappingReportText(dataset: string, { file, diagnostics, rules }: MappingReport): string {
  const silent = rules.filter(rule => rule.predicate !== null && rule.made === 0)
  const lossy = rules.filter(rule => rule.made > 0 && invalidValues(rule) + rule.cut > 0)
  const lines = [...silent, ...lossy].map(rule => `\n  ${ruleText(rule)}`)
  const more = lines.length - SHOWN
  const rest = more > 0 ? `\n  … and ${more} more rules, see: lodestone mapping preview ${dataset}` : ''
  const said = diagnostics.filter(({ severity }) => severity !== 'info')
  return described(file, said, dataset) + lines.slice(0, SHOWN).join('') + rest
}

function described(file: string, diagnostics: readonly Diagnostic[], dataset: string): string {
  const shown = diagnostics
    .slice(0, SHOWN)
    .map(diagnostic => `\n${diagnosticText(file, diagnostic).replace(/^/gm, '  ')}`)
  const more = diagnostics.length - SHOWN
  const rest = more > 0 ? `\n  … and ${more} more, see: lodestone mapping check ${dataset}` : ''
  return shown.join('') + rest
}

/** One rule in one line: what it created, what it left out and why, and an example. */
function ruleText(rule: RuleReport): string {
  const { resource, predicate, term, made: written, examples } = rule
  const example = examples.find(({ reason }) => reason !== 'null')
  const left = [
    ...leftOutTexts(rule),
    ...(example === undefined ? [] : [`e.g. ${JSON.stringify(example.text)} of record ${example.recordId}`]),
  ]
  return `${resource}, ${predicate} ${term}: ${written} triples${left.length === 0 ? '' : ` (${left.join(', ')})`}`
}
