import { LRUCache } from 'lru-cache'
import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { memoised } from '../../model/memoised.ts'
import { VERSIONS } from '../../sparql/expected.ts'
import { isLateral } from '../../sparql/lateral.ts'
import { type SparqlTokens, sparqlTokens } from '../../sparql/lexer.ts'
import { declaredDataset } from '../../sparql/parse.ts'
import {
  type Declarations,
  IrisTooLong,
  MAX_RESOLVED,
  NotAnIri,
  rangeOf,
  resolveTree,
  type SyntaxNode,
  type TextRange,
} from '../../sparql/relative.ts'
import { aggregateProblem, withoutRepeatedVariables, wrongRow } from '../../sparql/scope.ts'
import {
  openString,
  type SyntaxProblem,
  type SyntaxTree,
  syntaxProblem,
  syntaxTree,
} from '../../sparql/syntax.ts'
import type { DatasetRequest } from './endpoint.ts'
import { checkQueryLength, checkQuerySize, syntaxFault } from './query-size.ts'

/** A graph or a service that a query names: an IRI, or a variable; and where. */
export interface GraphName extends TextRange {
  readonly type: 'iri' | 'variable'
  readonly value: string
}

/** `GRAPH name { … }` as offsets into the text. */
export interface GraphClause extends TextRange {
  readonly name: GraphName
}

/** `SERVICE SILENT name { … }` as offsets into the text; a nested one is part of the outer one. */
export interface ServiceClause extends TextRange {
  readonly name: GraphName
  readonly isSilent: boolean
  /** True if graphs or other services are named within. */
  readonly namesGraphs: boolean
}

/** What the endpoint needs to know of a query before the store parses it. */
export interface QueryText extends SyntaxTree, Declarations {
  readonly text: string
  readonly form: 'select' | 'ask' | 'construct' | 'describe'
  /** The dataset that it names with FROM; null if it names none. */
  readonly dataset: DatasetRequest | null
  /** Ranges that are removed for engines: its FROM clauses, and declarations of versions. */
  readonly declared: readonly TextRange[]
  readonly graphs: readonly GraphClause[]
  readonly services: readonly ServiceClause[]
  readonly groupConcats: readonly SyntaxNode[]
  /** Offset of the end of its prologue. */
  readonly start: number
  /** True if the answer of the query is not deterministic. */
  readonly isVolatile: boolean
  /** True if it uses extensions of engines beyond the recommendations. */
  readonly isExtended: boolean
}

const UPDATE = /(?:insert|delete|load|clear|drop|create|add|move|copy|with)\b/iy

const VOLATILE: ReadonlySet<string> = new Set(['now', 'rand', 'uuid', 'struuid', 'bnode'])

/** Escapes of surrogates, and of what is beyond Unicode. */
const NO_CHARACTER = /\\(?:u|U0000)d[89a-f]|\\U(?!000|0010)/i

/** Better descriptions of errors of the parser, by the beginning of its messages. */
const ERRORS: readonly (readonly [start: string, described: string])[] = [
  ['language direction', 'the direction of a language is ltr or rtl.'],
  ['Note 17', 'annotations follow no property path.'],
]

/** Recently parsed queries, bounded by characters: most clients repeat queries. */
const recent = new LRUCache<string, QueryText>({
  max: 200,
  maxSize: 100_000,
  sizeCalculation: ({ text }) => text.length + 1,
})

/**
 * Analyses a query.
 *
 * Faults: BadRequest for a syntax error, with line, column and a caret, for an update, and for queries beyond the limits.
 *
 * @param base what relative IRIs are resolved against
 */
export function readQueryText(text: string, base: string): QueryText {
  return memoised(recent, `${base}\n${text}`, () => {
    checkQueryLength(text)
    return readQuery(text, base)
  })
}

function readQuery(text: string, base: string): QueryText {
  const tokens = sparqlTokens(text)
  const { tree, flaw } = readTree(text, tokens)
  const once = flaw === null ? text : withoutRepeatedVariables(text, tree)
  if (once !== text) return readQuery(once, base)
  const declarations = resolved(text, tree, base)
  const problem = aggregateProblem(tree)
  if (problem !== null) throw syntaxFault(text, problem.from, problem.reason)
  const form = tree.subType as QueryText['form']
  const found = new Clauses(text, form)
  found.walk(tree)
  const context = tree.context as readonly SyntaxNode[]
  const versions = context.filter(({ subType }) => subType === 'version')
  for (const version of versions) checkVersion(text, version)
  const { datasets } = tree as { readonly datasets?: SyntaxNode }
  return {
    ...declarations,
    text,
    tree,
    flaw,
    form,
    dataset: declaredDataset(tree),
    declared: [...versions, ...(datasets === undefined ? [] : [datasets])].flatMap(
      node => rangeOf(node) ?? [],
    ),
    graphs: inOrder(found.graphs),
    services: inOrder(found.services),
    groupConcats: found.groupConcats,
    start: context.map(placeOf).at(-1)?.to ?? 0,
    // The answers of other services may change at any time.
    isVolatile: found.isVolatile || found.services.length > 0,
    isExtended: found.isExtended,
  }
}

function readTree(text: string, tokens: SparqlTokens): SyntaxTree {
  const open = openString(text, tokens)
  if (open !== null) throw syntaxFault(text, open.from, open.reason)
  checkQuerySize(text, tokens)
  let read: SyntaxTree | null = null
  let cause: unknown
  try {
    read = syntaxTree(text)
    cause = read.flaw
  } catch (error) {
    cause = error
  }
  if (cause === null && read !== null) return read
  const problem = syntaxProblem(text)
  if (problem !== null) throw syntaxFault(text, problem.from, reasonOf(text, problem))
  if (read !== null) return read
  const row = wrongRow(text)
  if (row !== null) throw syntaxFault(text, row.from, row.reason)
  const message = cause instanceof Error ? cause.message.slice(0, 300) : ''
  const illegal = text.search(NO_CHARACTER)
  if (illegal !== -1) throw syntaxFault(text, illegal, 'the escape denotes no character.')
  const [, described = message] = ERRORS.find(([start]) => message.startsWith(start)) ?? []
  throw new Fault(BAD_REQUEST, { reason: `The query cannot be evaluated: ${described}` })
}

/** The reason of a syntax error, in the wording of this endpoint. */
function reasonOf(text: string, { from, to, reason, expected }: SyntaxProblem): string {
  if (!expected.includes('ASK')) return reason
  const forms = 'SELECT, ASK, CONSTRUCT or DESCRIBE'
  if (from === to) return `the query is empty: ${forms} is expected.`
  UPDATE.lastIndex = from
  if (UPDATE.test(text)) return 'this endpoint is read-only: it takes queries and no updates.'
  return `${text.slice(from, to).slice(0, 60)} was found but a query begins with ${forms}.`
}

function resolved(text: string, tree: SyntaxNode, base: string): Declarations {
  try {
    return resolveTree(tree, base)
  } catch (error) {
    if (error instanceof IrisTooLong)
      throw new Fault(BAD_REQUEST, {
        reason: `The IRIs of the query have more than ${MAX_RESOLVED} characters in all: shorten its base or prefixes.`,
      })
    if (!(error instanceof NotAnIri)) throw error
    throw syntaxFault(text, error.range?.from ?? 0, 'not an IRI.')
  }
}

/** `VERSION "1.2"` (SPARQL 1.2 Query, section 4.1.4). */
function checkVersion(text: string, node: SyntaxNode): void {
  const version = String(node.version)
  if (VERSIONS.includes(version)) return
  const to = rangeOf(node)?.to ?? 0
  const from = to - version.length - 2
  const known = VERSIONS.map(each => `"${each}"`).join(', ')
  const label = text.slice(from, to).slice(0, 40)
  throw syntaxFault(text, from, `the version ${label} is not served; one of ${known} is expected.`)
}

class Clauses {
  readonly graphs: GraphClause[] = []
  readonly services: ServiceClause[] = []
  readonly groupConcats: SyntaxNode[] = []
  isVolatile = false
  isExtended = false
  private readonly text: string
  private readonly form: QueryText['form']

  constructor(text: string, form: QueryText['form']) {
    this.text = text
    this.form = form
  }

  walk(part: unknown): void {
    if (typeof part !== 'object' || part === null) return
    const node = part as SyntaxNode
    const kind = `${node.type} ${node.subType}`
    if (kind === 'pattern graph') this.graphs.push({ name: nameOf(node), ...placeOf(node) })
    this.isExtended ||= isLateral(this.text, node)
    // Each solution has its own blank nodes.
    if (kind === 'term blankNode') this.isVolatile ||= this.form === 'construct'
    if (node.type === 'expression') this.walkExpression(node)
    if (kind === 'pattern service') this.walkService(node)
    else this.walkParts(node)
  }

  private walkParts(node: SyntaxNode): void {
    for (const [key, value] of Object.entries(node)) if (key !== 'loc') this.walk(value)
  }

  private walkExpression(node: SyntaxNode): void {
    if (node.subType === 'aggregate' && node.aggregation === 'group_concat') this.groupConcats.push(node)
    const operator = String(node.operator).toLowerCase()
    if (VOLATILE.has(operator)) this.isVolatile = true
    if (operator === 'adjust') this.isExtended = true
  }

  /** Nested services are left out: the endpoint of the outer one queries them. */
  private walkService(node: SyntaxNode): void {
    const { graphs, services } = this
    const within = new Clauses(this.text, this.form)
    within.walkParts(node)
    graphs.push(...within.graphs)
    services.push({
      name: nameOf(node),
      isSilent: node.silent === true,
      namesGraphs: within.graphs.length + within.services.length > 0,
      ...placeOf(node),
    })
  }
}

function nameOf(node: SyntaxNode): GraphName {
  const name = node.name as SyntaxNode
  const type = name.subType === 'variable' ? 'variable' : 'iri'
  return { type, value: String(name.value), ...placeOf(name) }
}

/** In the order of the text: trees have some parts of a query in another order. */
function inOrder<Clause extends TextRange>(clauses: readonly Clause[]): readonly Clause[] {
  return [...clauses].sort((a, b) => a.from - b.from)
}

function placeOf(node: SyntaxNode): TextRange {
  const range = rangeOf(node)
  if (range === null) throw new Error(`no place of ${node.type} ${node.subType}`)
  return range
}
