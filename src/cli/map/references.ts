import type {
  MappingPlace,
  ObjectMap,
  ResourceRule,
  Segment,
  StatementRule,
  TermMap,
} from '../../mapping/ir.ts'

/** A reference of a rule to a column. */
export interface Reference {
  readonly name: string
  readonly place: MappingPlace | undefined
  /** The place of a join over it. */
  readonly joined?: MappingPlace
}

/** The references of rules, each name once, with its first place. */
export function mapReferences(rules: readonly ResourceRule[]): readonly Reference[] {
  const found = new Map<string, Reference>()
  const joins = new Map(rules.flatMap(joinedFields))
  for (const rule of rules)
    for (const [term, place] of termsOf(rule))
      for (const { name, place: own } of ofTerm(term)) {
        const known = found.get(name)
        if (known === undefined || known.place === undefined) found.set(name, { name, place: own ?? place })
      }
  return [...found.values()].map(reference => {
    const joined = joins.get(reference.name)
    return joined === undefined ? reference : { ...reference, joined }
  })
}

function joinedFields({ statements }: ResourceRule): readonly (readonly [string, MappingPlace])[] {
  return statements.flatMap(({ object }) => {
    const joined = object.type === 'link' ? object.joined : undefined
    return joined === undefined ? [] : joined.fields.map(name => [name, joined.place] as const)
  })
}

/** The term maps of a rule, with the places of their statements. */
function* termsOf(rule: ResourceRule): Generator<readonly [TermMap, MappingPlace | undefined]> {
  yield [rule.subject, rule.place]
  for (const graph of rule.graphs ?? []) yield [graph, rule.place]
  for (const { predicate, object, graphs, place } of rule.statements) {
    if (typeof predicate !== 'string') yield [predicate, place]
    if (object.type !== 'link') yield [object, place]
    for (const graph of graphs ?? []) yield [graph, place]
  }
}

function ofTerm(term: TermMap): readonly Reference[] {
  switch (term.type) {
    case 'natural':
      return [{ name: term.field, place: term.place }]
    case 'iri':
    case 'blank':
      return ofSegments(term.segments)
    case 'literal':
      return [term.segments, term.datatype, term.language].flatMap(part =>
        typeof part === 'object' ? ofSegments(part) : [],
      )
    default:
      return term satisfies never
  }
}

function ofSegments(segments: readonly Segment[]): readonly Reference[] {
  return segments.flatMap(segment =>
    segment.type === 'field' ? [{ name: segment.name, place: segment.place }] : [],
  )
}

/** The same rule with a base for its relative IRIs if it has none of its own. */
export function withBase(rule: ResourceRule, base: string): ResourceRule {
  const term = (map: TermMap): TermMap =>
    map.type === 'iri' && map.base === undefined ? { ...map, base } : map
  const object = (map: ObjectMap): ObjectMap => (map.type === 'link' ? map : term(map))
  const statement = (of: StatementRule): StatementRule => ({
    ...of,
    predicate: typeof of.predicate === 'string' ? of.predicate : term(of.predicate),
    object: object(of.object),
    ...(of.graphs === undefined ? {} : { graphs: of.graphs.map(term) }),
  })
  return {
    ...rule,
    subject: term(rule.subject),
    statements: rule.statements.map(statement),
    ...(rule.graphs === undefined ? {} : { graphs: rule.graphs.map(term) }),
  }
}
