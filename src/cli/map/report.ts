import { basename } from 'node:path'
import type { RuleReport } from '../../mapping/compile.ts'
import type { Diagnostic } from '../../mapping/diagnostic.ts'
import { rulesText } from '../mapping/rules.ts'

/** What became of one input. */
export interface InputReport {
  readonly file: string
  readonly iterator: string | null
  readonly records: number
  readonly triples: number
  readonly rules: readonly RuleReport[]
}

/** What `lodestone map` tells of a run. */
export interface MapReport {
  readonly mapping: string
  /** Those that the mapping declares and Turtle can have. */
  readonly prefixes: Readonly<Record<string, string>>
  readonly diagnostics: readonly Diagnostic[]
  readonly inputs: readonly InputReport[]
  readonly triples: number
  /** Texts that could become no term, where the rules of the mapping's language make that an error. */
  readonly dataErrors: number
}

/** The report as a terminal shows it: inputs, then every rule with what it made and what it left out. */
export function reportText({ inputs, triples, dataErrors, prefixes }: MapReport): string {
  const lines: string[] = []
  for (const { file, iterator, records, triples: made, rules } of inputs) {
    const where = iterator === null ? basename(file) : `${basename(file)} at ${iterator}`
    lines.push(`${where}: ${counted(records, 'record')}, ${counted(made, 'triple')}`)
    lines.push(rulesText(rules, prefixes).trimEnd())
    for (const { resource, cut } of rules)
      if (cut > 0)
        lines.push(`  ${resource}: ${counted(cut, 'record')} with too many combinations, not all are written`)
  }
  const error = dataErrors === 0 ? '' : `, and ${counted(dataErrors, 'data error')}`
  return `${[...lines, `${counted(triples, 'triple')} in all${error}`].join('\n')}\n`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
