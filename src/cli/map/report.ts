import { basename } from 'node:path'
import type { RuleReport } from '../../mapping/compile.ts'
import type { Diagnostic } from '../../mapping/diagnostic.ts'
import { rulesText } from '../mapping/rules.ts'
import type { Nulls } from './records.ts'

/** The result of one input. */
export interface InputReport {
  readonly file: string
  readonly iterator: string | null
  readonly nulls: Nulls
  readonly records: number
  /** Distinct triples that no previous input created. */
  readonly triples: number
  readonly rules: readonly RuleReport[]
}

/** The report of `lodestone map` about a run. */
export interface MapReport {
  readonly mapping: string
  /** Prefixes that the mapping declares and that are valid in Turtle. */
  readonly prefixes: Readonly<Record<string, string>>
  readonly diagnostics: readonly Diagnostic[]
  readonly inputs: readonly InputReport[]
  /** Distinct triples. */
  readonly triples: number
  /** Texts that could not become a term, if that is an error according to the rules of the mapping's language. */
  readonly dataErrors: number
}

/** Formats the report for a terminal: inputs, then every rule with what it created and what it left out. */
export function reportText({ inputs, triples, dataErrors, prefixes }: MapReport): string {
  const lines: string[] = []
  for (const { file, iterator, nulls, records, triples: written, rules } of inputs) {
    const where = iterator === null ? basename(file) : `${basename(file)} at ${iterator}`
    const absent = nulls === null ? '' : `; ${absentText(nulls)}`
    lines.push(`${where}: ${counted(records, 'record')}, ${counted(written, 'distinct triple')}${absent}`)
    lines.push(rulesText(rules, prefixes).trimEnd())
  }
  const error = dataErrors === 0 ? '' : `, and ${counted(dataErrors, 'data error')}`
  return `${[...lines, `${counted(triples, 'distinct triple')} in all${error}`].join('\n')}\n`
}

/** Describes the cells that count as absent. */
function absentText(nulls: NonNullable<Nulls>): string {
  if (nulls === 'unquoted-empty') return 'empty cells are no values, "" is an empty text'
  const named = nulls.filter(text => text !== '').map(text => JSON.stringify(text))
  if (nulls.includes('')) return `${['empty cells', ...named].join(' and ')} are no values`
  return named.length === 0
    ? 'all cells are values'
    : `${named.join(' and ')} is no value, an empty cell is one`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
