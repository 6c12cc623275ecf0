import type { NamedNode, Term } from '../rdf/term.ts'
import type { AlgebraOperator, Node, Variable } from './algebra.ts'

/**
 * SPARQL algebra as it is evaluated (SPARQL 1.1 Query, section 18): what a query means, however it was written. The
 * queries of Lodestone's compiler (algebra.ts) and untrusted ones (parse.ts) both become this.
 */
export type SparqlOperation =
  | { readonly type: 'bgp'; readonly patterns: readonly TriplePatternNode[] }
  | { readonly type: 'path'; readonly subject: Node; readonly path: Path; readonly object: Node }
  | { readonly type: 'join' | 'union'; readonly inputs: readonly SparqlOperation[] }
  | {
      readonly type: 'leftJoin'
      readonly left: SparqlOperation
      readonly right: SparqlOperation
      readonly condition: Formula | null
    }
  | { readonly type: 'minus'; readonly left: SparqlOperation; readonly right: SparqlOperation }
  | { readonly type: 'filter'; readonly input: SparqlOperation; readonly condition: Formula }
  | {
      readonly type: 'extend'
      readonly input: SparqlOperation
      readonly variable: string
      readonly expression: Formula
    }
  | { readonly type: 'graph'; readonly name: NamedNode | Variable; readonly input: SparqlOperation }
  /** Rows of terms, null for none. */
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
  /** Any predicate but these. */
  | { readonly type: 'negated'; readonly iris: readonly string[] }

/** An expression (SPARQL 1.1 Query, section 17); groups within EXISTS are operations. */
export type Formula =
  | Term
  | Variable
  | {
      readonly type: 'binary'
      readonly operator: AlgebraOperator
      readonly left: Formula
      readonly right: Formula
    }
  | { readonly type: 'not' | 'minus' | 'plus'; readonly operand: Formula }
  /** A built-in function by its name in capitals. */
  | { readonly type: 'builtin'; readonly name: string; readonly arguments: readonly Formula[] }
  | { readonly type: 'function'; readonly iri: string; readonly arguments: readonly Formula[] }
  | { readonly type: 'exists'; readonly negated: boolean; readonly input: SparqlOperation }
  | {
      readonly type: 'in'
      readonly operand: Formula
      readonly items: readonly Formula[]
      readonly negated: boolean
    }

/** An aggregate (SPARQL 1.1 Query, section 18.5.1), or one of Lodestone's own, named by its IRI. */
export interface AggregateCall {
  readonly name: string
  readonly distinct: boolean
  /** Null for COUNT(*). */
  readonly operand: Formula | null
  /** Of GROUP_CONCAT. */
  readonly separator?: string
  /** Further arguments, which are constants. */
  readonly parameters?: readonly Term[]
}

export interface OrderCondition {
  readonly expression: Formula
  readonly descending: boolean
}

/** A whole query. */
export type QueryOperation =
  | { readonly type: 'select'; readonly variables: readonly string[]; readonly input: SparqlOperation }
  | { readonly type: 'ask'; readonly input: SparqlOperation }
  | {
      readonly type: 'construct'
      readonly template: readonly TriplePatternNode[]
      readonly input: SparqlOperation
    }
  | {
      readonly type: 'describe'
      readonly terms: readonly (NamedNode | Variable)[]
      readonly input: SparqlOperation
    }

/** The solution with no bindings: what a group with nothing in it gives. */
export const UNIT: SparqlOperation = { type: 'bgp', patterns: [] }

/** The variables that an operation may bind, in the order in which they come (SPARQL 1.1 Query, section 18.2.1). */
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
    case 'join':
    case 'union':
      for (const input of operation.inputs) addVariables(input, found)
      break
    case 'leftJoin':
      addVariables(operation.left, found)
      addVariables(operation.right, found)
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
    case 'filter':
    case 'order':
    case 'distinct':
    case 'reduced':
    case 'slice':
      addVariables(operation.input, found)
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
    default:
      return operation satisfies never
  }
}

/** The variables that a formula reads, those within EXISTS included. */
export function variablesOfFormula(formula: Formula, found = new Set<string>()): ReadonlySet<string> {
  switch (formula.type) {
    case 'variable':
      found.add(formula.name)
      break
    case 'iri':
    case 'literal':
    case 'blank':
    case 'triple':
      break
    case 'binary':
      variablesOfFormula(formula.left, found)
      variablesOfFormula(formula.right, found)
      break
    case 'not':
    case 'minus':
    case 'plus':
      variablesOfFormula(formula.operand, found)
      break
    case 'builtin':
    case 'function':
      for (const argument of formula.arguments) variablesOfFormula(argument, found)
      break
    case 'exists':
      addReadVariables(formula.input, found)
      break
    case 'in':
      variablesOfFormula(formula.operand, found)
      for (const item of formula.items) variablesOfFormula(item, found)
      break
    default:
      formula satisfies never
  }
  return found
}

/** All variables of an operation, also those that only its filters read. */
function addReadVariables(operation: SparqlOperation, found: Set<string>): void {
  addVariables(operation, found)
  forEachFormula(operation, formula => variablesOfFormula(formula, found))
}

/** Calls back for each expression of an operation and of the operations in it. */
function forEachFormula(operation: SparqlOperation, call: (formula: Formula) => void): void {
  switch (operation.type) {
    case 'bgp':
    case 'path':
    case 'values':
      return
    case 'join':
    case 'union':
      for (const input of operation.inputs) forEachFormula(input, call)
      return
    case 'leftJoin':
      if (operation.condition !== null) call(operation.condition)
      forEachFormula(operation.left, call)
      forEachFormula(operation.right, call)
      return
    case 'minus':
      forEachFormula(operation.left, call)
      forEachFormula(operation.right, call)
      return
    case 'filter':
      call(operation.condition)
      break
    case 'extend':
      call(operation.expression)
      break
    case 'group':
      for (const { aggregate } of operation.aggregates)
        if (aggregate.operand !== null) call(aggregate.operand)
      break
    case 'order':
      for (const { expression } of operation.keys) call(expression)
      break
    case 'graph':
    case 'service':
    case 'project':
    case 'distinct':
    case 'reduced':
    case 'slice':
      break
    default:
      operation satisfies never
  }
  forEachFormula(operation.input, call)
}
