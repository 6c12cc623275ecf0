import { isGranted, unauthorisedOrForbidden } from '../accounts/authorisation.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../errors/errors.ts'
import type { Dataset } from '../model/dataset.ts'
import { type Field, type FieldType, field } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'
import { ANONYMOUS, type Principal } from '../model/principal.ts'
import type { DatasetRecord, Value } from '../model/value.ts'
import { datasetUid } from '../publishing/definition.ts'
import { Identities } from '../publishing/identity.ts'
import type { Catalog } from './catalog.ts'
import { completeMetas, momentMeta } from './catalog-dataset.ts'
import { catalogGraphs, emptyTarget, inMemoryGraphs, LatestGraphs } from './in-memory-dataset.ts'
import type { NetworkOptions } from './network.ts'
import type { ServedDataset } from './served.ts'
import { IN_MEMORY } from './served.ts'
import { exploreMetas, type Usage } from './usage.ts'
import type { DatasetSource, ServedCatalog, VisibleDatasets } from './visible.ts'

/** One record for each public dataset; visible to everyone (REST 7.2). */
export const DATASETS_MONITORING = 'ods-datasets-monitoring'
/** One record for each call; for users who may browse the analytics of the portal. */
const API_MONITORING = 'ods-api-monitoring'

const IDENTITY = 'dataset_id'

/** Name of the list of both, as a queryable dataset. */
const MONITORING_ID = '_monitoring'

export interface MonitoringOptions extends Omit<NetworkOptions, 'members' | 'onFailure'> {
  readonly usage: Usage
  /** True if calls are visible to everyone. */
  readonly openCalls: boolean
}

type FieldRow = readonly [name: string, type: FieldType, label: string, ...more: ('facet' | 'many')[]]

const DATASET_FIELDS = fieldsOf([
  ['dataset_id', 'text', 'Dataset'],
  ['title', 'text', 'Title'],
  ['description', 'text', 'Description'],
  ['modified', 'datetime', 'Modified', 'facet'],
  ['data_processed', 'datetime', 'Data processed'],
  ['publisher', 'text', 'Publisher', 'facet'],
  ['license', 'text', 'License', 'facet'],
  ['language', 'text', 'Language', 'facet'],
  ['keyword', 'text', 'Keyword', 'facet', 'many'],
  ['theme', 'text', 'Theme', 'facet', 'many'],
  ['records_count', 'int', 'Records'],
  ['field_count', 'int', 'Fields'],
  ['attachment_count', 'int', 'Attachments'],
  ['api_call_count', 'int', 'API calls'],
  ['download_count', 'int', 'Downloads of exports'],
  ['attachment_download_count', 'int', 'Downloads of attachments'],
  ['reuse_count', 'int', 'Reuses'],
  ['popularity_score', 'double', 'Popularity'],
  ['visibility', 'text', 'Visibility', 'facet'],
  ['domain_id', 'text', 'Domain', 'facet'],
])

const CALL_FIELDS = fieldsOf([
  ['timestamp', 'datetime', 'Time', 'facet'],
  ['user_ip_addr', 'text', 'Client address, shortened'],
  ['hostname', 'text', 'Host'],
  ['user_id', 'text', 'User', 'facet'],
  ['dataset_id', 'text', 'Dataset', 'facet'],
  ['domain_id', 'text', 'Domain', 'facet'],
  ['api', 'text', 'API', 'facet'],
  ['api_type', 'text', 'Kind of API', 'facet'],
  ['query_string', 'text', 'Query string'],
  ['custom_attributes', 'text', 'Custom attributes'],
  ['format', 'text', 'Format', 'facet'],
  ['size_res', 'int', 'Size of the answer in bytes'],
  ['nhits', 'int', 'Hits'],
  ['exec_time', 'double', 'Time taken in ms'],
  ['request_aborted', 'boolean', 'Aborted'],
  ['facet', 'text', 'Facets', 'many'],
  ['in_error', 'boolean', 'In error', 'facet'],
  ['error', 'text', 'Error', 'facet'],
  ['attachment_id', 'text', 'Attachment'],
  ['image_id', 'text', 'Image'],
  ['user_agent', 'text', 'User agent'],
  ['referer', 'text', 'Referer'],
  ['embed_type', 'text', 'Kind of embedding'],
  ['embed_referer', 'text', 'Embedding page'],
  ['geo_coordinates', 'geo_point_2d', 'Place of the client'],
  ['query_field', 'text', 'Field of the query'],
  ['query_text', 'text', 'Text of the query'],
  ['bot', 'boolean', 'Bot'],
  ['mobile', 'boolean', 'Mobile'],
  ['action', 'text', 'Action'],
  ['attributes', 'text', 'Attributes'],
  ['filename', 'text', 'File'],
])

/**
 * The monitoring source: special datasets that describe the use of the portal (REST 7.2). Their records are generated from the
 * counted calls, loaded into the store and queried like those of any dataset. All calls are visible to principals with a grant;
 * if the analytics are public, everyone sees the anonymised calls to public datasets.
 */
export class Monitoring implements DatasetSource {
  private readonly catalog: Catalog
  private readonly open: MonitoringList
  private readonly whole: MonitoringList

  constructor(options: MonitoringOptions) {
    const { usage, catalog, domain, openCalls } = options
    this.catalog = catalog
    const datasets = new MonitoredDataset(options, {
      dataset: monitoringDataset(DATASETS_MONITORING, DATASET_FIELDS, 'public', {
        title: 'Datasets monitoring',
        description: 'The public datasets of this portal, and how often each is asked and downloaded.',
      }),
      identity: [IDENTITY],
      rows: () => openEntries(catalog).map(entry => datasetRow(entry, options)),
      state: () => `${catalog.visibleTo(ANONYMOUS).current().version} ${usage.state().counts}`,
      age: 2000,
      series: 'm',
    })
    const callsOf = (isOpen: boolean) =>
      new MonitoredDataset(options, {
        dataset: monitoringDataset(API_MONITORING, CALL_FIELDS, openCalls ? 'public' : 'restricted', {
          title: 'API monitoring',
          description: 'The last calls of the APIs of this portal.',
        }),
        identity: [],
        rows: () => {
          const restricted = new Set(catalog.entries().flatMap(restrictedId))
          return usage
            .calls()
            .filter(call => !isOpen || (call.user_id === null && !restricted.has(call.dataset_id ?? '')))
            .map(call => callRow({ ...call, domain_id: domain }))
        },
        state: () => String(usage.state().calls),
        age: 10_000,
        series: isOpen ? 'o' : 'm',
      })
    this.open = new MonitoringList(options, openCalls ? [datasets, callsOf(true)] : [datasets], 'mo')
    this.whole = new MonitoringList(options, [datasets, callsOf(false)], 'mw')
  }

  visibleTo(principal: Principal): VisibleDatasets {
    const list = this.listFor(principal)
    return {
      current: () => list.current(),
      asDataset: () => Promise.resolve(list.current()),
      startProgress: () => this.catalog.visibleTo(ANONYMOUS).startProgress?.() ?? null,
      dataset: id => {
        const found = list.current().entries.find(({ dataset }) => dataset.id === id)
        if (found !== undefined) return found
        if (id === API_MONITORING && list === this.open)
          throw unauthorisedOrForbidden(principal, 'The list of calls is not public')
        throw new Fault(NOT_FOUND_RESOURCE, { kind: 'dataset', id: id.slice(0, 100) })
      },
    }
  }

  /** Updates what a principal sees if it is some seconds old and the counts have changed. */
  refresh(principal: Principal): Promise<void> {
    return this.listFor(principal).refresh()
  }

  /** Cancels pending clean-ups. */
  close(): void {
    this.open.close()
    this.whole.close()
  }

  private listFor(principal: Principal): MonitoringList {
    return isGranted(principal, API_MONITORING) ? this.whole : this.open
  }
}

/** The monitoring datasets that a principal sees, with the list of them. */
class MonitoringList {
  private readonly options: MonitoringOptions
  private readonly datasets: readonly MonitoredDataset[]
  private readonly series: string
  private readonly graphs: LatestGraphs
  private served: ServedCatalog
  private generation = 0
  private refreshing: Promise<void> | null = null

  /** @param series prefix of the names of its versions */
  constructor(options: MonitoringOptions, datasets: readonly MonitoredDataset[], series: string) {
    const { base, store, grace } = options
    this.options = options
    this.datasets = datasets
    this.series = series
    this.graphs = new LatestGraphs(store, grace)
    this.served = { version: 'empty', target: emptyTarget(base, MONITORING_ID), entries: [] }
  }

  current(): ServedCatalog {
    return this.served
  }

  refresh(): Promise<void> {
    this.refreshing ??= this.load().finally(() => {
      this.refreshing = null
    })
    return this.refreshing
  }

  close(): void {
    for (const each of [this.graphs, ...this.datasets]) each.close()
  }

  private async load(): Promise<void> {
    const entries: ServedDataset[] = []
    for (const each of this.datasets) entries.push(await each.current())
    const isSame = entries.every((entry, index) => this.served.entries[index] === entry)
    if (isSame && entries.length === this.served.entries.length) return
    this.generation += 1
    const version = `${this.series}${this.generation}`
    const { served, sources } = catalogGraphs(entries, this.options.base, version, MONITORING_ID)
    await this.graphs.replace(sources)
    this.served = served
  }
}

/** The datasets that are visible to everyone. */
function openEntries(catalog: Catalog): readonly ServedDataset[] {
  return catalog.visibleTo(ANONYMOUS).current().entries
}

function restrictedId({ dataset: { id, visibility } }: ServedDataset): readonly string[] {
  return visibility === 'public' ? [] : [id]
}

/** The definition of a monitoring dataset. */
interface Description {
  readonly dataset: Dataset
  /** Names of the fields that identify a record; if empty, all fields do. */
  readonly identity: readonly string[]
  readonly rows: () => readonly (readonly Value[])[]
  /** A text that changes whenever the rows may have changed. */
  readonly state: () => string
  /** Milliseconds for which a state may be reused, as long as the catalog is the same. */
  readonly age: number
  /** Prefix of the names of its versions: two datasets with the same id have different prefixes. */
  readonly series: string
}

/** One monitoring dataset: computed on demand, with limited frequency, and only if something changed. */
class MonitoredDataset {
  private readonly options: MonitoringOptions
  private readonly description: Description
  private readonly graphs: LatestGraphs
  private served: ServedDataset | null = null
  private state = ''
  private computedAt = Number.NEGATIVE_INFINITY
  private entries: readonly ServedDataset[] = []
  private generation = 0
  private making: Promise<ServedDataset> | null = null

  constructor(options: MonitoringOptions, description: Description) {
    this.options = options
    this.description = description
    this.graphs = new LatestGraphs(options.store, options.grace)
  }

  async current(): Promise<ServedDataset> {
    const { state, age } = this.description
    const { now, catalog } = this.options
    const entries = catalog.entries()
    const isSame = entries === this.entries
    if (this.served !== null && isSame && Math.abs(now() - this.computedAt) < age) return this.served
    const found = state()
    if (this.served !== null && isSame && found === this.state) return this.served
    this.making ??= this.make().finally(() => {
      this.making = null
    })
    const served = await this.making
    this.state = found
    this.entries = entries
    this.computedAt = now()
    this.served = served
    return served
  }

  close(): void {
    this.graphs.close()
  }

  private async make(): Promise<ServedDataset> {
    const { base, now } = this.options
    const { dataset, identity, rows, series } = this.description
    const published = new Date(now()).toISOString()
    this.generation += 1
    const version = `${series}${this.generation}`
    const identities = new Identities(dataset.fields, identity)
    const records = rows().map(
      (values, position): DatasetRecord => ({ id: identities.idOf(values), position, values }),
    )
    const { target, sources } = inMemoryGraphs({ dataset, records, base, version, published })
    await this.graphs.replace(sources)
    const { statistics, graphs } = target
    return {
      dataset,
      version,
      target,
      statistics,
      published,
      resources: graphs.facts,
      triples: 0,
      ...IN_MEMORY,
    }
  }
}

/** The id of a dataset's record in the datasets monitoring. */
export function monitoringRecordId(dataset: string): string {
  const values = DATASET_FIELDS.map(({ name }) => (name === IDENTITY ? dataset : null))
  return new Identities(DATASET_FIELDS, [IDENTITY]).idOf(values)
}

function monitoringDataset(
  id: string,
  fields: readonly Field[],
  visibility: Dataset['visibility'],
  metas: { readonly title: string; readonly description: string },
): Dataset {
  return { id, uid: datasetUid(id), fields, metas: { default: metas }, visibility, attachments: [] }
}

function datasetRow(entry: ServedDataset, { usage, domain }: MonitoringOptions): readonly Value[] {
  const { dataset } = entry
  const metas = completeMetas(entry).default ?? {}
  const described: Readonly<Record<string, unknown>> = {
    ...metas,
    modified: momentMeta(metas.modified),
    data_processed: momentMeta(metas.data_processed),
    ...exploreMetas(usage.counts(dataset.id)),
    dataset_id: dataset.id,
    field_count: dataset.fields.length,
    attachment_count: dataset.attachments.length,
    visibility: 'domain',
    domain_id: domain,
  }
  return DATASET_FIELDS.map(known => fitting(lookup(described, known.name), known))
}

function callRow(call: Readonly<Record<string, unknown>>): readonly Value[] {
  return CALL_FIELDS.map(known => fitting(lookup(call, known.name), known))
}

/** A value if it matches the type of a field; null for anything else. */
function fitting(given: unknown, { type, multivalued }: Field): Value {
  if (given === null || given === undefined) return null
  if (multivalued) {
    const values = (Array.isArray(given) ? given : [given]).map(String)
    return values.length === 0 ? null : values
  }
  switch (type) {
    case 'text':
      return typeof given === 'object' ? JSON.stringify(given) : String(given)
    case 'datetime':
      return typeof given === 'string' && /^\d{4}-.+Z$/.test(given) ? given : null
    case 'int':
      return Number.isSafeInteger(given) ? (given as number) : null
    case 'double':
      return Number.isFinite(given) ? (given as number) : null
    case 'boolean':
      return typeof given === 'boolean' ? given : null
    default:
      return null
  }
}

function fieldsOf(rows: readonly FieldRow[]): readonly Field[] {
  return rows.map(([name, type, label, ...more]) =>
    field(name, type, {
      label,
      annotations: more.includes('facet') ? { facet: [] } : {},
      multivalued: more.includes('many'),
    }),
  )
}
