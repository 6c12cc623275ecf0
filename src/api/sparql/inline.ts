import { termText } from '../../rdf/ntriples.ts'
import type { SparqlOperation } from '../../sparql/algebra.ts'
import type { ParsedQuery } from '../../sparql/parse.ts'
import type { ServiceSolutions } from './service-results.ts'

/** Solutions that stand in a query for one row of VALUES, by the IRI that is the first term of that row. */
export type InlineRows = ReadonlyMap<string, ServiceSolutions>

/**
 * What stands in a query for solutions, so that they need not be written and read.
 *
 * @param isSilent true for the one solution that binds nothing, which a silent service without an answer has
 */
export function placeholder(marker: string, { variables, rows }: ServiceSolutions, isSilent = false): string {
  if (variables.length === 0) return `{ ${alternatives(isSilent ? 1 : rows.length)} }`
  const unbound = `(${variables.map(() => 'UNDEF').join(' ')})`
  const row = isSilent ? unbound : rows.length === 0 ? '' : placeholderRow(marker, variables.length)
  return `{ VALUES (${variables.map(name => `?${name}`).join(' ')}) { ${row} } }`
}

/** Solutions without variables, each the one that joins with everything. */
function alternatives(count: number): string {
  return count === 0 ? 'FILTER(false)' : Array.from({ length: count }, () => '{ }').join(' UNION ')
}

function placeholderRow(marker: string, width: number): string {
  return `(<${marker}>${' UNDEF'.repeat(width - 1)})`
}

/** Puts solutions into a query in the algebra. */
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

/** Writes solutions into the text of a query, for engines that are asked in SPARQL. */
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
