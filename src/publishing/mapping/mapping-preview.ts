import type { RuleReport } from '../../mapping/compile.ts'
import type { Mapping } from '../../mapping/ir.ts'
import { portalPrefixes } from '../../mapping/vocabulary.ts'
import type { Field } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import type { DatasetRecord } from '../../model/value.ts'
import { datasetPrefixes, INITIAL_CONTEXT, prefixedName } from '../../rdf/prefixes.ts'
import { RDF } from '../../rdf/vocab.ts'
import { compileFor } from '../graphs/mapped-graphs.ts'
import { publishedRecords } from '../prepare.ts'
import { withColumns } from '../versions/readable-columns.ts'
import { graphPath, type Manifest, type Versions } from '../versions/versions.ts'
import { Lines } from './mapping-lines.ts'

/** The result of mapping some records. */
export interface MappedRecords {
  readonly lines: Lines
  readonly records: number
  readonly rules: readonly RuleReport[]
}

/**
 * Maps some records and holds all results in memory.
 *
 * @param maxTriples after so many no further record is mapped
 */
export function mapRecords(
  mapping: Mapping,
  { id, base, fields }: { readonly id: string; readonly base: string; readonly fields: readonly Field[] },
  records: readonly DatasetRecord[],
  maxTriples: number = Number.POSITIVE_INFINITY,
): MappedRecords {
  const { map, report } = compileFor(mapping, { base, dataset: id, fields })
  const lines = new Lines()
  let done = 0
  for (const record of records) {
    if (lines.size >= maxTriples) break
    map(record, lines)
    done += 1
  }
  return { lines, records: done, rules: report }
}

/** The prefixes of the mapping first, then the predefined ones. */
export function prefixesOf(
  { prefixes = {} }: Mapping,
  base: string,
  id: string,
): Readonly<Record<string, string>> {
  const given = { ...INITIAL_CONTEXT, ...portalPrefixes(base, id), ...datasetPrefixes(base, id) }
  const known = datasetPrefixes(base, id, prefixes)
  const own = Object.entries(known).filter(([prefix]) => lookup(given, prefix) === undefined)
  return { ...Object.fromEntries(own), ...given, ...known }
}

/** An IRI, or an IRI template, shortened by the prefix with the longest namespace. */
export function shortIri(iri: string, prefixes: Readonly<Record<string, string>>): string {
  return iri === RDF.type ? 'a' : (prefixedName(iri, prefixes) ?? iri)
}

/** The first records of a published version, in order. */
export function firstPublished(
  versions: Versions,
  manifest: Manifest,
  limit: number,
): Promise<readonly DatasetRecord[]> {
  const facts = manifest.graphs.find(({ role }) => role === 'facts')
  const columns = graphPath(versions, manifest, facts?.columns ?? '')
  return withColumns(versions, [manifest], () => firstRecords(publishedRecords(columns, manifest), limit))
}

/** The first records of pieces; no more pieces are read than necessary. */
export async function firstRecords(
  pieces: AsyncIterable<readonly DatasetRecord[]>,
  limit: number,
): Promise<readonly DatasetRecord[]> {
  const records: DatasetRecord[] = []
  for await (const piece of pieces) {
    for (const record of piece) if (records.length < limit) records.push(record)
    if (records.length >= limit) break
  }
  return records
}
