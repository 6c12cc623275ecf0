import path from 'node:path'
import { CONFIG_INVALID } from '../config/faults.ts'
import { isFault, recoded, SOURCE_UNREADABLE } from '../errors/errors.ts'
import { compileMapping } from '../mapping/compile.ts'
import { directMapping } from '../mapping/direct.ts'
import type { Dataset, DatasetStatistics } from '../model/dataset.ts'
import { nearest } from '../model/did-you-mean.ts'
import type { Field } from '../model/field.ts'
import type { RdfFormat } from '../model/rdf-format.ts'
import { recordIri } from '../rdf/minted-iris.ts'
import { atAddress, fetchedName } from '../sources/address/failures.ts'
import { openSource, type SourceSpec } from '../sources/open.ts'
import { openRdf } from '../sources/rdf.ts'
import { misconfigured, type RecordSource } from '../sources/source.ts'
import { type FieldSpec, fieldOf } from '../sources/typing/fields.ts'
import {
  type FieldConversionErrors,
  type MissingColumn,
  typeRecords,
} from '../sources/typing/typed-records.ts'
import { fieldPredicates } from '../store/record-reader.ts'
import { type Definition, datasetUid } from './definition.ts'
import { GraphWriter } from './graphs/graph-writer.ts'
import { writeRdfGraphs } from './graphs/rdf-quads.ts'
import { Identities } from './identity.ts'
import { refuseCycle } from './processors/dependencies.ts'
import { processedSource } from './processors/processed-source.ts'
import { originsOf } from './processors/steps.ts'
import { StatisticsGatherer } from './statistics.ts'
import { RECORD_IDS_FILE } from './versions/tombstones.ts'
import type { GraphFile, VersionManifest } from './versions/versions.ts'

/** Where the files of a version are written. */
export interface MaterialiseContext {
  readonly portal: string
  readonly base: string
  readonly folder: string
  /** Called after every batch of records, or of triples. */
  readonly onProgress: (done: number) => void
}

/** The result of reading a source. */
export interface Materialised {
  readonly dataset: Dataset
  readonly statistics: DatasetStatistics
  readonly graphs: readonly GraphFile[]
  readonly content: VersionManifest['content']
  readonly misfits: readonly FieldConversionErrors[]
  readonly misfitCount: number
  /** Records with the identity of another record. */
  readonly repeated: number
  /** What was found in reading the source that the publisher should correct, or know. */
  readonly warnings: readonly string[]
}

/** How the source of a dataset is read, and its fields as they will be published: declared, else inferred from the whole source. */
export interface ResolvedSource {
  readonly source: SourceSpec
  readonly fields: readonly FieldSpec[]
  /** What was left out, chosen or assumed where neither fields nor options are declared. */
  readonly diagnostics: readonly string[]
}

/** Declared fields and options, else those inferred from the source. Faults: SourceUnreadable, ConfigInvalid. */
export async function resolveSource(definition: Definition, portal: string): Promise<ResolvedSource> {
  return withPlaces(definition, () => inferredSource(definition, portal))
}

async function inferredSource(definition: Definition, portal: string): Promise<ResolvedSource> {
  const { fields, processors, source, sourceFolder } = definition
  if (fields !== null) return { source, fields, diagnostics: [] }
  const { inspectSource } = await import('../sources/inspect.ts')
  const inspected = await inspectSource(source, { datasetFolder: sourceFolder, portalFolder: portal })
  if (processors.length === 0) return withIdentity(definition, inspected)
  const { inferColumns } = await import('../sources/infer.ts')
  const inferred = await inferColumns(await openRecords(definition, inspected.source, portal))
  return withIdentity(definition, { ...inspected, ...inferred })
}

/** Refuses an identity of other fields than those that were inferred: all records would have the same one. */
function withIdentity({ identity }: Definition, inferred: ResolvedSource): ResolvedSource {
  const names = inferred.fields.map(({ name }) => name)
  const at = identity.findIndex(name => !names.includes(name))
  if (at < 0) return inferred
  const near = nearest(String(identity[at]), names)
  throw misconfigured(
    `id names ${identity[at]}, which is no field.`,
    near === undefined ? `Fields: ${names.slice(0, 12).join(', ')}` : `Did you mean ${near}?`,
    `id.${at}`,
  )
}

/**
 * The same for reading all records: where dataset.yaml has a header and no footer, as import writes it, the rows at the end that are
 * no records are found in the file as it is now.
 */
export async function resolveWhole(definition: Definition, portal: string): Promise<ResolvedSource> {
  const resolved = await resolveSource(definition, portal)
  const { source, fields } = resolved
  const { options } = source
  if (definition.fields === null || options?.header === undefined || options.footer !== undefined)
    return resolved
  const { detectFooter } = await import('../sources/inspect.ts')
  const folders = { datasetFolder: definition.sourceFolder, portalFolder: portal }
  const footer = await detectFooter(source, folders)
  if (footer === 0) return resolved
  const rows = footer === 1 ? '1 row at the end is' : `${footer} rows at the end are`
  const diagnostic = `${rows} left out as totals or notes: if they are records, write footer: 0 in options of dataset.yaml`
  return { source: { ...source, options: { ...options, footer } }, fields, diagnostics: [diagnostic] }
}

/** What was found in reading a source to its end: what was left out, chosen or assumed, and what is to be corrected in it. */
export function readingWarnings({ diagnostics }: ResolvedSource, source: RecordSource): readonly string[] {
  // An inspected source has reported its warnings already.
  return [...new Set([...diagnostics, ...(source.warnings?.() ?? [])])]
}

/**
 * Opens the source of a dataset, its rows processed by the steps of dataset.yaml. Faults: ConfigInvalid, SourceUnreadable,
 * immediately and while it is read.
 *
 * @param source how it is read, as resolved by {@link resolveSource}
 */
export async function openRecords(
  definition: Definition,
  source: SourceSpec,
  portal: string,
): Promise<RecordSource> {
  const { processors, sourceFolder } = definition
  refuseCycle(definition, portal)
  return withPlaces(definition, () => {
    const opened = openSource(source, { datasetFolder: sourceFolder, portalFolder: portal })
    return processedSource(opened, processors, portal)
  })
}

/**
 * Reads a source and writes the graphs of a version that need no custom mapping. Faults: ConfigInvalid, SourceUnreadable; the
 * files are then to be discarded.
 */
export function materialise(definition: Definition, context: MaterialiseContext): Promise<Materialised> {
  const { rdf } = definition
  return withPlaces(definition, () =>
    rdf === null ? materialiseRecords(definition, context) : materialiseRdf(definition, rdf, context),
  )
}

/** An RDF file has graphs and no records. */
async function materialiseRdf(
  definition: Definition,
  format: RdfFormat,
  { portal, base, folder, onProgress }: MaterialiseContext,
): Promise<Materialised> {
  const folders = { datasetFolder: definition.sourceFolder, portalFolder: portal }
  const place = { base, dataset: definition.id, folder }
  const graphs = await writeRdfGraphs(openRdf(definition.source, folders, format), place, onProgress)
  return {
    dataset: datasetOf(definition, []),
    statistics: { records: 0, fields: {} },
    graphs,
    content: 'rdf',
    misfits: [],
    misfitCount: 0,
    repeated: 0,
    warnings: [],
  }
}

async function materialiseRecords(
  definition: Definition,
  context: MaterialiseContext,
): Promise<Materialised> {
  const resolved = await resolveWhole(definition, context.portal)
  const specs = resolved.fields
  const fields = specs.map(fieldOf)
  const origins = originsOf(definition.processors, specs)
  const dataset = { ...datasetOf(definition, fields), ...(origins.length === 0 ? {} : { origins }) }
  const source = await openRecords(definition, resolved.source, context.portal)
  const name = sourceName(source.name, definition)
  const typed = typeRecords(source, specs)
  const mapping = compileMapping(directMapping(context.base, dataset), fields)
  const identities = new Identities(fields, definition.identity, path.join(context.folder, RECORD_IDS_FILE))
  const statistics = new StatisticsGatherer(fields)
  const of = { base: context.base, dataset }
  const facts = new GraphWriter(context.folder, 'facts', {
    predicates: fieldPredicates(of),
    isSearched: true,
  })
  let position = 0
  try {
    for await (const batch of typed.batches()) {
      // Without a header a column may occur for the first time in any later record.
      if (source.columns !== undefined) refuseMissing(typed.report().missing, name, definition)
      for (const values of batch.values) {
        const record = { id: identities.idOf(values), position, values }
        const before = facts.out.triples
        mapping.map(record, facts.out)
        if (facts.out.triples === before) facts.addSubject(recordIri(context.base, dataset.id, record.id))
        statistics.add(values)
        position += 1
        if (facts.out.isFull()) await facts.drain(false)
      }
      context.onProgress(position)
    }
    identities.close()
    const graphs = [await facts.close()]
    const { missing, misfits: conversionErrors, misfitCount } = typed.report()
    refuseMissing(missing, name, definition)
    return {
      dataset,
      statistics: statistics.statistics(),
      graphs,
      content: 'records',
      misfits: conversionErrors,
      misfitCount,
      repeated: identities.repeated,
      warnings: readingWarnings(resolved, source),
    }
  } catch (error) {
    facts.abandon()
    identities.ids.abandon()
    throw error
  }
}

function datasetOf(definition: Definition, fields: readonly Field[]): Dataset {
  const { id, metas, visibility, attachments } = definition
  return { id, uid: datasetUid(id), fields, metas, visibility, attachments }
}

/** A field whose column never occurs in the source is a mistake of dataset.yaml, not a field without values. */
function refuseMissing(missing: readonly MissingColumn[], source: string, definition: Definition): void {
  const [first] = missing
  if (first === undefined) return
  const reason = missing.map(column => `${source}: ${missingText(column)}`).join('\n')
  throw misconfigured(reason, undefined, columnSetting(definition, first.field))
}

/** The path in dataset.yaml of the column of a field, `fields.0.from`; undefined for a field that is not declared. */
export function columnSetting({ fields }: Definition, name: string): string | undefined {
  const at = fields?.findIndex(field => field.name === name) ?? -1
  return at < 0 ? undefined : `fields.${at}.${fields?.[at]?.from === undefined ? 'name' : 'from'}`
}

/** Describes a missing column, with the column that was probably meant, else those that there are. */
export function missingText({ message, nearest, available }: MissingColumn): string {
  if (nearest !== undefined) return `${message} Did you mean ${JSON.stringify(nearest)}?`
  return available.length === 0 ? message : `${message} It has: ${available.join(', ')}.`
}

/**
 * Gives the fault of a setting its position in dataset.yaml: that of the setting that it names, else of the source. The fault of
 * fetched data gets their address. Other errors are returned unchanged.
 */
export function placedFault(error: unknown, definition: Definition): unknown {
  const { source, remote, placeOf } = definition
  if (remote !== null && source.path !== undefined && isFault(error, SOURCE_UNREADABLE))
    return atAddress(error, source.path, remote.url)
  if (!isFault(error, CONFIG_INVALID) || error.place.file !== undefined) return error
  const { setting } = error.parts
  const kind = (['path', 'package', 'module'] as const).find(each => source[each] !== undefined)
  const path =
    typeof setting === 'string' ? setting.split('.') : ['source', ...(kind === undefined ? [] : [kind])]
  return recoded(error, CONFIG_INVALID, { place: placeOf(path) })
}

/** Does something with the source of a dataset, whose faults then have their places. */
export async function withPlaces<T>(definition: Definition, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw placedFault(error, definition)
  }
}

/** The name of a source in messages: the address of fetched data. */
export function sourceName(name: string, { source, remote }: Definition): string {
  return remote === null || source.path === undefined ? name : fetchedName(name, source.path, remote.url)
}
