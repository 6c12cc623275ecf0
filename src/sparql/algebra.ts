import type { NamedNode, Term } from '../rdf/term.ts'

/** A variable, named without its question mark. */
export interface Variable {
  readonly type: 'variable'
  readonly name: string
}

/** A term or a variable: a position of a triple pattern. */
export type Node = Term | Variable

/**
 * SPARQL algebra for evaluation (SPARQL 1.1 Query, section 18): the meaning of a query, independent of its syntax. Lodestone's
 * compiler makes it with build.ts, and untrusted queries are parsed into it (parse.ts).
 */
export type SparqlOperation =
  | { readonly type: 'bgp'; readonly patterns: readonly TriplePatternNode[] }
  | { readonly type: 'path'; readonly subject: Node; readonly path: Path; readonly object: Node }
  | { readonly type: 'join' | 'union'; readonly inputs: readonly SparqlOperation[] }
  | {
      readonly type: 'leftJoin'
      readonly left: SparqlOperation
      readonly right: SparqlOperation
      readonly condition: AlgebraExpression | null
    }
  | { readonly type: 'minus'; readonly left: SparqlOperation; readonly right: SparqlOperation }
  /** Each solution of the left side with those of the right side, in which its variables have their values (SEP-0006). */
  | { readonly type: 'lateral'; readonly left: SparqlOperation; readonly right: SparqlOperation }
  | { readonly type: 'filter'; readonly input: SparqlOperation; readonly condition: AlgebraExpression }
  | {
      readonly type: 'extend'
      readonly input: SparqlOperation
      readonly variable: string
      readonly expression: AlgebraExpression
    }
  | { readonly type: 'graph'; readonly name: NamedNode | Variable; readonly input: SparqlOperation }
  /** Rows of terms, null for unbound. */
  | {
      readonly type: 'values'
      readonly variables: readonly string[]
      readonly rows: readonly (readonly (Term | null)[])[]
    }
  | {
      readonly type: 'group'
      readonly input: SparqlOperation
      readonly keys: readonly string[]
      readonly aggregates: readonly { readonly variable: string; readonly aggregate: AggregateCall }[]
    }
  | { readonly type: 'order'; readonly input: SparqlOperation; readonly keys: readonly OrderCondition[] }
  | { readonly type: 'project'; readonly input: SparqlOperation; readonly variables: readonly string[] }
  | { readonly type: 'distinct' | 'reduced'; readonly input: SparqlOperation }
  | {
      readonly type: 'slice'
      readonly input: SparqlOperation
      readonly offset: number
      readonly limit: number | null
    }
  | {
      readonly type: 'service'
      readonly name: NamedNode | Variable
      readonly silent: boolean
      readonly input: SparqlOperation
    }

export interface TriplePatternNode {
  readonly subject: Node
  readonly predicate: Node
  readonly object: Node
}

/** A property path (SPARQL 1.1 Query, section 18.2.2.3). */
export type Path =
  | { readonly type: 'link'; readonly iri: string }
  | { readonly type: 'inverse'; readonly path: Path }
  | { readonly type: 'sequence' | 'alternative'; readonly paths: readonly Path[] }
  | { readonly type: 'zeroOrMore' | 'oneOrMore' | 'zeroOrOne'; readonly path: Path }
  /** Any predicate except these. */
  | { readonly type: 'negated'; readonly iris: readonly string[] }

export type SparqlOperator = '||' | '&&' | '=' | '!=' | '<' | '<=' | '>' | '>=' | '+' | '-' | '*' | '/'

/** An expression (SPARQL 1.1 Query, section 17); groups within EXISTS are operations. */
export type AlgebraExpression =
  | Term
  | Variable
  | {
      readonly type: 'binary'
      readonly operator: SparqlOperator
      readonly left: AlgebraExpression
      readonly right: AlgebraExpression
    }
  | { readonly type: 'not' | 'minus' | 'plus'; readonly operand: AlgebraExpression }
  /** A built-in function by its name in upper case. */
  | { readonly type: 'builtin'; readonly name: string; readonly arguments: readonly AlgebraExpression[] }
  | { readonly type: 'function'; readonly iri: string; readonly arguments: readonly AlgebraExpression[] }
  | { readonly type: 'exists'; readonly negated: boolean; readonly input: SparqlOperation }
  | {
      readonly type: 'in'
      readonly operand: AlgebraExpression
      readonly items: readonly AlgebraExpression[]
      readonly negated: boolean
    }

/** An aggregate (SPARQL 1.1 Query, section 18.5.1), or one of Lodestone's own, named by its IRI. */
export interface AggregateCall {
  readonly name: string
  readonly distinct: boolean
  /** Null for COUNT(*). */
  readonly operand: AlgebraExpression | null
  /** Of GROUP_CONCAT. */
  readonly separator?: string
  /** Further arguments, which are constants. */
  readonly parameters?: readonly Term[]
}

export interface OrderCondition {
  readonly expression: AlgebraExpression
  readonly descending: boolean
}

export interface SelectOperation {
  readonly type: 'select'
  readonly variables: readonly string[]
  readonly input: SparqlOperation
}

export interface ConstructOperation {
  readonly type: 'construct'
  readonly template: readonly TriplePatternNode[]
  readonly input: SparqlOperation
}

/** A whole query. */
export type QueryOperation =
  | SelectOperation
  | ConstructOperation
  | { readonly type: 'ask'; readonly input: SparqlOperation }
  | {
      readonly type: 'describe'
      readonly terms: readonly (NamedNode | Variable)[]
      readonly input: SparqlOperation
    }

/** The solution with no bindings: the result of an empty group. */
export const UNIT: SparqlOperation = { type: 'bgp', patterns: [] }

/** The variables that an operation may bind, in order of occurrence (SPARQL 1.1 Query, section 18.2.1). */
export function variablesOf(operation: SparqlOperation): ReadonlySet<string> {
  const found = new Set<string>()
  addVariables(operation, found)
  return found
}

function addVariables(operation: SparqlOperation, found: Set<string>): void {
  const addNode = (node: Node) => {
    if (node.type === 'variable') found.add(node.name)
  }
  switch (operation.type) {
    case 'bgp':
      for (const { subject, predicate, object } of operation.patterns) {
        addNode(subject)
        addNode(predicate)
        addNode(object)
      }
      break
    case 'path':
      addNode(operation.subject)
      addNode(operation.object)
      break
    case 'minus':
      addVariables(operation.left, found)
      break
    case 'extend':
      addVariables(operation.input, found)
      found.add(operation.variable)
      break
    case 'graph':
    case 'service':
      addNode(operation.name)
      addVariables(operation.input, found)
      break
    case 'values':
    case 'project':
      for (const variable of operation.variables) found.add(variable)
      break
    case 'group':
      for (const key of operation.keys) found.add(key)
      for (const { variable } of operation.aggregates) found.add(variable)
      break
    case 'join':
    case 'union':
    case 'leftJoin':
    case 'lateral':
    case 'filter':
    case 'order':
    case 'distinct':
    case 'reduced':
    case 'slice':
      for (const input of inputsOf(operation)) addVariables(input, found)
      break
    default:
      operation satisfies never
  }
}

/** The variables that every solution of an operation binds. */
export function certainVariables(operation: SparqlOperation): ReadonlySet<string> {
  switch (operation.type) {
    case 'bgp':
    case 'path':
      return variablesOf(operation)
    case 'join':
      return new Set(operation.inputs.flatMap(input => [...certainVariables(input)]))
    case 'union': {
      const [first = new Set<string>(), ...others] = operation.inputs.map(certainVariables)
      return new Set([...first].filter(name => others.every(other => other.has(name))))
    }
    case 'lateral':
      return new Set([...certainVariables(operation.left), ...certainVariables(operation.right)])
    case 'leftJoin':
    case 'minus':
      return certainVariables(operation.left)
    case 'filter':
    case 'order':
    case 'distinct':
    case 'reduced':
    case 'slice':
    case 'extend':
      return certainVariables(operation.input)
    case 'graph': {
      const inner = certainVariables(operation.input)
      return operation.name.type === 'variable' ? new Set([...inner, operation.name.name]) : inner
    }
    case 'service':
      return new Set()
    case 'values':
      return new Set(operation.variables.filter((_, at) => operation.rows.every(row => row[at] != null)))
    case 'project': {
      const inner = certainVariables(operation.input)
      return new Set(operation.variables.filter(name => inner.has(name)))
    }
    case 'group': {
      const inner = certainVariables(operation.input)
      return new Set(operation.keys.filter(name => inner.has(name)))
    }
  }
}

/** The operations that an operation combines. */
export function inputsOf(operation: SparqlOperation): readonly SparqlOperation[] {
  if ('inputs' in operation) return operation.inputs
  if ('left' in operation) return [operation.left, operation.right]
  return 'input' in operation ? [operation.input] : []
}

/** The expressions of an operation itself. */
export function expressionsOf(operation: SparqlOperation): readonly AlgebraExpression[] {
  switch (operation.type) {
    case 'filter':
      return [operation.condition]
    case 'leftJoin':
      return operation.condition === null ? [] : [operation.condition]
    case 'extend':
      return [operation.expression]
    case 'group':
      return operation.aggregates.flatMap(({ aggregate }) => aggregate.operand ?? [])
    case 'order':
      return operation.keys.map(({ expression }) => expression)
    default:
      return []
  }
}

/** The operands of an expression; the group within EXISTS is no operand. */
export function operandsOf(expression: AlgebraExpression): readonly AlgebraExpression[] {
  switch (expression.type) {
    case 'binary':
      return [expression.left, expression.right]
    case 'not':
    case 'minus':
    case 'plus':
      return [expression.operand]
    case 'builtin':
    case 'function':
      return expression.arguments
    case 'in':
      return [expression.operand, ...expression.items]
    default:
      return []
  }
}

/** The variables that an expression reads, including those within EXISTS. */
export function variablesOfExpression(
  expression: AlgebraExpression,
  found = new Set<string>(),
): ReadonlySet<string> {
  if (expression.type === 'variable') found.add(expression.name)
  if (expression.type === 'exists') {
    addVariables(expression.input, found)
    variablesRead(expression.input, found)
  }
  for (const operand of operandsOf(expression)) variablesOfExpression(operand, found)
  return found
}

/** The variables that the expressions of an operation and of its inputs read. */
export function variablesRead(operation: SparqlOperation, found = new Set<string>()): ReadonlySet<string> {
  for (const expression of expressionsOf(operation)) variablesOfExpression(expression, found)
  for (const input of inputsOf(operation)) variablesRead(input, found)
  return found
}

/** All variables of an operation, its inputs and its expressions, in scope or not. */
export function variablesMentioned(operation: SparqlOperation): ReadonlySet<string> {
  const found = new Set(variablesRead(operation))
  const add = (each: SparqlOperation) => {
    addVariables(each, found)
    inputsOf(each).forEach(add)
  }
  add(operation)
  return found
}

/** The graphs that an operation names, including those within EXISTS. */
export function graphsNamed(operation: SparqlOperation, found = new Set<string>()): ReadonlySet<string> {
  if (operation.type === 'graph' && operation.name.type === 'iri') found.add(operation.name.value)
  for (const expression of expressionsOf(operation)) addGraphs(expression, found)
  for (const input of inputsOf(operation)) graphsNamed(input, found)
  return found
}

function addGraphs(expression: AlgebraExpression, found: Set<string>): void {
  if (expression.type === 'exists') graphsNamed(expression.input, found)
  for (const operand of operandsOf(expression)) addGraphs(operand, found)
}

/** The operands of a conjunction. */
export function conjuncts(condition: AlgebraExpression): readonly AlgebraExpression[] {
  return condition.type === 'binary' && condition.operator === '&&'
    ? [...conjuncts(condition.left), ...conjuncts(condition.right)]
    : [condition]
}

export function isConstantExpression(
  expression: AlgebraExpression,
): expression is Extract<AlgebraExpression, { type: 'iri' | 'literal' | 'blank' }> {
  return expression.type === 'iri' || expression.type === 'literal' || expression.type === 'blank'
}

/** The expressions and the operations of a type. */
export type ExpressionOf<Type extends AlgebraExpression['type']> = Extract<AlgebraExpression, { type: Type }>
export type OperationOf<Type extends SparqlOperation['type']> = Extract<SparqlOperation, { type: Type }>
