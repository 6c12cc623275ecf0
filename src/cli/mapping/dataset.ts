import { usageFault } from '../../config/faults.ts'
import type { DatasetStatistics } from '../../model/dataset.ts'
import type { Field } from '../../model/field.ts'
import type { DatasetRecord } from '../../model/value.ts'
import { type Definition, definitionOf } from '../../publishing/definition.ts'
import { Identities } from '../../publishing/identity.ts'
import { firstPublished, firstRecords } from '../../publishing/mapping/mapping-preview.ts'
import { openRecords, type ResolvedSource, resolveSource } from '../../publishing/materialise.ts'
import { StatisticsGatherer } from '../../publishing/statistics.ts'
import { currentManifest, type VersionManifest, versionsOf } from '../../publishing/versions/versions.ts'
import { type FieldSpec, fieldOf } from '../../sources/typing/fields.ts'
import { typeRecords } from '../../sources/typing/typed-records.ts'

/** A dataset for mapping commands: its fields, known values, and its records. */
export interface DatasetAtHand {
  readonly id: string
  readonly base: string
  readonly definition: Definition
  /** The fields in the source, which is read if dataset.yaml does not declare them. */
  readonly specs: () => Promise<readonly FieldSpec[]>
  readonly fields: readonly Field[]
  readonly statistics: DatasetStatistics
  readonly records: (limit: number) => Promise<readonly DatasetRecord[]>
}

/**
 * Opens a dataset of a portal: its published version if dataset.yaml still declares the same fields, else its source. Faults:
 * ConfigInvalid, SourceUnreadable; Usage for a dataset of RDF, which has no records.
 */
export async function datasetAtHand(portal: string, base: string, id: string): Promise<DatasetAtHand> {
  const definition = definitionOf(portal, id)
  if (definition.rdf !== null) throw usageFault(`${id} is RDF (${definition.rdf}): it has no records to map.`)
  const versions = versionsOf(portal)
  const manifest = currentManifest(versions, id)
  if (manifest?.content === 'records' && isOfDefinition(manifest, definition)) {
    const { fields } = manifest.dataset
    const { statistics } = manifest
    const records = (limit: number) => firstPublished(versions, manifest, limit)
    const specs = async () => (await resolveSource(definition, portal)).fields
    return { id, base, definition, specs, fields, statistics, records }
  }
  const resolved = await resolveSource(definition, portal)
  const specs = resolved.fields
  const fields = specs.map(fieldOf)
  const pieces = () => sourceRecords(definition, portal, resolved)
  const gatherer = new StatisticsGatherer(fields)
  for await (const records of pieces()) for (const { values } of records) gatherer.add(values)
  const statistics = gatherer.statistics()
  return {
    id,
    base,
    definition,
    specs: async () => specs,
    fields,
    statistics,
    records: limit => firstRecords(pieces(), limit),
  }
}

/** True if the published version has the fields that dataset.yaml declares, if it declares any. */
function isOfDefinition({ dataset }: VersionManifest, { fields }: Definition): boolean {
  if (fields === null) return true
  const shape = (list: readonly Field[]) =>
    JSON.stringify(list.map(({ name, type, multivalued }) => [name, type, multivalued]))
  return shape(dataset.fields) === shape(fields.map(fieldOf))
}

async function* sourceRecords(
  definition: Definition,
  portal: string,
  { source, fields: specs }: ResolvedSource,
): AsyncGenerator<readonly DatasetRecord[]> {
  const identities = new Identities(specs.map(fieldOf), definition.identity)
  let position = 0
  const opened = await openRecords(definition, source, portal)
  for await (const { values } of typeRecords(opened, specs).batches())
    yield values.map(each => ({ id: identities.idOf(each), position: position++, values: each }))
}
