import { termText } from '../../rdf/ntriples.ts'
import type { SparqlOperation } from '../../sparql/algebra.ts'
import type { ParsedQuery } from '../../sparql/parse.ts'
import type { ServiceSolutions } from './service-results.ts'

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
