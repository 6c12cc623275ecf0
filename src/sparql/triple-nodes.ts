import { tripleTerm } from '../rdf/ntriples.ts'
import {
  type AlgebraExpression,
  type ConstructOperation,
  type Node,
  type SparqlOperation,
  type TriplePatternNode,
  UNIT,
  variablesOf,
} from './algebra.ts'

/** A triple term of a query with variables or blank nodes in it (SPARQL 1.2 Query, section 4.3). */
export interface TripleNode {
  readonly type: 'tripleNode'
  readonly subject: TripleNodePart
  readonly predicate: TripleNodePart
  readonly object: TripleNodePart
}

/** A position of a triple pattern. */
export type TripleNodePart = Node | TripleNode

/** A triple pattern as parsed. */
export interface PatternParts {
  readonly subject: TripleNodePart
  readonly predicate: TripleNodePart
  readonly object: TripleNodePart
}

/** The triple of some parts: a term where all parts are terms. */
export function tripleOf(
  subject: TripleNodePart,
  predicate: TripleNodePart,
  object: TripleNodePart,
): TripleNodePart {
  const isGround =
    subject.type === 'iri' &&
    predicate.type === 'iri' &&
    (object.type === 'iri' || object.type === 'literal' || object.type === 'triple')
  return isGround
    ? tripleTerm(subject, predicate, object)
    : { type: 'tripleNode', subject, predicate, object }
}

/** The triple term as an expression: a call of TRIPLE (SPARQL 1.2 Query, section 17.4.6.2). */
export function expressionOfPart(part: TripleNodePart): AlgebraExpression {
  if (part.type !== 'tripleNode') return part
  const { subject, predicate, object } = part
  return builtin('TRIPLE', expressionOfPart(subject), expressionOfPart(predicate), expressionOfPart(object))
}

/**
 * The operation of some triple patterns. A triple term with variables is matched by its parts: its pattern finds terms,
 * conditions select the triples that fit, and the variables are bound to the parts of those. It is a subquery, which is evaluated
 * before the patterns without triple terms, because those are looked up by its bindings.
 */
export function patternsOperation(patterns: readonly PatternParts[]): SparqlOperation {
  const plain: TriplePatternNode[] = []
  const matches: SparqlOperation[] = []
  for (const { subject, predicate, object } of patterns) {
    if (isNode(subject) && isNode(predicate) && isNode(object)) plain.push({ subject, predicate, object })
    else if (isNode(subject) && isNode(predicate))
      matches.push(matchOperation(object, node => bgp([{ subject, predicate, object: node }])))
    else return { type: 'values', variables: namesIn(patterns), rows: [] }
  }
  if (matches.length === 0) return bgp(plain)
  const [first] = matches
  if (matches.length === 1 && plain.length === 0 && first !== undefined) return first
  return { type: 'join', inputs: plain.length === 0 ? matches : [...matches, bgp(plain)] }
}

/** The variables of some patterns. */
function namesIn(patterns: readonly PatternParts[]): readonly string[] {
  const found = new Set<string>()
  const add = (part: TripleNodePart) => {
    if (part.type === 'variable') found.add(part.name)
    if (part.type === 'tripleNode') addParts(part)
  }
  const addParts = ({ subject, predicate, object }: PatternParts) => {
    add(subject)
    add(predicate)
    add(object)
  }
  patterns.forEach(addParts)
  return [...found]
}

/**
 * The operation of a pattern whose object may be a triple with variables.
 *
 * @param base creates the pattern for an object
 */
export function matchOperation(
  object: TripleNodePart,
  base: (object: Node) => SparqlOperation,
): SparqlOperation {
  if (object.type !== 'tripleNode') return base(object)
  const found = base(TERM)
  const bound = new Set(variablesOf(found))
  const match = new Match(bound)
  match.add(object, TERM)
  let input: SparqlOperation = { type: 'filter', input: found, condition: match.leading.reduce(and) }
  for (const [variable, expression] of match.bindings) input = { type: 'extend', input, variable, expression }
  if (match.late.length > 0) input = { type: 'filter', input, condition: match.late.reduce(and) }
  return { type: 'project', input, variables: [...bound].filter(name => name !== TERM.name) }
}

/** The variable for the triple term itself: no query can name it. */
const TERM = { type: 'variable', name: ' triple' } as const

class Match {
  /** Conditions on the term alone. */
  readonly leading: AlgebraExpression[] = []
  readonly bindings: (readonly [variable: string, expression: AlgebraExpression])[] = []
  /** Conditions on the term and on variables that are already bound. */
  readonly late: AlgebraExpression[] = []
  private readonly bound: Set<string>

  constructor(bound: Set<string>) {
    this.bound = bound
  }

  add({ subject, predicate, object }: TripleNode, term: AlgebraExpression): void {
    this.leading.push(builtin('ISTRIPLE', term))
    this.addPart(subject, builtin('SUBJECT', term))
    this.addPart(predicate, builtin('PREDICATE', term))
    this.addPart(object, builtin('OBJECT', term))
  }

  private addPart(part: TripleNodePart, expression: AlgebraExpression): void {
    if (part.type === 'tripleNode') this.add(part, expression)
    else if (part.type !== 'variable') this.leading.push(builtin('SAMETERM', expression, part))
    else if (this.bound.has(part.name)) this.late.push(builtin('SAMETERM', expression, part))
    else {
      this.bindings.push([part.name, expression])
      this.bound.add(part.name)
    }
  }
}

/**
 * A CONSTRUCT whose template may have triple terms (SPARQL 1.2 Query, section 16.2): those with variables or blank nodes are
 * computed for each solution, with one blank node for each of the template's that occurs in one of them.
 */
export function constructOperation(
  patterns: readonly PatternParts[],
  solutions: SparqlOperation,
): ConstructOperation {
  const blanks = new Set<string>()
  for (const { object } of patterns) if (object.type === 'tripleNode') addBlanks(object, blanks)
  let input = solutions
  const bind = (variable: string, expression: AlgebraExpression) => {
    input = { type: 'extend', input, variable, expression }
  }
  for (const label of blanks) bind(blankName(label), builtin('BNODE'))
  let triples = 0
  const template = patterns.map(pattern => {
    const [subject, predicate, object] = [pattern.subject, pattern.predicate, pattern.object].map(part => {
      const named = withNamedBlanks(part, blanks)
      if (isNode(named)) return named
      const name = ` triple ${triples++}`
      bind(name, expressionOfPart(named))
      return { type: 'variable', name } as const
    }) as [Node, Node, Node]
    return { subject, predicate, object }
  })
  return { type: 'construct', template, input }
}

function addBlanks({ subject, predicate, object }: TripleNode, found: Set<string>): void {
  for (const part of [subject, predicate, object])
    if (part.type === 'blank') found.add(part.value)
    else if (part.type === 'tripleNode') addBlanks(part, found)
}

function withNamedBlanks(part: TripleNodePart, blanks: ReadonlySet<string>): TripleNodePart {
  switch (part.type) {
    case 'blank':
      return blanks.has(part.value) ? { type: 'variable', name: blankName(part.value) } : part
    case 'tripleNode': {
      const [subject, predicate, object] = [part.subject, part.predicate, part.object].map(each =>
        withNamedBlanks(each, blanks),
      ) as [TripleNodePart, TripleNodePart, TripleNodePart]
      return { type: 'tripleNode', subject, predicate, object }
    }
    default:
      return part
  }
}

const blankName = (label: string): string => ` blank ${label}`

function isNode(part: TripleNodePart): part is Node {
  return part.type !== 'tripleNode'
}

function bgp(patterns: readonly TriplePatternNode[]): SparqlOperation {
  return patterns.length === 0 ? UNIT : { type: 'bgp', patterns }
}

function builtin(name: string, ...args: readonly AlgebraExpression[]): AlgebraExpression {
  return { type: 'builtin', name, arguments: args }
}

function and(left: AlgebraExpression, right: AlgebraExpression): AlgebraExpression {
  return { type: 'binary', operator: '&&', left, right }
}
