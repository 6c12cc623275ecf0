import { termName } from './describe.ts'
import type { MappingPlace, ResourceRule, StatementRule } from './ir.ts'

/** Why a rule made nothing of a value that a record has, or had no value. */
export type SkipReason = 'null' | 'invalid-iri' | 'ill-typed'

/** A record of which a rule made nothing. */
export interface SkippedExample {
  readonly recordId: string
  readonly reason: SkipReason
  /** The text that could not become a term; empty where there is no value. */
  readonly text: string
}

/** How often a rule made a triple, and how often it could make none (mapping rules, section 8, "Data-time report"). */
export interface RuleReport {
  /** Key of the resource. */
  readonly resource: string
  /** IRI of the predicate, or how it is made; null for the subject of the resource. */
  readonly predicate: string | null
  /** What the object is, or the subject: a template, a reference, a link. */
  readonly term: string
  readonly place?: MappingPlace
  /** Triples; for a subject the resources that it was made for, each as often as a record names it. */
  made: number
  /** Records without a value that the rule needs. */
  nulls: number
  /** Texts that are no IRI. */
  invalidIri: number
  /** Texts that are no literal of their datatype, or no language tag. */
  illTyped: number
  /** Records of which not all combinations of several values were made, for they were too many. */
  cut: number
  /** The first records of each reason. */
  readonly examples: SkippedExample[]
}

/** Records of each reason that a report shows. */
export const EXAMPLES = 5

export function subjectReport(rule: ResourceRule): RuleReport {
  return { ...blank(rule.key, rule.place), predicate: null, term: termName(rule.subject) }
}

export function statementReport(rule: ResourceRule, statement: StatementRule): RuleReport {
  const { predicate, object, place } = statement
  const name = typeof predicate === 'string' ? predicate : termName(predicate)
  return { ...blank(rule.key, place), predicate: name, term: termName(object) }
}

function blank(resource: string, place: MappingPlace | undefined) {
  const counts = { made: 0, nulls: 0, invalidIri: 0, illTyped: 0, cut: 0, examples: [] }
  return { resource, ...counts, ...(place === undefined ? {} : { place }) }
}

/** Counts a record of which a rule makes nothing. */
export function skip(report: RuleReport, reason: SkipReason, recordId: string, text = ''): void {
  const before =
    reason === 'null' ? report.nulls++ : reason === 'invalid-iri' ? report.invalidIri++ : report.illTyped++
  if (before < EXAMPLES) report.examples.push({ recordId, reason, text: text.slice(0, 200) })
}
