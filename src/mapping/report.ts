import type { MappingPlace, ObjectMap, ResourceRule, Segment, StatementRule } from './ir.ts'

/** Why a rule created no term from a value of a record, or had no value. */
export type SkipReason = 'null' | 'invalid-iri' | 'ill-typed' | 'invalid-datatype' | 'invalid-language'

/** A record without a term of a rule. */
export interface SkippedExample {
  /** The first record with this text. */
  readonly recordId: string
  readonly reason: SkipReason
  /** The text that could not become a term; empty if there is no value. */
  readonly text: string
  /** Number of records with this text; 1 if there is no value. */
  count: number
}

/** How often a rule created a triple, and how often it could not (Mapping 4.2). */
export interface RuleReport {
  readonly resource: string
  /** IRI of the predicate, or a description of its term map; null for the subject of the resource. */
  readonly predicate: string | null
  /** Description of the object or subject: a template, a reference, a link. */
  readonly term: string
  readonly place?: MappingPlace
  /** Triples; for a subject the created resources, each as often as a record names it. */
  made: number
  /** Records without a value that the rule needs. */
  nulls: number
  /** Texts that are no IRI. */
  invalidIri: number
  /** Texts that are no valid literal of their datatype. */
  illTyped: number
  /** Texts that are no datatype IRI, if records name the datatype. */
  invalidDatatype: number
  /** Texts that are no language tag, if records name the language. */
  invalidLanguage: number
  /** Records with too many combinations of values, some of which were omitted. */
  cut: number
  /** The first records of each reason; of one text only the first. */
  readonly examples: SkippedExample[]
}

/** Maximum examples of each reason in a report. */
const EXAMPLES = 5

export function subjectReport(rule: ResourceRule): RuleReport {
  return { ...blank(rule.key, rule.place), predicate: null, term: termDescription(rule.subject) }
}

export function statementReport(rule: ResourceRule, statement: StatementRule): RuleReport {
  const { predicate, object, place } = statement
  const name = typeof predicate === 'string' ? predicate : termDescription(predicate)
  return { ...blank(rule.key, place), predicate: name, term: termDescription(object) }
}

function blank(resource: string, place: MappingPlace | undefined) {
  const counts = { made: 0, nulls: 0, invalidIri: 0, illTyped: 0, invalidDatatype: 0, invalidLanguage: 0 }
  return { resource, ...counts, cut: 0, examples: [], ...(place === undefined ? {} : { place }) }
}

const COUNT_OF = {
  null: 'nulls',
  'invalid-iri': 'invalidIri',
  'ill-typed': 'illTyped',
  'invalid-datatype': 'invalidDatatype',
  'invalid-language': 'invalidLanguage',
} as const satisfies Record<SkipReason, keyof RuleReport>

/** Counts a record for which a rule creates no term. */
export function skip(report: RuleReport, reason: SkipReason, recordId: string, text = ''): void {
  report[COUNT_OF[reason]] += 1
  const { examples } = report
  const shown = text.slice(0, 200)
  let count = 0
  for (const example of examples) {
    if (example.reason !== reason) continue
    if (reason !== 'null' && example.text === shown) {
      example.count += 1
      return
    }
    count += 1
  }
  if (count < EXAMPLES) examples.push({ recordId, reason, text: shown, count: 1 })
}

/** Number of values that could not become a term because they are invalid. */
export function invalidValues({
  invalidIri,
  illTyped,
  invalidDatatype,
  invalidLanguage,
}: RuleReport): number {
  return invalidIri + illTyped + invalidDatatype + invalidLanguage
}

/** A template in YARRRML syntax, on one line: `http://example.org/$(name)`. */
function templateText(segments: readonly Segment[]): string {
  return segments.map(segmentText).join('')
}

function segmentText(segment: Segment): string {
  switch (segment.type) {
    case 'constant':
      return segment.text.replace(/[\r\n]+/g, ' ')
    case 'field':
      return `$(${segment.name})`
    case 'recordId':
      return '$(recordid)'
  }
}

/** Describes a term map in messages. */
export function termDescription(term: ObjectMap): string {
  switch (term.type) {
    case 'link':
      return term.resource
    case 'natural':
      return `$(${term.field})`
    case 'blank':
      return `_:${templateText(term.segments)}`
    case 'iri':
    case 'literal':
      return templateText(term.segments)
  }
}
