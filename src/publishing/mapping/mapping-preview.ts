import { turtleText } from '../../formats/turtle.ts'
import type { RuleReport } from '../../mapping/compile.ts'
import type { Mapping } from '../../mapping/ir.ts'
import { portalPrefixes } from '../../mapping/read.ts'
import type { WrittenTriple } from '../../mapping/triple-text.ts'
import type { Field } from '../../model/field.ts'
import { lookup, setMember } from '../../model/lookup.ts'
import { memoised } from '../../model/memoised.ts'
import type { DatasetRecord } from '../../model/value.ts'
import { datasetPrefixes, INITIAL_CONTEXT, prefixedName } from '../../rdf/prefixes.ts'
import { RDF } from '../../rdf/vocab.ts'
import { compileFor } from '../graphs/mapped-graphs.ts'
import { splitQuad } from '../graphs/rdf-quads.ts'
import { withColumns } from '../versions/graph-sources.ts'
import { graphPath, type VersionManifest, type Versions } from '../versions/versions.ts'
import { publishedRecords } from '../write-version.ts'

/** The result of mapping some records. */
interface MappedRecords {
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
  manifest: VersionManifest,
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

/** The lines that a mapping writes, each once, in order of first occurrence. */
export class Lines implements Pick<WrittenTriple, 'add'> {
  private readonly lines = new Set<string>()

  /** Distinct statements. */
  get size(): number {
    return this.lines.size
  }

  add(text: string): void {
    for (const line of text.split('\n')) if (line !== '') this.lines.add(line)
  }

  /** The lines that do not occur in others. */
  without(others: Lines): Lines {
    const rest = new Lines()
    for (const line of this.lines) if (!others.lines.has(line)) rest.lines.add(line)
    return rest
  }

  /** The first lines. */
  first(limit: number): Lines {
    const some = new Lines()
    for (const line of this.lines) if (some.size < limit) some.lines.add(line)
    return some
  }

  /** Statements by the IRIs of their graphs, the default graph as an empty text; those of one subject are grouped. */
  graphs(): ReadonlyMap<string, string> {
    const graphs = new Map<string, Map<string, string[]>>()
    for (const line of this.lines) {
      const { triple, graph } = splitQuad(line)
      const subjects = memoised(graphs, graph ?? '', () => new Map<string, string[]>())
      memoised(subjects, line.slice(0, line.indexOf(' ')), () => []).push(triple)
    }
    return new Map(
      [...graphs].map(([graph, subjects]) => [graph, [...subjects.values()].map(block).join('')]),
    )
  }
}

/** The triples of one subject, its classes first and those of a predicate grouped. */
function block(triples: readonly string[]): string {
  const order = [...new Set(triples.map(predicateOf))]
  return order
    .flatMap(predicate => triples.filter(triple => predicateOf(triple) === predicate))
    .map(triple => `${triple}\n`)
    .join('')
}

function predicateOf(line: string): string {
  const begin = line.indexOf(' ') + 1
  return line.slice(begin, line.indexOf(' ', begin))
}

/**
 * Writes statements as Turtle, or with named graphs as TriG, with the prefixes that they use.
 *
 * @param prefixes prefix to namespace; of two with the same namespace the first is taken
 */
export function prettyText(lines: Lines, prefixes: Readonly<Record<string, string>>): string {
  const known: Record<string, string> = {}
  for (const [prefix, namespace] of Object.entries(prefixes))
    if (!Object.values(known).includes(namespace)) setMember(known, prefix, namespace)
  const head = turtleText('', known)
  const body = [...lines.graphs()]
    .map(([graph, triples]) => {
      const text = turtleText(triples, known).slice(head.length)
      return graph === '' ? text : `\n<${graph}> {${text.replace(/^(?=.)/gm, '  ')}}\n`
    })
    .join('')
  const used = Object.entries(known).filter(([prefix]) =>
    [' ', '\n', '^^'].some(before => body.includes(`${before}${prefix}:`)),
  )
  return used.map(([prefix, namespace]) => `@prefix ${prefix}: <${namespace}> .\n`).join('') + body
}
