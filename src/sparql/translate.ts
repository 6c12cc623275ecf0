import { lookup } from '../model/lookup.ts'
import type { Term } from '../rdf/term.ts'
import {
  type AggregateCall,
  type AlgebraExpression,
  type Node,
  type OrderCondition,
  type Path,
  type QueryOperation,
  type SparqlOperation,
  type SparqlOperator,
  UNIT,
  type Variable,
  variablesOf,
} from './algebra.ts'
import { variable } from './build.ts'
import { EXTENSION_AGGREGATES, functionOfUntrusted } from './extensions.ts'
import { bindsAnew, isLateral } from './lateral.ts'
import type { SyntaxNode } from './relative.ts'
import { isStar, variablesInOrder } from './scope.ts'
import {
  groundTerm,
  isPath,
  NotTranslated,
  nameOf,
  nodesAt,
  partOf,
  pathOf,
  triplesOf,
} from './tree-terms.ts'
import {
  constructOperation,
  expressionOfPart,
  matchOperation,
  type PatternParts,
  patternsOperation,
  type TripleNodePart,
} from './triple-nodes.ts'

/** The elements of a group: its patterns, and the conjunction of its filters, which hold for all of it. */
interface Group {
  readonly operation: SparqlOperation
  readonly condition: AlgebraExpression | null
}

const BINARY: ReadonlySet<string> = new Set(['||', '&&', '=', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/'])

/**
 * Translates the syntax tree of a query, whose IRIs are absolute, into the algebra (SPARQL 1.1 Query, section 18.2; triple terms:
 * SPARQL 1.2 Query, section 18.3). Blank nodes of patterns, the middles of paths, keys that are expressions, and aggregates become
 * variables whose names begin with ` parsed `: no query can name one, and the evaluator has other names for its own.
 */
export class Translation {
  private readonly text: string
  private fresh = 0

  /** @param text the text of the tree */
  constructor(text: string) {
    this.text = text
  }

  /** The operation of a query. Throws {@link NotTranslated}. */
  queryOf(tree: SyntaxNode): QueryOperation {
    const { variables, input } = this.solutionsOf(tree)
    switch (tree.subType) {
      case 'select':
        return { type: 'select', variables, input }
      case 'ask':
        return { type: 'ask', input }
      case 'construct': {
        const triples = triplesOf(nodesAt(tree.template as SyntaxNode, 'triples'), label => ({
          type: 'blank',
          value: label,
        }))
        if (triples.some(({ predicate }) => isPath(predicate)))
          throw new NotTranslated('a path in a template')
        return constructOperation(triples as readonly PatternParts[], input)
      }
      case 'describe': {
        const terms = isStar(tree) ? variables.map(variable) : nodesAt(tree, 'variables').map(nameOf)
        return { type: 'describe', terms, input }
      }
    }
    throw new NotTranslated(`a query of type ${tree.subType}`)
  }

  /** Grouping, VALUES, SELECT expressions and solution modifiers (sections 18.2.4 and 18.2.5). */
  private solutionsOf(tree: SyntaxNode) {
    const { group, having, order, limitOffset } = tree.solutionModifiers as Readonly<
      Record<string, SyntaxNode | undefined>
    >
    const isSelect = tree.subType === 'select'
    const items = isSelect ? nodesAt(tree, 'variables') : []
    const aggregates = new Aggregates(() => this.hidden('aggregate'))
    const expressionOf = (node: unknown) => this.expressionOf(node as SyntaxNode, aggregates)
    const computed = items.map(({ expression }) =>
      expression === undefined ? null : expressionOf(expression),
    )
    const conditions = nodesAt(having ?? {}, 'having').map(expressionOf)
    const keys = nodesAt(order ?? {}, 'orderDefs').map(
      ({ expression, descending }): OrderCondition => ({
        expression: expressionOf(expression),
        descending: descending === true,
      }),
    )
    let input = this.operationOf(nodesAt((tree.where ?? {}) as SyntaxNode, 'patterns'))
    if (group !== undefined || aggregates.all.length > 0)
      input = this.grouped(input, nodesAt(group ?? {}, 'groupings'), aggregates.all)
    for (const condition of conditions) input = { type: 'filter', input, condition }
    if (tree.values !== undefined) input = joined(input, valuesOf(tree.values as SyntaxNode))
    // Clients expect the variables of * in the order of the query.
    const variables = isStar(tree)
      ? variablesInOrder([tree.where, tree.values], variablesOf(input))
      : items.map(item => String(((item.variable ?? item) as SyntaxNode).value))
    for (const [at, expression] of computed.entries())
      if (expression !== null) input = extended(input, variables[at] as string, expression)
    if (keys.length > 0) input = { type: 'order', input, keys }
    if (isSelect) input = { type: 'project', input, variables }
    if (tree.distinct === true) input = { type: 'distinct', input }
    if (tree.reduced === true) input = { type: 'reduced', input }
    const { limit = null, offset = 0 } = (limitOffset ?? {}) as { limit?: number; offset?: number }
    if (limit !== null || offset > 0) input = { type: 'slice', input, offset, limit }
    return { variables, input }
  }

  private grouped(
    solutions: SparqlOperation,
    groupings: readonly SyntaxNode[],
    aggregates: readonly NamedAggregate[],
  ): SparqlOperation {
    let input = solutions
    const keys = groupings.map(node => {
      if (node.subType === 'variable') return String(node.value)
      const isNamed = node.variable !== undefined
      const key = isNamed ? String((node.variable as SyntaxNode).value) : this.hidden('key').name
      input = extended(input, key, this.expressionOf((isNamed ? node.value : node) as SyntaxNode, null))
      return key
    })
    // COUNT(DISTINCT *) counts solutions, which have no other variables than those of the query (section 18.3.1).
    if (aggregates.some(({ aggregate }) => aggregate.distinct && aggregate.operand === null)) {
      const all = [...variablesOf(input)]
      const counted = all.filter(name => !name.startsWith(' ') || keys.includes(name))
      if (counted.length < all.length) input = { type: 'project', input, variables: counted }
    }
    return { type: 'group', input, keys, aggregates }
  }

  private operationOf(patterns: readonly SyntaxNode[]): SparqlOperation {
    const { operation, condition } = this.groupOf(patterns)
    return condition === null ? operation : { type: 'filter', input: operation, condition }
  }

  /** A group graph pattern (sections 18.2.2.2 and 18.2.2.6). */
  private groupOf(patterns: readonly SyntaxNode[]): Group {
    let operation = UNIT
    let condition: AlgebraExpression | null = null
    for (const pattern of patterns)
      if (pattern.subType === 'filter') {
        const own = this.expressionOf(pattern.expression as SyntaxNode, null)
        condition = condition === null ? own : { type: 'binary', operator: '&&', left: condition, right: own }
      } else operation = this.followed(operation, pattern)
    return { operation, condition }
  }

  /** The operation of some elements of a group and of the next one. */
  private followed(before: SparqlOperation, pattern: SyntaxNode): SparqlOperation {
    const patterns = nodesAt(pattern, 'patterns')
    switch (pattern.subType) {
      case 'optional': {
        if (isLateral(this.text, pattern)) {
          const right = this.operationOf(patterns)
          if (bindsAnew(right, variablesOf(before)))
            throw new NotTranslated('LATERAL that binds a variable anew')
          return { type: 'lateral', left: before, right }
        }
        const { operation, condition } = this.groupOf(patterns)
        return { type: 'leftJoin', left: before, right: operation, condition }
      }
      case 'minus':
        return { type: 'minus', left: before, right: this.operationOf(patterns) }
      case 'bind': {
        const expression = this.expressionOf(pattern.expression as SyntaxNode, null)
        return extended(before, String((pattern.variable as SyntaxNode).value), expression)
      }
      default:
        return joined(before, this.elementOf(pattern, patterns))
    }
  }

  /** The operation of an element that is joined with what is before it. */
  private elementOf(pattern: SyntaxNode, patterns: readonly SyntaxNode[]): SparqlOperation {
    switch (pattern.subType) {
      case 'bgp':
        return this.triplesOf(nodesAt(pattern, 'triples'))
      case 'group':
        return this.operationOf(patterns)
      case 'union':
        return {
          type: 'union',
          inputs: patterns
            .map(each => this.elementOf(each, nodesAt(each, 'patterns')))
            .flatMap(each => (each.type === 'union' ? each.inputs : [each])),
        }
      case 'graph':
        return { type: 'graph', name: nameOf(pattern.name as SyntaxNode), input: this.operationOf(patterns) }
      case 'service': {
        const name = nameOf(pattern.name as SyntaxNode)
        return { type: 'service', name, silent: pattern.silent === true, input: this.operationOf(patterns) }
      }
      case 'values':
        return valuesOf(pattern)
      case 'select':
        return this.solutionsOf(pattern).input
    }
    throw new NotTranslated(`a pattern of type ${pattern.subType}`)
  }

  /** A basic graph pattern, whose paths are separate operations (sections 18.2.2.3 to 18.2.2.5). */
  private triplesOf(nodes: readonly SyntaxNode[]): SparqlOperation {
    const blank = (label: string) => variable(` parsed node ${label}`)
    const parts = triplesOf(nodes, blank).flatMap(({ subject, predicate, object }) =>
      isPath(predicate)
        ? this.stepsOf(subject, pathOf(predicate as SyntaxNode), object)
        : { subject, predicate: predicate as TripleNodePart, object },
    )
    let operation = UNIT
    let patterns: PatternParts[] = []
    const complete = () => {
      if (patterns.length > 0) operation = joined(operation, patternsOperation(patterns))
      patterns = []
    }
    for (const part of parts)
      if ('path' in part) {
        complete()
        operation = joined(operation, pathOperation(part))
      } else patterns.push(part)
    complete()
    return operation
  }

  /** The patterns of a path (section 18.2.2.4). */
  private stepsOf(
    subject: TripleNodePart,
    path: Path,
    object: TripleNodePart,
  ): readonly (PatternParts | PathStep)[] {
    switch (path.type) {
      case 'link':
        return [{ subject, predicate: { type: 'iri', value: path.iri }, object }]
      case 'inverse':
        return this.stepsOf(object, path.path, subject)
      case 'sequence': {
        const ends = [subject, ...path.paths.slice(1).map(() => this.hidden('step')), object]
        return path.paths.flatMap((each, at) =>
          this.stepsOf(ends[at] as TripleNodePart, each, ends[at + 1] as TripleNodePart),
        )
      }
      default:
        return [{ subject, path, object }]
    }
  }

  /** @param aggregates takes the aggregates of the expression; null where none is possible */
  private expressionOf(node: SyntaxNode, aggregates: Aggregates | null): AlgebraExpression {
    if (node.type === 'term')
      return expressionOfPart(partOf(node, label => ({ type: 'blank', value: label })))
    const args = nodesAt(node, 'args')
    const operands = () => args.map(each => this.expressionOf(each, aggregates))
    switch (node.subType) {
      case 'operation':
        return operatorOf(String(node.operator), operands())
      case 'functionCall': {
        const name = String((node.function as SyntaxNode).value)
        if (!EXTENSION_AGGREGATES.includes(name) || args.length === 0)
          return { type: 'function', iri: functionOfUntrusted(name), arguments: operands() }
        return this.aggregated(node, { name, parameters: args.slice(1).map(groundTerm) }, args, aggregates)
      }
      case 'aggregate': {
        const own = { name: String(node.aggregation).toUpperCase() }
        const separator = node.separator === undefined ? {} : { separator: String(node.separator) }
        return this.aggregated(node, { ...own, ...separator }, nodesAt(node, 'expression'), aggregates)
      }
      case 'patternOperation': {
        const group = node.args as SyntaxNode
        const input = this.elementOf(group, nodesAt(group, 'patterns'))
        return { type: 'exists', negated: node.operator === 'notexists', input }
      }
    }
    throw new NotTranslated(`the expression ${node.subType ?? node.type}`)
  }

  private aggregated(
    { distinct }: SyntaxNode,
    call: Pick<AggregateCall, 'name' | 'separator' | 'parameters'>,
    [operand = {}]: readonly SyntaxNode[],
    aggregates: Aggregates | null,
  ): Variable {
    if (aggregates === null) throw new NotTranslated('an aggregate here')
    return aggregates.variableOf({
      ...call,
      distinct: distinct === true,
      operand: operand.type === 'wildcard' ? null : this.expressionOf(operand, null),
    })
  }

  private hidden(what: string): Variable {
    return variable(` parsed ${what} ${this.fresh++}`)
  }
}

interface NamedAggregate {
  readonly variable: string
  readonly aggregate: AggregateCall
}

/** The aggregates of a query, each once (section 18.2.4.1). */
class Aggregates {
  readonly all: NamedAggregate[] = []
  private readonly variables = new Map<string, Variable>()
  private readonly make: () => Variable

  constructor(make: () => Variable) {
    this.make = make
  }

  variableOf(aggregate: AggregateCall): Variable {
    const key = JSON.stringify(aggregate)
    const known = this.variables.get(key)
    if (known !== undefined) return known
    const made = this.make()
    this.variables.set(key, made)
    this.all.push({ variable: made.name, aggregate })
    return made
  }
}

/** The join of two operations (section 18.2.2.8): adjacent triple patterns are one basic graph pattern. */
function joined(left: SparqlOperation, right: SparqlOperation): SparqlOperation {
  if (left.type === 'bgp' && right.type === 'bgp')
    return { type: 'bgp', patterns: [...left.patterns, ...right.patterns] }
  if (left.type === 'bgp' && left.patterns.length === 0) return right
  if (right.type === 'bgp' && right.patterns.length === 0) return left
  return {
    type: 'join',
    inputs: [left, right].flatMap(each => (each.type === 'join' ? each.inputs : [each])),
  }
}

/**
 * AS names a new variable (SPARQL 1.2 Query, section 19.8, note 13): the engine reports violations that the parser misses. Throws
 * {@link NotTranslated}.
 */
function extended(input: SparqlOperation, name: string, expression: AlgebraExpression): SparqlOperation {
  if (variablesOf(input).has(name)) throw new NotTranslated(`?${name}, which is in scope already`)
  return { type: 'extend', input, variable: name, expression }
}

/** A path that is no sequence of triple patterns. */
interface PathStep {
  readonly subject: TripleNodePart
  readonly path: Path
  readonly object: TripleNodePart
}

function pathOperation({ subject, path, object }: PathStep): SparqlOperation {
  if (subject.type === 'tripleNode') throw new NotTranslated('a triple with variables here')
  return matchOperation(object, (end: Node) => ({ type: 'path', subject, path, object: end }))
}

function valuesOf(node: SyntaxNode): SparqlOperation {
  const variables = nodesAt(node, 'variables').map(({ value }) => String(value))
  if (new Set(variables).size < variables.length)
    throw new NotTranslated('VALUES that names a variable twice')
  const rows = (node.values as readonly Readonly<Record<string, SyntaxNode>>[]).map(row =>
    variables.map((name): Term | null => {
      const term = lookup(row, name)
      return term === undefined ? null : groundTerm(term)
    }),
  )
  return { type: 'values', variables, rows }
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
