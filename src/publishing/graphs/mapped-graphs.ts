import { Fault, isFault, SOURCE_UNREADABLE } from '../../errors/errors.ts'
import { type CompiledMapping, compileMapping, type RuleReport } from '../../mapping/compile.ts'
import { MAPPING_INVALID } from '../../mapping/diagnostic.ts'
import { fieldReferences, type Mapping, type TermMap } from '../../mapping/ir.ts'
import type { DatasetStatistics } from '../../model/dataset.ts'
import type { Field } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import type { DatasetRecord } from '../../model/value.ts'
import { LineSet } from '../../rdf/line-set.ts'
import { skolemIri } from '../../rdf/minted-iris.ts'
import { iriText } from '../../rdf/ntriples.ts'
import { DistinctTriples, type RecordPresentation, type SharedSubjects } from '../distinct-triples.ts'
import type { GraphFile } from '../versions/versions.ts'
import { GraphWriter, NamedGraphWriter } from './graph-writer.ts'
import { splitQuad } from './rdf-quads.ts'

/** The dataset whose records are mapped, and where the graphs are written. */
export interface MappedPlace {
  readonly base: string
  readonly dataset: string
  readonly fields: readonly Field[]
  readonly folder: string
  /** If known, they show which resources belong to several records. */
  readonly statistics?: DatasetStatistics
}

/** The result of mapping the records of a dataset. */
export interface MappedGraphs {
  readonly graphs: readonly GraphFile[]
  readonly rules: readonly RuleReport[]
}

/** Attempts in which subjects are deduplicated by the prefixes of their rules; after these, every triple is. */
const ATTEMPTS = 4

/** Maximum number of triples of a mapping, or of triples a record if there are many records: mistakes are found sooner. */
const MAX_TRIPLES = 20_000_000
const MAX_TRIPLES_A_RECORD = 50

/** Compiles a mapping for the records of a dataset; its blank nodes become IRIs. */
export function compileFor(
  mapping: Mapping,
  { base, dataset, fields }: Pick<MappedPlace, 'base' | 'dataset' | 'fields'>,
): CompiledMapping {
  const blank = (label: string) => iriText(skolemIri(base, dataset, label))
  return compileMapping(mapping, fields, { canonical: true, blank })
}

/**
 * Writes the triples of a mapping: all of them, each once, as the graph `mapped`, and those that it puts into named graphs as
 * those graphs too. Throws MappingInvalid; the files are then to be discarded.
 *
 * @param records starts reading the records, more than once if resources belong to several records
 */
export async function writeMappedGraphs(
  mapping: Mapping,
  place: MappedPlace,
  records: () => AsyncIterable<readonly DatasetRecord[]>,
  onProgress: (records: number) => void,
): Promise<MappedGraphs> {
  if (compileFor(mapping, place).hasGraphs) return writeQuads(mapping, place, records(), onProgress)
  const subjects: SharedSubjects = { heads: headsOf(mapping), shared: sharedHeads(mapping, place.statistics) }
  for (let attempt = 1; ; attempt++) {
    const known = attempt < ATTEMPTS ? subjects : { heads: [''], shared: new Set(['']) }
    const fewest = await writeTriples(mapping, place, known, records(), onProgress)
    if (fewest !== null) return fewest
  }
}

/** Writes the graph; null if triples may have been written twice. */
async function writeTriples(
  mapping: Mapping,
  place: MappedPlace,
  subjects: SharedSubjects,
  records: AsyncIterable<readonly DatasetRecord[]>,
  onProgress: (records: number) => void,
): Promise<MappedGraphs | null> {
  const { map, report } = compileFor(mapping, place)
  const writer = new GraphWriter(place.folder, 'mapped')
  const distinct = new DistinctTriples(writer.out, subjects, presentationOf(mapping, place.fields))
  let done = 0
  try {
    for await (const batch of records) {
      for (const record of batch) {
        map(record, distinct)
        distinct.end()
      }
      if (distinct.needsRetry) {
        writer.abandon()
        return null
      }
      done += batch.length
      refuseExcess(writer.out.triples, done)
      await writer.drain(false)
      onProgress(done)
    }
    return { graphs: [await writer.close()], rules: report }
  } catch (error) {
    writer.abandon()
    throw error
  }
}

/** Writes a mapping with graphs: its lines are deduplicated one by one, like those of files with graphs. */
async function writeQuads(
  mapping: Mapping,
  place: MappedPlace,
  records: AsyncIterable<readonly DatasetRecord[]>,
  onProgress: (records: number) => void,
): Promise<MappedGraphs> {
  const { map, report } = compileFor(mapping, place)
  const writer = new GraphWriter(place.folder, 'mapped')
  const named = new NamedGraphWriter(place.folder)
  const written = new LineSet()
  const add = (lines: string) => {
    for (let at = 0; at < lines.length; ) {
      const end = lines.indexOf('\n', at)
      const { triple, graph } = splitQuad(lines.slice(at, end))
      if (written.add(`${graph ?? '-'} ${triple}`)) named.add(graph, `${triple}\n`)
      if (written.add(triple)) writer.out.add(`${triple}\n`, 1)
      at = end + 1
    }
  }
  let done = 0
  try {
    for await (const batch of records) {
      for (const record of batch) map(record, { add })
      done += batch.length
      refuseExcess(writer.out.triples, done)
      await writer.drain(false)
      onProgress(done)
    }
    return { graphs: [await writer.close(), ...(await named.close())], rules: report }
  } catch (error) {
    writer.abandon()
    if (!isFault(error, SOURCE_UNREADABLE)) throw error
    const reason = `The mapping puts triples into too many graphs: ${error.message}`
    throw new Fault(MAPPING_INVALID, { reason }, { cause: error })
  }
}

function refuseExcess(triples: number, records: number): void {
  const max = Math.max(MAX_TRIPLES, MAX_TRIPLES_A_RECORD * records)
  if (triples <= max) return
  const reason = `The mapping makes more than ${max.toLocaleString('en-GB')} triples of ${records.toLocaleString('en-GB')} records.`
  throw new Fault(MAPPING_INVALID, { reason })
}

/** The prefixes of the subjects of the rules in N-Triples, the longest first; the last, empty one matches all others. */
function headsOf({ resources }: Mapping): readonly string[] {
  const heads = resources.map(({ subject }) => headOf(subject))
  return [...new Set([...heads, ''])].sort((a, b) => b.length - a.length)
}

function headOf(subject: TermMap): string {
  const [first] = subject.type === 'iri' ? subject.segments : []
  return first?.type === 'constant' && subject.type === 'iri' && subject.segments.length > 1
    ? `<${first.text}`
    : ''
}

/** The prefixes of subjects that several records must share, because there are fewer subjects than records. */
function sharedHeads({ resources }: Mapping, statistics: DatasetStatistics | undefined): Set<string> {
  const heads = resources.flatMap(({ subject }) => {
    const known = fieldsOf(subject).map(name => lookup(statistics?.fields ?? {}, name))
    const max = known.reduce((product, field) => product * (field?.distinct ?? Number.POSITIVE_INFINITY), 1)
    const fewest = Math.min(...known.map(field => field?.present ?? 0))
    return known.length > 0 && max < fewest ? [headOf(subject)] : []
  })
  return new Set(heads.filter(head => head !== ''))
}

function presentationOf({ resources }: Mapping, fields: readonly Field[]): RecordPresentation {
  const several = new Set(fields.filter(({ multivalued }) => multivalued).map(({ name }) => name))
  const isSeveral = (map: TermMap) => fieldsOf(map).some(name => several.has(name))
  const subjects = new Map(resources.map(({ key, subject }) => [key, subject]))
  const hasOneSubject = resources.every(
    ({ subject, statements }) => !isSeveral(subject) && statements.every(({ inverse }) => inverse !== true),
  )
  const mayRepeat = resources.some(({ statements }) => {
    const said = new Set<string>()
    return statements.some(({ predicate, object }) => {
      if (typeof predicate !== 'string') return true
      const value = object.type === 'link' ? subjects.get(object.resource) : object
      if (value === undefined || isSeveral(value)) return true
      const isConstant = object.type === 'iri' && fieldsOf(object).length === 0
      const statement = isConstant ? `${predicate} ${JSON.stringify(object.segments)}` : predicate
      if (said.has(statement) || said.has(predicate)) return true
      said.add(statement)
      return false
    })
  })
  return { hasOneSubject, mayRepeat: mayRepeat || !hasOneSubject }
}

function fieldsOf(map: TermMap): readonly string[] {
  return fieldReferences(map).map(({ name }) => name)
}
