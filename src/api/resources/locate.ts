import { Fault, GONE, isFault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { datasetIri, fieldIri, recordsSpace } from '../../rdf/minted-iris.ts'
import type { AddressReading, SpaceName } from './address.ts'
import type { ResourceDataset, VisibleContext } from './dataset.ts'
import { ontologyIri } from './describe.ts'
import type { Thing } from './document.ts'
import type { DocumentFormat } from './formats.ts'
import { isMentioned, isPredicate, withFragments } from './gather.ts'

/** The thing that an address identifies, and the format that it fixes. */
export interface Located {
  readonly thing: Thing
  readonly format: DocumentFormat | null
}

/**
 * Finds the thing of an address, by the first of its interpretations that identifies one. Faults: NotFoundResource, Gone for
 * removed things, NotPublishedYet.
 */
export async function locate(
  options: VisibleContext,
  space: SpaceName,
  readings: readonly AddressReading[],
): Promise<Located> {
  let fault: unknown
  for (const reading of readings) {
    try {
      return { thing: await thingOf(options, space, reading), format: reading.format }
    } catch (error) {
      if (!isFault(error, NOT_FOUND_RESOURCE, GONE)) throw error
      fault = error
    }
  }
  throw fault
}

async function thingOf(options: VisibleContext, space: SpaceName, reading: AddressReading): Promise<Thing> {
  const dataset = options.dataset(reading.dataset)
  const found = await thingNamed(options, space, reading, dataset)
  if (found !== null) return found
  const [iri] = reading.spellings
  const record = recordWithin(options.base, dataset.id, iri)
  if (space === 'resources' && record !== null && options.isRemoved(dataset.id, record))
    throw new Fault(GONE, { reason: `The record ${record} was removed from the dataset ${dataset.id}.` })
  const kind = space === 'ontologies' ? 'property' : 'resource'
  throw new Fault(NOT_FOUND_RESOURCE, { kind, id: iri.slice(0, 300) })
}

/** The thing that an address identifies by one of the spellings of its IRI; null for none. */
async function thingNamed(
  { base, store }: VisibleContext,
  space: SpaceName,
  { local, spellings }: AddressReading,
  dataset: ResourceDataset,
): Promise<Thing | null> {
  if (local === null) return wholeOf(base, space, dataset)
  const valid = spellings.filter(isIri)
  if (space === 'ontologies') {
    const field = dataset.fields.find(({ name }) => valid.includes(fieldIri(base, dataset.id, name)))
    if (field !== undefined) return { type: 'property', dataset, iri: fieldIri(base, dataset.id, field.name) }
  }
  for (const iri of valid) {
    if (await isMentioned(store, dataset.graph, iri)) return { type: 'resource', dataset, iri }
    if (space !== 'nodes' && (await isPredicate(store, dataset.graph, iri)))
      return { type: 'property', dataset, iri }
    if ((await withFragments(store, dataset.graph, iri)).length > 0) return { type: 'resource', dataset, iri }
  }
  // A file of RDF calls itself by the address that its IRIs are relative to; where it does not, that is the dataset.
  if (local === '') return wholeOf(base, space, dataset)
  const { facts } = dataset
  if (space !== 'resources' || facts === undefined) return null
  // A record exists even if the mapping does not mention it.
  for (const iri of valid)
    if (await isMentioned(store, facts, iri))
      return { type: 'resource', dataset: { ...dataset, graph: facts }, iri }
  return null
}

/** What the address of a space without a name in it identifies; null for none. */
function wholeOf(base: string, space: SpaceName, dataset: ResourceDataset): Thing | null {
  if (space === 'nodes') return null
  return space === 'resources'
    ? { type: 'dataset', dataset, iri: datasetIri(base, dataset.id) }
    : { type: 'ontology', dataset, iri: ontologyIri(base, dataset.id) }
}

/** The id of the record that an IRI names; null if it identifies something else. */
function recordWithin(base: string, dataset: string, iri: string): string | null {
  const start = recordsSpace(base, dataset)
  return iri.startsWith(start) ? iri.slice(start.length) : null
}
