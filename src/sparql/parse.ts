import { toAlgebra } from '@traqula/algebra-sparql-1-2'
import { lookup } from '../model/lookup.ts'
import type { NamedNode, Term } from '../rdf/term.ts'
import { RDF } from '../rdf/vocab.ts'
import {
  type AggregateCall,
  type AlgebraExpression,
  type Node,
  type OrderCondition,
  type Path,
  type QueryOperation,
  type SparqlOperation,
  type SparqlOperator,
  type Variable,
  variablesOf,
} from './algebra.ts'
import { functionOfUntrusted, liftAggregates, namedAggregate } from './extensions.ts'
import { markLaterals, optionalOrLateral } from './lateral.ts'
import { resolveTree, type SyntaxNode } from './relative.ts'
import { syntaxTree } from './syntax.ts'
import {
  constructOperation,
  expressionOfPart,
  matchOperation,
  type PatternParts,
  patternsOperation,
  type TripleNodePart,
  tripleOf,
} from './triple-nodes.ts'

/** A parsed query. */
export interface ParsedQuery {
  readonly query: QueryOperation
  /** The base IRI that it declares; otherwise the given one. */
  readonly base: string | null
  /** The graphs that its FROM clauses name; null where it has none. */
  readonly dataset: {
    readonly defaultGraphs: readonly string[]
    readonly namedGraphs: readonly string[]
  } | null
}

/** A query with a construct that has no operation here. */
class NotTranslated extends Error {
  constructor(what: string) {
    super(`no operation for ${what}`)
    this.name = 'NotTranslated'
  }
}

/**
 * Parses a SPARQL query into the algebra. Throws the errors of the parser, which have positions, and {@link NotTranslated}.
 *
 * @param base base of relative IRIs
 */
export function parseQuery(text: string, base?: string): ParsedQuery {
  const { tree, flaw } = syntaxTree(text)
  if (flaw !== null) throw flaw
  return translateTree(text, tree, resolveTree(tree, base ?? null).base)
}

/**
 * The algebra of a query whose IRIs are resolved. Throws {@link NotTranslated}, and errors of the library.
 *
 * @param text the text of the tree
 * @param base base that the IRIs were resolved against
 */
export function translateTree(text: string, tree: SyntaxNode, base: string | null): ParsedQuery {
  markLaterals(text, tree)
  liftAggregates(tree)
  const algebra = toAlgebra(tree as unknown as Parameters<typeof toAlgebra>[0], {
    quads: false,
    blankToVariable: true,
    ...(base === null ? {} : { baseIRI: base }),
  })
  hideFromCounts(algebra, variablesWithin(tree))
  const parsed = translateQuery(algebra as unknown as Json)
  const { query } = parsed
  if (query.type !== 'select' || !isStar(tree)) return { base, ...parsed }
  // Libraries sort the variables of * by name; clients expect the order of the query.
  const selected = new Set(query.variables)
  return {
    ...parsed,
    base,
    query: { ...query, variables: variablesInOrder([tree.where, tree.values], selected) },
  }
}

/** True for a query that selects all variables in scope. */
export function isStar({ variables }: SyntaxNode): boolean {
  return Array.isArray(variables) && variables.some(({ type }: SyntaxNode) => type === 'wildcard')
}

/** The given variables, in the order in which they occur in a part of the syntax tree. */
export function variablesInOrder(part: unknown, some: ReadonlySet<string>): readonly string[] {
  return [...variablesWithin(part)].filter(name => some.has(name))
}

/** The variables in a part of the syntax tree, or of the library's algebra. */
function variablesWithin(part: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof part !== 'object' || part === null) return found
  const { type, subType, termType, value } = part as Json
  if (termType === 'Variable' || (type === 'term' && subType === 'variable')) found.add(String(value))
  else for (const each of Object.values(part)) variablesWithin(each, found)
  return found
}

/**
 * Projects what COUNT(DISTINCT *) counts to the variables of the query: blank nodes and the middles of paths are variables of the
 * algebra, but not of its solutions (SPARQL 1.1 Query, section 18.3.1).
 */
function hideFromCounts(part: unknown, visible: ReadonlySet<string>): void {
  if (typeof part !== 'object' || part === null) return
  for (const each of Object.values(part)) hideFromCounts(each, visible)
  const { type, input, variables, aggregates } = part as Json
  const isOfRows = (each: Json) => each.distinct === true && (each.expression as Json).subType === 'wildcard'
  if (type !== 'group' || !(aggregates as readonly Json[]).some(isOfRows)) return
  const names = new Set([...visible, ...valuesOf(variables)])
  const found = [...variablesWithin(input)]
  const counted = found.filter(name => names.has(name)).map(value => ({ value }))
  if (counted.length < found.length)
    Object.assign(part, { input: { type: 'project', input, variables: counted } })
}

/** The term of a variable in a row of VALUES. A variable `__proto__` was set as the prototype of its row. */
function bound(row: Readonly<Record<string, RdfTerm>>, name: string): RdfTerm | undefined {
  const found = lookup(row, name) ?? lookup(row, `?${name}`)
  if (found !== undefined || name !== '__proto__') return found
  const prototype = Object.getPrototypeOf(row) as RdfTerm | null
  return prototype !== null && Object.hasOwn(prototype, 'termType') ? prototype : undefined
}

/** The algebra of Traqula as the tree of plain objects that it is. */
type Json = {
  readonly type: string
  readonly subType?: string
  readonly input?: Json | readonly Json[]
  readonly [key: string]: unknown
}

interface RdfTerm {
  readonly termType: string
  readonly value: string
  readonly datatype?: RdfTerm
  readonly language?: string
  readonly direction?: string
  readonly subject?: RdfTerm
  readonly predicate?: RdfTerm
  readonly object?: RdfTerm
}

function translateQuery(json: Json): Omit<ParsedQuery, 'base'> {
  switch (json.type) {
    case 'from': {
      const dataset = { defaultGraphs: valuesOf(json.default), namedGraphs: valuesOf(json.named) }
      return { ...translateQuery(only(json)), dataset }
    }
    case 'ask':
      return { query: { type: 'ask', input: inputOf(json) }, dataset: null }
    case 'construct': {
      const template = (json.template as readonly Json[]).map(patternOf)
      return { query: constructOperation(template, inputOf(json)), dataset: null }
    }
    case 'describe': {
      const terms = (json.terms as readonly RdfTerm[])
        .map(nodeOf)
        .filter(node => node.type === 'iri' || node.type === 'variable')
      return { query: { type: 'describe', terms, input: inputOf(json) }, dataset: null }
    }
    default: {
      const limited = json.type === 'slice' ? only(json) : null
      // LIMIT and OFFSET are of the solutions (SPARQL 1.1 Query, section 18.2.5); the library puts them around the query form.
      if (limited?.type === 'construct' || limited?.type === 'describe')
        return translateQuery({ ...limited, input: { ...json, input: only(limited) } })
      const input = operationOf(json)
      return { query: { type: 'select', variables: projectionOf(input), input }, dataset: null }
    }
  }
}

/** The variables of the outermost projection, in order. */
function projectionOf(operation: SparqlOperation): readonly string[] {
  switch (operation.type) {
    case 'project':
      return operation.variables
    case 'distinct':
    case 'reduced':
    case 'slice':
    case 'order':
      return projectionOf(operation.input)
    default:
      throw new NotTranslated(`a query that begins with ${operation.type}`)
  }
}

function only({ input }: Json): Json {
  return (Array.isArray(input) ? input[0] : input) as Json
}

function inputs({ input }: Json): readonly Json[] {
  return (Array.isArray(input) ? input : [input]) as readonly Json[]
}

function inputOf(json: Json): SparqlOperation {
  return operationOf(only(json))
}

/** The values of some terms: names of variables, or IRIs. */
function valuesOf(terms: unknown): readonly string[] {
  return (terms as readonly RdfTerm[]).map(({ value }) => value)
}

function operationOf(json: Json): SparqlOperation {
  switch (json.type) {
    case 'bgp':
      return patternsOperation((json.patterns as readonly Json[]).map(patternOf))
    case 'path': {
      const subject = nodeOf(json.subject as RdfTerm)
      const path = pathOf(json.predicate as Json)
      const matched = (object: Node): SparqlOperation => ({ type: 'path', subject, path, object })
      return matchOperation(partOf(json.object as RdfTerm), matched)
    }
    case 'join':
    case 'union':
      return { type: json.type, inputs: inputs(json).map(operationOf) }
    case 'leftjoin': {
      const [left, right] = inputs(json) as [Json, Json]
      const condition = json.expression === undefined ? null : expressionOf(json.expression as Json)
      const operation = optionalOrLateral(operationOf(left), operationOf(right), condition)
      if (operation === null) throw new NotTranslated('LATERAL that binds a variable anew')
      return operation
    }
    case 'minus': {
      const [left, right] = inputs(json) as [Json, Json]
      return { type: 'minus', left: operationOf(left), right: operationOf(right) }
    }
    case 'filter':
      return { type: 'filter', input: inputOf(json), condition: expressionOf(json.expression as Json) }
    case 'extend': {
      const input = inputOf(json)
      const variable = (json.variable as RdfTerm).value
      // AS names a new variable (SPARQL 1.2 Query, section 19.8, note 13); the engine reports violations that this check misses.
      if (variablesOf(input).has(variable)) throw new NotTranslated(`?${variable}, which is in scope already`)
      return { type: 'extend', input, variable, expression: expressionOf(json.expression as Json) }
    }
    case 'graph':
      return { type: 'graph', name: nameOf(json.name as RdfTerm), input: inputOf(json) }
    case 'service': {
      const name = nameOf(json.name as RdfTerm)
      return { type: 'service', name, silent: json.silent === true, input: inputOf(json) }
    }
    case 'values': {
      const variables = valuesOf(json.variables)
      if (new Set(variables).size < variables.length)
        throw new NotTranslated('VALUES that names a variable twice')
      const rows = (json.bindings as readonly Readonly<Record<string, RdfTerm>>[]).map(binding =>
        variables.map(name => {
          const term = bound(binding, name)
          return term === undefined ? null : (nodeOf(term) as Term)
        }),
      )
      return { type: 'values', variables, rows }
    }
    case 'group': {
      const aggregates = (json.aggregates as readonly Json[]).map(each => ({
        variable: (each.variable as RdfTerm).value,
        aggregate: aggregateOf(each),
      }))
      return { type: 'group', input: inputOf(json), keys: valuesOf(json.variables), aggregates }
    }
    case 'orderby':
      return { type: 'order', input: inputOf(json), keys: (json.expressions as readonly Json[]).map(orderOf) }
    case 'project':
      return { type: 'project', input: inputOf(json), variables: valuesOf(json.variables) }
    case 'distinct':
    case 'reduced':
      return { type: json.type, input: inputOf(json) }
    case 'slice': {
      const { start = 0, length = null } = json as { readonly start?: number; readonly length?: number }
      return { type: 'slice', input: inputOf(json), offset: start, limit: length }
    }
    case 'nop':
      return { type: 'bgp', patterns: [] }
    default:
      throw new NotTranslated(json.type)
  }
}

function patternOf(json: Json): PatternParts {
  return {
    subject: partOf(json.subject as RdfTerm),
    predicate: partOf(json.predicate as RdfTerm),
    object: partOf(json.object as RdfTerm),
  }
}

function nodeOf(term: RdfTerm): Node {
  const part = partOf(term)
  if (part.type === 'tripleNode') throw new NotTranslated('a triple with variables here')
  return part
}

function partOf(term: RdfTerm): TripleNodePart {
  switch (term.termType) {
    case 'NamedNode':
      return { type: 'iri', value: term.value }
    case 'Variable':
      return { type: 'variable', name: term.value }
    case 'BlankNode':
      return { type: 'blank', value: term.value }
    case 'Literal': {
      const direction = term.direction === undefined || term.direction === '' ? '' : `--${term.direction}`
      const language = `${term.language ?? ''}${direction}`
      const datatype =
        language === '' ? (term.datatype?.value ?? '') : direction === '' ? RDF.langString : RDF.dirLangString
      return { type: 'literal', value: term.value, datatype, language }
    }
    case 'Quad': {
      const { subject, predicate, object } = term
      if (subject === undefined || predicate === undefined || object === undefined) break
      return tripleOf(partOf(subject), partOf(predicate), partOf(object))
    }
  }
  throw new NotTranslated(`a term of type ${term.termType}`)
}

function nameOf(term: RdfTerm): NamedNode | Variable {
  const node = nodeOf(term)
  if (node.type === 'iri' || node.type === 'variable') return node
  throw new NotTranslated(`a graph named by a ${node.type}`)
}

const CLOSURES = {
  ZeroOrMorePath: 'zeroOrMore',
  OneOrMorePath: 'oneOrMore',
  ZeroOrOnePath: 'zeroOrOne',
} as const

function pathOf(json: Json): Path {
  switch (json.type) {
    case 'link':
      return { type: 'link', iri: (json.iri as RdfTerm).value }
    case 'inv':
      return { type: 'inverse', path: pathOf(json.path as Json) }
    case 'seq':
      return { type: 'sequence', paths: inputs(json).map(pathOf) }
    case 'alt':
      return { type: 'alternative', paths: inputs(json).map(pathOf) }
    case 'nps':
      return { type: 'negated', iris: valuesOf(json.iris) }
    default: {
      const type = lookup(CLOSURES, json.type)
      if (type === undefined) throw new NotTranslated(`the path ${json.type}`)
      return { type, path: pathOf(json.path as Json) }
    }
  }
}

function orderOf(json: Json): OrderCondition {
  const [operand] = (json.args as readonly Json[] | undefined) ?? []
  const isDirected = json.operator === 'desc' || json.operator === 'asc'
  const expression = expressionOf(isDirected && operand !== undefined ? operand : json)
  return { expression, descending: json.operator === 'desc' && operand !== undefined }
}

function aggregateOf(json: Json): AggregateCall {
  const expression = json.expression as Json
  const own = namedAggregate(String(json.aggregator))
  if (own !== null) return { ...own, distinct: json.distinct === true, operand: expressionOf(expression) }
  return {
    name: String(json.aggregator).toUpperCase(),
    distinct: json.distinct === true,
    operand: expression.subType === 'wildcard' ? null : expressionOf(expression),
    ...(json.separator === undefined ? {} : { separator: String(json.separator) }),
  }
}

const BINARY: ReadonlySet<string> = new Set(['||', '&&', '=', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/'])

function expressionOf(json: Json): AlgebraExpression {
  switch (json.subType) {
    case 'term':
      return expressionOfPart(partOf(json.term as RdfTerm))
    case 'existence':
      return { type: 'exists', negated: json.not === true, input: inputOf(json) }
    case 'named':
      return {
        type: 'function',
        iri: functionOfUntrusted((json.name as RdfTerm).value),
        arguments: (json.args as readonly Json[]).map(expressionOf),
      }
    case 'operator':
      return operatorOf(String(json.operator), (json.args as readonly Json[]).map(expressionOf))
    default:
      throw new NotTranslated(`the expression ${json.subType}`)
  }
}

function operatorOf(name: string, args: readonly AlgebraExpression[]): AlgebraExpression {
  const [first, second] = args
  if (first !== undefined) {
    if (name === '!') return { type: 'not', operand: first }
    if (name === 'uminus') return { type: 'minus', operand: first }
    if (name === 'uplus') return { type: 'plus', operand: first }
    if (name === 'in' || name === 'notin')
      return { type: 'in', operand: first, items: args.slice(1), negated: name === 'notin' }
    if (second !== undefined && BINARY.has(name))
      return { type: 'binary', operator: name as SparqlOperator, left: first, right: second }
  }
  return { type: 'builtin', name: name.toUpperCase(), arguments: args }
}
