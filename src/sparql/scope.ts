import { EXTENSION_AGGREGATES } from './extensions.ts'
import { isLateral } from './lateral.ts'
import { sparqlTokens } from './lexer.ts'
import { rangeOf, type SyntaxNode, type TextRange } from './relative.ts'
import { variablesInScope } from './syntax.ts'
import { isVariable } from './tree-terms.ts'

/** A violation of the rules that the grammar of a query does not express (SPARQL 1.2 Query, section 19.8). */
export interface ScopeProblem {
  /** Character offset of the variable or term concerned. */
  readonly from: number
  readonly reason: string
}

/**
 * The first misuse of aggregates: one within another, or the selection of a variable that is neither grouped nor aggregated
 * (SPARQL 1.1 Query, section 11.4).
 *
 * @param tree a query whose IRIs are resolved
 */
export function aggregateProblem(tree: SyntaxNode): ScopeProblem | null {
  for (const node of nodesOf(tree)) {
    const problem = isAggregate(node) ? nested(node) : isSelect(node) ? ungrouped(node) : null
    if (problem !== null) return problem
  }
  return null
}

/** Why engines refuse a query whose grammar is right; null if the rules of scope do not explain it. */
export function scopeProblem(text: string, tree: SyntaxNode): ScopeProblem | null {
  for (const node of nodesOf(tree)) {
    const problem = isSelect(node)
      ? reselected(node)
      : (rebound(node) ?? reboundByLateral(text, node) ?? renamedInValues(node))
    if (problem !== null) return problem
  }
  return misplacedAggregate(tree, false) ?? wrongRow(text) ?? new BlankNodeScopes().problemIn(tree)
}

const NEW_VARIABLE = 'a new variable is expected after AS.'

/** True for a query that selects all variables in scope. */
export function isStar({ variables }: SyntaxNode): boolean {
  return Array.isArray(variables) && variables.some(({ type }: SyntaxNode) => type === 'wildcard')
}

/** The given variables, in the order in which they occur in a part of the syntax tree. */
export function variablesInOrder(part: unknown, some: ReadonlySet<string>): readonly string[] {
  const found = new Set<string>()
  for (const node of nodesOf(part)) if (isVariable(node)) found.add(nameOf(node))
  return [...found].filter(name => some.has(name))
}

/** A node and all nodes within it, without those for which a condition is true, and what these contain. */
function nodesOf(part: unknown, isSkipped?: (node: SyntaxNode) => boolean): readonly SyntaxNode[] {
  const found: SyntaxNode[] = []
  const add = (part: unknown) => {
    if (typeof part !== 'object' || part === null) return
    const node = part as SyntaxNode
    if (isSkipped?.(node) === true) return
    if (!Array.isArray(part)) found.push(node)
    for (const [key, value] of Object.entries(node)) if (key !== 'loc') add(value)
  }
  add(part)
  return found
}

const isSelect = ({ type, subType }: SyntaxNode) => type === 'query' && subType === 'select'
const isPattern = ({ type }: SyntaxNode) => type === 'pattern' || type === 'query'
const isTriples = (part: unknown): part is SyntaxNode => (part as SyntaxNode | null)?.subType === 'bgp'
const nameOf = (variable: unknown) => String((variable as SyntaxNode).value)

function isAggregate(node: SyntaxNode): boolean {
  if (node.type !== 'expression') return false
  if (node.subType === 'aggregate') return true
  return node.subType === 'functionCall' && EXTENSION_AGGREGATES.includes(nameOf(node.function))
}

function problemAt(node: unknown, reason: string): ScopeProblem | null {
  const range = rangeOf(node as SyntaxNode)
  return range === null ? null : { from: range.from, reason }
}

function nested(aggregate: SyntaxNode): ScopeProblem | null {
  for (const node of nodesOf(aggregate, isPattern))
    if (node !== aggregate && isAggregate(node))
      return problemAt(node, 'an aggregate within an aggregate is not possible.')
  return null
}

/** The items of SELECT: variables, `*`, and expressions with their variables. */
const itemsOf = ({ variables }: SyntaxNode) => variables as readonly SyntaxNode[]

interface Modifiers {
  readonly group?: { readonly groupings: readonly SyntaxNode[] }
  readonly having?: SyntaxNode
  readonly order?: SyntaxNode
}

function ungrouped(select: SyntaxNode): ScopeProblem | null {
  if (!isGrouped(select)) return null
  const known = new Set(keysOf(select))
  for (const item of itemsOf(select)) {
    if (item.type === 'wildcard')
      return problemAt(item, '* cannot select from groups: variables of GROUP BY or aggregates are expected.')
    for (const node of nodesOf(isVariable(item) ? item : item.expression, isClosed))
      if (isVariable(node) && !known.has(nameOf(node)))
        return problemAt(node, `?${nameOf(node)} is expected in GROUP BY or within an aggregate.`)
    if (item.variable !== undefined) known.add(nameOf(item.variable))
  }
  return null
}

function isGrouped(select: SyntaxNode): boolean {
  const { group, having, order } = select.solutionModifiers as Modifiers
  const expressions = itemsOf(select).map(({ expression }) => expression)
  return group !== undefined || [...expressions, having, order].some(hasAggregate)
}

function keysOf({ solutionModifiers }: SyntaxNode): readonly string[] {
  const { groupings = [] } = (solutionModifiers as Modifiers).group ?? {}
  return groupings.flatMap(key =>
    isVariable(key) ? nameOf(key) : key.variable === undefined ? [] : nameOf(key.variable),
  )
}

/** Within these, variables need not be grouped. */
const isClosed = (node: SyntaxNode) => isAggregate(node) || isPattern(node)

function hasAggregate(part: unknown): boolean {
  for (const node of nodesOf(part, isPattern)) if (isAggregate(node)) return true
  return false
}

/** A variable after AS in SELECT that has a value already (note 12). Of the patterns of a grouped query the variables of GROUP BY alone have one. */
function reselected(select: SyntaxNode): ScopeProblem | null {
  const parts = isGrouped(select) ? [select.values] : [select.where, select.values]
  const inParts = parts.flatMap(part => (part === undefined ? [] : [...variablesInScope(part)]))
  const known = new Set([...inParts, ...keysOf(select)])
  for (const item of itemsOf(select)) {
    const name = nameOf(item.variable ?? item)
    if (item.variable !== undefined && known.has(name))
      return problemAt(item.variable, `?${name} is in scope already: ${NEW_VARIABLE}`)
    known.add(name)
  }
  return null
}

/**
 * The text of a query with blanks in place of variables that a SELECT names again, as it may (SPARQL 1.1 Query, section 18.2.4.4):
 * parsers and engines refuse them.
 */
export function withoutRepeatedVariables(text: string, tree: SyntaxNode): string {
  const repeated: TextRange[] = []
  for (const select of nodesOf(tree)) {
    const names = new Set<string>()
    for (const item of isSelect(select) ? itemsOf(select) : []) {
      const [name, range] = [nameOf(item.variable ?? item), rangeOf(item)]
      if (isVariable(item) && names.has(name) && range !== null) repeated.push(range)
      names.add(name)
    }
  }
  if (repeated.length === 0) return text
  const signs = text.split('')
  for (const { from, to } of repeated) signs.fill(' ', from, to)
  return signs.join('')
}

/** The variable of a BIND that the patterns before it have (note 13). */
function rebound({ patterns }: SyntaxNode): ScopeProblem | null {
  if (!Array.isArray(patterns)) return null
  const known = new Set<string>()
  for (const pattern of patterns as readonly SyntaxNode[]) {
    if (pattern.subType === 'bind' && known.has(nameOf(pattern.variable)))
      return problemAt(pattern.variable, `?${nameOf(pattern.variable)} is in scope already: ${NEW_VARIABLE}`)
    for (const name of variablesInScope(pattern)) known.add(name)
  }
  return null
}

/** A variable that a group of LATERAL binds anew, and that the patterns before it have (SEP-0006). */
function reboundByLateral(text: string, { patterns }: SyntaxNode): ScopeProblem | null {
  const known = new Set<string>()
  for (const pattern of Array.isArray(patterns) ? (patterns as readonly SyntaxNode[]) : []) {
    for (const { subType, variable, variables } of isLateral(text, pattern) ? nodesOf(pattern) : [])
      for (const each of subType === 'bind'
        ? [variable]
        : subType === 'values'
          ? (variables as unknown[])
          : [])
        if (known.has(nameOf(each)))
          return problemAt(each, `?${nameOf(each)} has a value before LATERAL: another variable is expected.`)
    for (const name of variablesInScope(pattern)) known.add(name)
  }
  return null
}

function renamedInValues({ type, subType, variables }: SyntaxNode): ScopeProblem | null {
  if (type !== 'pattern' || subType !== 'values') return null
  const known = new Set<string>()
  for (const variable of variables as readonly SyntaxNode[]) {
    if (known.has(nameOf(variable)))
      return problemAt(
        variable,
        `?${nameOf(variable)} is in this VALUES already: another variable is expected.`,
      )
    known.add(nameOf(variable))
  }
  return null
}

/** An aggregate elsewhere than in SELECT, HAVING or ORDER BY. */
function misplacedAggregate(part: unknown, isPossible: boolean): ScopeProblem | null {
  if (typeof part !== 'object' || part === null) return null
  const node = part as SyntaxNode
  if (isAggregate(node) && !isPossible)
    return problemAt(node, 'an aggregate is expected in SELECT, HAVING or ORDER BY alone.')
  const isInner = isPattern(node) ? false : isPossible
  for (const [key, value] of Object.entries(node)) {
    if (key === 'loc') continue
    const isItems = key === 'variables' && isSelect(node)
    const parts = isItems ? itemsOf(node).map(({ expression }) => expression) : value
    const problem = misplacedAggregate(parts, isItems || key === 'having' || key === 'order' || isInner)
    if (problem !== null) return problem
  }
  return null
}

/** The first row of VALUES that has more or fewer terms than there are variables; the tree has no places of rows. */
export function wrongRow(text: string): ScopeProblem | null {
  const { tokens } = sparqlTokens(text)
  const nameAt = (at: number) => tokens[at]?.tokenType.name ?? ''
  for (let at = 0; at < tokens.length; at++) {
    if (nameAt(at) !== 'Values' || nameAt(at + 1) !== 'LParen') continue
    let next = at + 2
    while (nameAt(next).startsWith('Var')) next++
    const width = next - at - 2
    for (next += 2; nameAt(next) === 'LParen'; next++) {
      const start = tokens[next]?.startOffset ?? 0
      let terms = 0
      for (next++; nameAt(next) !== 'RParen' && next < tokens.length; next++) {
        const name = nameAt(next)
        if (name === 'TripleTermOpen')
          while (next < tokens.length && nameAt(next) !== 'TripleTermClose') next++
        if (name === 'Hathat') next++
        else if (name !== 'LANG_DIR') terms++
      }
      if (terms !== width)
        return { from: start, reason: `this row of VALUES has ${terms} terms but ${width} are expected.` }
    }
  }
  return null
}

/** Finds labels of blank nodes in two basic graph patterns (SPARQL 1.1 Query, section 5.1.1). */
class BlankNodeScopes {
  private readonly scopes = new Map<string, object>()

  /** @param scope the basic graph pattern that the part belongs to, if it has triples */
  problemIn(part: unknown, scope: object = {}): ScopeProblem | null {
    if (typeof part !== 'object' || part === null) return null
    if (isTriples(part)) return this.inTriples(part, scope)
    let current = {}
    for (const [key, value] of Object.entries(part)) {
      // Labels of a template are its own (section 16.2.1).
      if (key === 'template') continue
      const problem = this.problemIn(value, current)
      if (problem !== null) return problem
      // A filter does not end the pattern that it stands in (section 5.1).
      if (!isTriples(value) && (value as SyntaxNode | null)?.subType !== 'filter') current = {}
    }
    return null
  }

  private inTriples(triples: SyntaxNode, scope: object): ScopeProblem | null {
    for (const node of nodesOf(triples)) {
      if (node.type !== 'term' || node.subType !== 'blankNode' || rangeOf(node) === null) continue
      const label = String(node.label)
      const before = this.scopes.get(label)
      if (before !== undefined && before !== scope)
        return problemAt(
          node,
          `_:${label.replace(/^e_/, '')} is in another graph pattern already: another label or a variable is expected.`,
        )
      this.scopes.set(label, scope)
    }
    return null
  }
}
