import { rmSync } from 'node:fs'
import { Fault } from '../errors.ts'
import { compileMapping } from '../mapping/compile.ts'
import { directMapping } from '../mapping/direct.ts'
import { indexMapper } from '../mapping/index-graph.ts'
import { WordBuckets } from '../mapping/word-buckets.ts'
import type { Dataset } from '../model/dataset.ts'
import type { Field } from '../model/field.ts'
import type { RdfFormat } from '../model/rdf-format.ts'
import { type FieldSpec, fieldOf } from '../sources/fields.ts'
import { inferFields } from '../sources/infer.ts'
import { openSource } from '../sources/open.ts'
import { openRdf } from '../sources/rdf.ts'
import { type Misfit, type MissingColumn, typeRecords } from '../sources/typing.ts'
import { type Definition, datasetUid, definitionOf } from './definition.ts'
import { fingerprintOf } from './fingerprint.ts'
import { GraphWriter } from './graph-writer.ts'
import { Identities } from './identity.ts'
import { writeRdfGraphs } from './rdf-graphs.ts'
import { StatisticsGatherer } from './statistics.ts'
import { RecordIds } from './tombstones.ts'
import {
  commitVersion,
  currentManifest,
  type Manifest,
  prepareVersion,
  removeLeftovers,
  VERSION_FORMAT,
  type Versions,
  versionFolder,
} from './versions.ts'

/** Where and when a publication happens; time is a parameter. */
export interface PublishContext {
  readonly portal: string
  readonly base: string
  readonly versions: Versions
  readonly now: () => Date
  /** Called after every batch of records. */
  readonly onProgress?: (progress: PublishProgress) => void
}

export interface PublishProgress {
  readonly dataset: string
  readonly records: number
}

/** What became of one dataset. */
export type PublishResult =
  | { readonly type: 'unchanged'; readonly manifest: Manifest }
  | { readonly type: 'published'; readonly manifest: Manifest; readonly report: PublishReport }

/** What a publisher should know about the records that were made. */
export interface PublishReport {
  readonly records: number
  readonly triples: number
  /** The first values that did not fit, with row and column, and the number of all. */
  readonly misfits: readonly Misfit[]
  readonly misfitCount: number
  /** Records whose identity another record has. */
  readonly repeated: number
  readonly milliseconds: number
}

/**
 * Publishes one dataset: source -> typed records -> triples -> a version on disk that takes the place of the one
 * before in one step. Nothing is done where nothing changed. Faults: ConfigInvalid, SourceUnreadable; the version in
 * force stays in force then.
 */
export async function publishDataset(id: string, context: PublishContext): Promise<PublishResult> {
  const definition = definitionOf(context.portal, id)
  const fingerprint = await fingerprintOf(definition, context.base, context.portal)
  removeLeftovers(context.versions, id)
  const current = currentManifest(context.versions, id)
  if (current?.fingerprint === fingerprint) return { type: 'unchanged', manifest: current }
  const begun = context.now()
  const version = `${begun.getTime().toString(36)}-${fingerprint.slice(0, 12)}`
  const folder = prepareVersion(context.versions, id, version)
  try {
    const place = { ...context, folder, version, fingerprint, begun }
    const { manifest, report } =
      definition.rdf === null
        ? await materialise(definition, place)
        : await materialiseRdf(definition, definition.rdf, place)
    commitVersion(context.versions, manifest)
    return { type: 'published', manifest, report }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** The fields of a dataset as they will be published: declared, else inferred over the whole source. */
export async function resolveFields(definition: Definition, portal: string): Promise<readonly FieldSpec[]> {
  if (definition.fields !== null) return definition.fields
  return inferFields(
    openSource(definition.source, { datasetFolder: definition.folder, portalFolder: portal }),
  )
}

interface MaterialiseContext extends PublishContext {
  readonly folder: string
  readonly version: string
  readonly fingerprint: string
  readonly begun: Date
}

interface Materialised {
  readonly manifest: Manifest
  readonly report: PublishReport
}

/** A file of RDF has graphs and no records (linked-data specification, "Resources and their fields"). */
async function materialiseRdf(
  definition: Definition,
  format: RdfFormat,
  context: MaterialiseContext,
): Promise<Materialised> {
  const folders = { datasetFolder: definition.folder, portalFolder: context.portal }
  const { base, folder } = context
  const place = { base, dataset: definition.id, folder }
  const graphs = await writeRdfGraphs(openRdf(definition.source, folders, format), place, triples =>
    context.onProgress?.({ dataset: definition.id, records: triples }),
  )
  const statistics = { records: 0, fields: {} }
  const made = { dataset: datasetOf(definition, []), statistics, graphs, misfits: 0 }
  return {
    manifest: { ...headOf(context), ...made, content: 'rdf' },
    report: {
      records: 0,
      triples: graphs[0]?.triples ?? 0,
      misfits: [],
      misfitCount: 0,
      repeated: 0,
      milliseconds: context.now().getTime() - context.begun.getTime(),
    },
  }
}

function datasetOf(definition: Definition, fields: readonly Field[]): Dataset {
  const { id, metas, visibility, attachments } = definition
  return { id, uid: datasetUid(id), fields, metas, visibility, attachments }
}

function headOf({ version, fingerprint, base, begun }: MaterialiseContext) {
  const published = begun.toISOString().replace('Z', '+00:00')
  return { format: VERSION_FORMAT, version, fingerprint, base, published }
}

async function materialise(definition: Definition, context: MaterialiseContext): Promise<Materialised> {
  const specs = await resolveFields(definition, context.portal)
  const fields = specs.map(fieldOf)
  const dataset = datasetOf(definition, fields)
  const source = openSource(definition.source, {
    datasetFolder: definition.folder,
    portalFolder: context.portal,
  })
  const typed = typeRecords(source, specs)
  const mapping = compileMapping(directMapping(context.base, dataset), fields)
  const words = new WordBuckets()
  const index = indexMapper(context.base, dataset, words)
  const identities = new Identities(fields, definition.identity)
  const ids = new RecordIds()
  const statistics = new StatisticsGatherer(fields)
  const writers = {
    facts: new GraphWriter(context.folder, 'facts'),
    index: new GraphWriter(context.folder, 'index'),
  }
  let position = 0
  try {
    for await (const batch of typed.batches()) {
      refuseMissing(typed.report().missing, source.name)
      for (const values of batch.values) {
        const record = { id: identities.idOf(values), position, values }
        ids.add(record.id)
        mapping.map(record, writers.facts.out)
        index(record, writers.index.out)
        statistics.add(values)
        position += 1
      }
      await writers.facts.drain(false)
      await writers.index.drain(false)
      context.onProgress?.({ dataset: definition.id, records: position })
    }
    const wordBuckets = words.write(position, writers.index.out)
    const graphs = [await writers.facts.close(), await writers.index.close()]
    const misfits = typed.report()
    refuseMissing(misfits.missing, source.name)
    ids.write(context.folder)
    const manifest: Manifest = {
      ...headOf(context),
      dataset,
      statistics: { ...statistics.statistics(), wordBuckets },
      graphs,
      content: 'records',
      misfits: misfits.misfitCount,
    }
    return {
      manifest,
      report: {
        records: position,
        triples: graphs[0]?.triples ?? 0,
        misfits: misfits.misfits,
        misfitCount: misfits.misfitCount,
        repeated: identities.repeated,
        milliseconds: context.now().getTime() - context.begun.getTime(),
      },
    }
  } catch (error) {
    writers.facts.abandon()
    writers.index.abandon()
    throw error
  }
}

/** Absolute path of one graph file of a version. */
export function graphPath(versions: Versions, manifest: Manifest, file: string): string {
  return `${versionFolder(versions, manifest.dataset.id, manifest.version)}/${file}`
}

/** A field whose column the source never has is a mistake of dataset.yaml, not a field without values. */
function refuseMissing(missing: readonly MissingColumn[], source: string): void {
  if (missing.length === 0) return
  throw new Fault('ConfigInvalid', {
    reason: missing.map(column => `${source}: ${missingText(column)}`).join('\n'),
  })
}

/** A missing column in words, with the one that was probably meant. */
export function missingText({ message, nearest }: MissingColumn): string {
  return nearest === undefined ? message : `${message} Did you mean ${JSON.stringify(nearest)}?`
}
