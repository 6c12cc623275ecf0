import { Fault } from '../../errors/errors.ts'
import { MAPPING_INVALID } from '../diagnostic.ts'
import type { ResourceRule, StatementRule, TermMap } from '../ir.ts'

/**
 * Replaces inverse statements, which RML does not have: each becomes a rule whose subject is the object, with a link to the
 * original resource.
 */
export function inverseRules(rules: readonly ResourceRule[]): readonly ResourceRule[] {
  return rules.flatMap(rule => [
    { ...rule, statements: rule.statements.filter(({ inverse }) => inverse !== true) },
    ...rule.statements
      .filter(({ inverse }) => inverse === true)
      .map((statement, index) => turned(rule, statement, index, rules)),
  ])
}

function turned(
  rule: ResourceRule,
  { predicate, object, graphs }: StatementRule,
  index: number,
  rules: readonly ResourceRule[],
): ResourceRule {
  const subject =
    object.type === 'link' ? rules.find(({ key }) => key === object.resource)?.subject : (object as TermMap)
  const refuse = (why: string) =>
    new Fault(MAPPING_INVALID, {
      reason: `An inverse statement of ${rule.key} cannot be written as RML: ${why}`,
    })
  if (subject === undefined) throw refuse('its object is a resource that the mapping has not')
  if (subject.type === 'natural' || subject.type === 'literal') throw refuse('its object is a literal')
  if (subject.type === 'blank' && subject.segments.length === 0)
    throw refuse('its object is a blank node without a name')
  const all = [...(rule.graphs ?? []), ...(graphs ?? [])]
  return {
    key: `${rule.key}-inverse-${index + 1}`,
    subject,
    statements: [{ predicate, object: { type: 'link', resource: rule.key } }],
    ...(all.length === 0 ? {} : { graphs: all }),
    ...(rule.sources === undefined ? {} : { sources: rule.sources }),
  }
}
