import { iriText, termText } from '../../rdf/ntriples.ts'
import type { SparqlOperation } from '../../sparql/algebra.ts'
import type { ParsedQuery } from '../../sparql/parse.ts'
import { rangeOf, type SyntaxNode, type TextRange } from '../../sparql/relative.ts'
import { isStar, variablesInOrder } from '../../sparql/scope.ts'
import { variablesInScope } from '../../sparql/syntax.ts'
import { graphsByIri, type QueryDataset } from './endpoint.ts'
import type { GraphName, QueryText } from './query-text.ts'
import type { ServiceSolutions } from './service-results.ts'

interface Edit extends TextRange {
  readonly text: string
}

/** A query as it is sent to the store. */
export interface RewrittenQuery {
  readonly text: string
  /** Maps an offset in this text to the offset in the original query. */
  readonly origin: (offset: number) => number
}

/** A graph that nothing is ever loaded into. */
const NOWHERE = 'urn:lodestone:nowhere'

/**
 * Replaces the public names of graphs by those in the store. `GRAPH <iri>` names the graph of the store, and
 * `GRAPH ?g { P }` becomes the join of `GRAPH ?h { P }` with a table of the two names, which is the definition of the
 * recommendation (SPARQL 1.1 Query, section 18.6, Graph), so that ?g has public IRIs wherever it occurs. FROM and VERSION are
 * removed: the dataset is a parameter of the store, and engines need not know the declaration. The values of GROUP_CONCAT
 * become strings. The rest of the text is unchanged, and no line is added.
 */
export function rewriteQuery(query: QueryText, { named }: QueryDataset): RewrittenQuery {
  const { text, graphs } = query
  const edits: Edit[] = [
    ...query.declared.map(({ from, to }) => ({
      from,
      to,
      text: text.slice(from, to).replace(/[^\r\n]/g, ' '),
    })),
    ...query.groupConcats.flatMap(groupConcatEdits),
  ]
  const byIri = graphsByIri(named)
  const table = named.map(({ iri, graph }) => `(${iriText(graph)} ${iriText(iri)})`).join(' ')
  const fresh = freshVariables(text)
  let hasVariables = false
  for (const clause of graphs) {
    const own = clause.name.type === 'iri' ? (byIri.get(clause.name.value) ?? []) : null
    if (own !== null && own.length < 2) {
      edits.push(renamed(clause.name, iriText(own[0]?.graph ?? NOWHERE)))
      continue
    }
    const variable = fresh()
    // Engines do not merge the graphs of several datasets that have the same IRI: each is searched.
    const values =
      own === null
        ? `(${variable} ?${clause.name.value}) { ${table} }`
        : `${variable} { ${own.map(({ graph }) => iriText(graph)).join(' ')} }`
    hasVariables = true
    edits.push(
      insertion(clause.from, `{ VALUES ${values} `),
      renamed(clause.name, ` ${variable} `),
      insertion(clause.to, ' }'),
    )
  }
  const isListed = query.form === 'select' && isStar(query.tree)
  if (isListed && (hasVariables || query.isExtended)) edits.push(...starEdits(query.tree))
  return applied(text, edits)
}

function renamed({ from, to }: GraphName, text: string): Edit {
  return { from, to, text }
}

function insertion(at: number, text: string): Edit {
  return { from: at, to: at, text }
}

/** The variables that are in scope in place of `*` (SPARQL 1.1 Query, section 18.2.1), in the order of their occurrence. */
function starEdits({ variables, where, values = where }: SyntaxNode): readonly Edit[] {
  const inScope = new Set([...variablesInScope(where), ...variablesInScope(values)])
  const names = variablesInOrder([where, values], inScope)
  const range = rangeOf((variables as readonly SyntaxNode[])[0] ?? {})
  return range === null || names.length === 0
    ? []
    : [{ ...range, text: ` ${names.map(name => `?${name}`).join(' ')} ` }]
}

/**
 * Edits that make GROUP_CONCAT join the texts of all values (SPARQL 1.1 Query, section 18.5.1.7): engines join only strings,
 * and one number leaves the result unbound. DISTINCT compares terms, so that strings in two languages are different: for a
 * variable, languages are removed after DISTINCT.
 */
function groupConcatEdits(aggregate: SyntaxNode): readonly Edit[] {
  const [operand = {}] = aggregate.expression as readonly SyntaxNode[]
  const [whole, range] = [rangeOf(aggregate), rangeOf(operand)]
  if (whole === null || range === null) return []
  if (aggregate.distinct !== true || operand.subType !== 'variable')
    return [insertion(range.from, ' STR('), insertion(range.to, ')')]
  const name = `?${String(operand.value)}`
  return [
    insertion(whole.from, 'STR('),
    { ...range, text: ` COALESCE(CONCAT(${name}), STR(${name}))` },
    insertion(whole.to, ')'),
  ]
}

function freshVariables(text: string): () => string {
  let prefix = 'graph_of_'
  while (text.includes(prefix)) prefix += '_'
  let count = 0
  return () => `?${prefix}${++count}`
}

function applied(text: string, edits: readonly Edit[]): RewrittenQuery {
  // An insertion at the end of one clause comes before one at the beginning of the next.
  const ordered = edits.map((edit, index) => ({ edit, index }))
  ordered.sort((a, b) => a.edit.from - b.edit.from || a.edit.to - b.edit.to || a.index - b.index)
  const places: { readonly start: number; readonly length: number; readonly edit: Edit }[] = []
  let [result, at] = ['', 0]
  for (const { edit } of ordered) {
    result += text.slice(at, edit.from)
    places.push({ start: result.length, length: edit.text.length, edit })
    result += edit.text
    at = edit.to
  }
  result += text.slice(at)
  const origin = (offset: number): number => {
    let shift = 0
    for (const { start, length, edit } of places) {
      if (offset < start) break
      if (offset < start + length) return edit.from
      shift = edit.to - (start + length)
    }
    return Math.max(0, Math.min(text.length, offset + shift))
  }
  return { text: result, origin }
}

/** Solutions that a row of VALUES in a query stands for, by the IRI that is the first term of that row. */
export type InlineRows = ReadonlyMap<string, ServiceSolutions>

/**
 * The placeholder of solutions in a query, so that they need not be serialised and parsed.
 *
 * @param isSilent true for the single empty solution of a silent service that failed
 */
export function placeholder(marker: string, { variables, rows }: ServiceSolutions, isSilent = false): string {
  if (variables.length === 0) return `{ ${alternatives(isSilent ? 1 : rows.length)} }`
  const unbound = `(${variables.map(() => 'UNDEF').join(' ')})`
  const row = isSilent ? unbound : rows.length === 0 ? '' : placeholderRow(marker, variables.length)
  return `{ VALUES (${variables.map(name => `?${name}`).join(' ')}) { ${row} } }`
}

/** Solutions without variables, each of which joins with everything. */
function alternatives(count: number): string {
  return count === 0 ? 'FILTER(false)' : Array.from({ length: count }, () => '{ }').join(' UNION ')
}

function placeholderRow(marker: string, width: number): string {
  return `(<${marker}>${' UNDEF'.repeat(width - 1)})`
}

/** Replaces the placeholders in the algebra of a query. */
export function inlineParsed(parsed: ParsedQuery, inline: InlineRows): ParsedQuery {
  return inline.size === 0
    ? parsed
    : { ...parsed, query: replaced(parsed.query, inline) as ParsedQuery['query'] }
}

function replaced(part: unknown, inline: InlineRows): unknown {
  if (Array.isArray(part)) return part.map(each => replaced(each, inline))
  if (typeof part !== 'object' || part === null) return part
  const operation = part as SparqlOperation
  if (operation.type === 'values') {
    const first = operation.rows[0]?.[0]
    const found = first?.type === 'iri' ? inline.get(first.value) : undefined
    return found === undefined ? operation : { ...operation, rows: found.rows }
  }
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, replaced(value, inline)]))
}

/** Replaces the placeholders in the text of a query, for engines that take SPARQL. */
export function inlineText(text: string, inline: InlineRows): string {
  let result = text
  for (const [marker, { variables, rows }] of inline) {
    const written = rows.map(
      row => `(${row.map(term => (term === null ? 'UNDEF' : termText(term))).join(' ')})`,
    )
    result = result.replace(placeholderRow(marker, variables.length), () => written.join(' '))
  }
  return result
}
