import { iriText } from '../../rdf/ntriples.ts'
import type { QueryDataset } from './graphs.ts'
import { type Edit, groupConcatEdits } from './group-concat.ts'
import type { GraphClause, QueryText } from './query-text.ts'
import { scopeOfStar } from './scope.ts'

/** A query as the store is asked it. */
export interface RewrittenQuery {
  readonly text: string
  /** The offset in the query as it was written, of an offset in this text. */
  readonly origin: (offset: number) => number
}

/** A graph that nothing is ever loaded into. */
const NOWHERE = 'urn:lodestone:nowhere'

/**
 * Puts the names that graphs have in the store in the place of their public ones. `GRAPH <iri>` names the graph of the
 * store, and `GRAPH ?g { P }` becomes the join of `GRAPH ?h { P }` with a table of the two names, which is what the
 * recommendation says that it means (SPARQL 1.1 Query, section 18.6, Graph), so that ?g has public IRIs wherever it stands.
 * FROM and VERSION are taken out: the dataset is a parameter of the store, and engines need not know the declaration. The
 * values of GROUP_CONCAT become texts. Nothing else of the text changes, and no line is added.
 */
export function rewriteQuery(query: QueryText, { named }: QueryDataset): RewrittenQuery {
  const { text, graphs, from, versions } = query
  const declared = [...from, ...versions].map(clause => ({
    from: clause.from,
    to: clause.to,
    text: blanked(text.slice(clause.from, clause.to)),
  }))
  const edits: Edit[] = [...declared, ...groupConcatEdits(query.tokens)]
  const byIri = new Map(named.map(({ iri, graph }) => [iri, graph]))
  const table = named.map(({ iri, graph }) => `(${iriText(graph)} ${iriText(iri)})`).join(' ')
  const fresh = freshVariables(text)
  let hasVariables = false
  for (const clause of graphs) {
    if (clause.name.type === 'iri') {
      edits.push(renamed(clause, iriText(byIri.get(clause.name.value) ?? NOWHERE)))
      continue
    }
    hasVariables = true
    const variable = fresh()
    edits.push(
      {
        from: clause.from,
        to: clause.from,
        text: `{ VALUES (${variable} ?${clause.name.value}) { ${table} } `,
      },
      renamed(clause, ` ${variable} `),
      { from: clause.to, to: clause.to, text: ' }' },
    )
  }
  const star = hasVariables ? scopeOfStar(query) : null
  if (star !== null) edits.push({ ...star, text: ` ${star.variables.map(name => `?${name}`).join(' ')} ` })
  return applied(text, edits)
}

function renamed({ nameFrom, nameTo }: GraphClause, text: string): Edit {
  return { from: nameFrom, to: nameTo, text }
}

function blanked(text: string): string {
  return text.replace(/[^\r\n]/g, ' ')
}

/** Names that the query does not have. */
function freshVariables(text: string): () => string {
  let prefix = 'graph_of_'
  while (text.includes(prefix)) prefix += '_'
  let count = 0
  return () => `?${prefix}${++count}`
}

function applied(text: string, edits: readonly Edit[]): RewrittenQuery {
  // What is put in at the end of one clause comes before what is put in at the beginning of the next.
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
