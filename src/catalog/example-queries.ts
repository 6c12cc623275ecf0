import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { datasetPrefixes } from '../rdf/prefixes.ts'

/** The forms of a SPARQL query (SPARQL 1.1 Query, section 16). */
export type QueryForm = 'select' | 'ask' | 'construct' | 'describe'

/** An example query of a dataset. */
export interface ExampleQuery {
  /** File name without extension. */
  readonly name: string
  /** The first comment line. */
  readonly title: string
  /** Further comment lines at the beginning. */
  readonly description: string | null
  readonly form: QueryForm
  /** The whole text, with the address of the portal inserted. */
  readonly query: string
  /** Other datasets of the portal whose vocabulary it uses. */
  readonly federatesWith: readonly string[]
}

const MAX_FILES = 100
const MAX_BYTES = 20_000

/**
 * The example queries of a dataset: `mappings/{dataset}/*.rq`, sorted by name. The comment in the first line describes what the
 * query finds, `{base}` at the beginning of an IRI is replaced by the address of the portal. A file that is too long, cannot be
 * read (as the lock of an editor), or is no query, is skipped.
 */
export async function exampleQueries(
  portal: string,
  dataset: string,
  base: string,
): Promise<readonly ExampleQuery[]> {
  const folder = path.join(portal, 'mappings', dataset)
  const files = (await ignoreRejection(readdir(folder), 'most datasets have no such folder')) ?? []
  const names = files.filter(file => file.endsWith('.rq')).sort()
  const read = async (file: string) => {
    const place = path.join(folder, file)
    const { size } = await stat(place)
    if (size > MAX_BYTES) return null
    return exampleQuery(file.slice(0, -3), await readFile(place, 'utf8'), { dataset, base })
  }
  const queries = await Promise.all(
    names.slice(0, MAX_FILES).map(file => ignoreRejection(read(file), 'others can be read')),
  )
  return queries.filter(query => query != null)
}

/** Parses the text of one example; null if it is no query. */
export function exampleQuery(
  name: string,
  text: string,
  { dataset, base }: { readonly dataset: string; readonly base: string },
): ExampleQuery | null {
  const query = withBaseAddress(text, base).trim()
  const comments: string[] = []
  for (const line of query.split('\n')) {
    if (!line.startsWith('#')) break
    comments.push(line.replace(/^#+\s*/, '').trim())
  }
  const form = queryForm(query)
  if (form === null) return null
  const description = comments.slice(1).join(' ').trim()
  return {
    name,
    title: comments[0] || name,
    description: description === '' ? null : description,
    form,
    query: `${query}\n`,
    federatesWith: otherDatasets(query, dataset, base),
  }
}

/** A query with `{base}` at the beginning of IRIs replaced by the address of a portal. */
export function withBaseAddress(query: string, base: string): string {
  return query.replaceAll('<{base}', () => `<${base}`)
}

/**
 * The prefixes for queries of a dataset: those of its exports, and its id for its own vocabulary if it is a valid prefix.
 *
 * @param known the prefixes of its serialised triples
 */
export function queryPrefixes(
  base: string,
  dataset: string,
  known: Readonly<Record<string, string>> = datasetPrefixes(base, dataset),
): Readonly<Record<string, string>> {
  const { field = '' } = datasetPrefixes(base, dataset)
  return /^[A-Za-z](?:[\w-]*\w)?$/.test(dataset) ? { [dataset]: field, ...known } : known
}

/** The form of a query: its first word after comments and prologue. */
export function queryForm(query: string): QueryForm | null {
  const start =
    /^(?:\s|#[^\n]*(?:\n|$)|(?:PREFIX\s+[^\s:<>]*:|BASE)\s*<[^<>\s]*>|VERSION\s*(?:"[^"\s]*"|'[^'\s]*'))*(SELECT|ASK|CONSTRUCT|DESCRIBE)\b/i
  return (start.exec(query)?.[1]?.toLowerCase() as QueryForm | undefined) ?? null
}

function otherDatasets(query: string, dataset: string, base: string): readonly string[] {
  const names = new Set<string>()
  for (const kind of ['ontologies', 'resources'])
    for (const part of query.split(`<${base}/ld/${kind}/`).slice(1))
      names.add(/^[^/<>\s]*/.exec(part)?.[0] ?? '')
  names.delete(dataset)
  names.delete('')
  return [...names].sort()
}
