import { Fault, NOT_FOUND_RESOURCE } from '../errors/errors.ts'
import type { FieldType } from '../model/field.ts'
import type { MetaValue } from '../model/metadata.ts'
import { ANONYMOUS } from '../model/principal.ts'
import type { Store } from '../store/store.ts'
import type { Catalog } from './catalog.ts'
import { type CatalogEntry, catalogFields } from './catalog-dataset.ts'
import { readCatalog } from './federated.ts'
import { catalogGraphs, emptyTarget, LatestGraphs } from './in-memory-dataset.ts'
import type { Member } from './member.ts'
import { IN_MEMORY, type ServedDataset } from './served.ts'
import type { DatasetSource, ServedCatalog, VisibleDatasets } from './visible.ts'

/** Name of the list of all datasets of the network, as a queryable dataset. */
const NETWORK_ID = '_network'

export interface NetworkOptions {
  readonly base: string
  readonly store: Store
  readonly catalog: Catalog
  /** The part after the @ in the ids of this portal's own datasets. */
  readonly domain: string
  readonly members: readonly Member[]
  /** Milliseconds for which replaced graphs remain. */
  readonly grace: number
  /** A clock in milliseconds that is never set. */
  readonly now: () => number
  /** Is called with the reason why a portal could not be read. */
  readonly onFailure?: (error: unknown) => void
}

/** A dataset of another portal: the portal, and the id there. */
export interface Federated {
  readonly member: Member
  readonly dataset: string
}

/** Milliseconds for which a catalog is cached, and until a failed portal is retried. */
const FRESH = 10 * 60_000
const AFTER_FAILURE = 60_000

/** Milliseconds that the first request waits for the catalogs of other portals. */
const FIRST_TIMEOUT = 8000

/** The cached state of another portal. */
interface MemberCopy {
  entries: readonly CatalogEntry[]
  readings: number
  /** Moment after which the portal is read again. */
  due: number
  reading: Promise<void> | null
}

/**
 * The network source: all public datasets of this portal and of the portals that it names (REST 7.4), each called
 * `dataset@domain`. The catalogs of the others are read periodically; if that fails, the last good copy stays.
 */
export class Network implements DatasetSource {
  private readonly options: NetworkOptions
  private readonly copies: ReadonlyMap<Member, MemberCopy>
  private readonly graphs: LatestGraphs
  private served: ServedCatalog
  private byId: ReadonlyMap<string, ServedDataset> = new Map()
  private state = ''
  private generation = 0
  private refreshing: Promise<void> | null = null

  constructor(options: NetworkOptions) {
    this.options = options
    this.copies = new Map(
      options.members.map(member => [member, { entries: [], readings: 0, due: 0, reading: null }]),
    )
    this.graphs = new LatestGraphs(options.store, options.grace)
    this.served = { version: 'empty', target: emptyTarget(options.base, NETWORK_ID), entries: [] }
  }

  /** All datasets of the network are public. */
  visibleTo(): VisibleDatasets {
    return {
      current: () => this.served,
      asDataset: () => Promise.resolve(this.served),
      startProgress: () => this.options.catalog.visibleTo(ANONYMOUS).startProgress?.() ?? null,
      dataset: id => this.dataset(id),
    }
  }

  /** Faults: NotFoundResource. */
  dataset(id: string): ServedDataset {
    const found = this.byId.get(id) ?? this.byId.get(`${id}@${this.options.domain}`)
    if (found !== undefined) return found
    throw new Fault(NOT_FOUND_RESOURCE, { kind: 'dataset', id: id.slice(0, 100) })
  }

  /** The location of a dataset of another portal; null for one of this portal. Faults: NotFoundResource. */
  federated(id: string): Federated | null {
    const { dataset } = this.dataset(id)
    const at = dataset.id.lastIndexOf('@')
    const domain = dataset.id.slice(at + 1)
    if (domain === this.options.domain) return null
    const member = this.options.members.find(each => each.domain === domain)
    return member === undefined ? null : { member, dataset: dataset.id.slice(0, at) }
  }

  /** The id of a dataset of this portal in its own catalog; any other id unchanged. */
  localId(id: string): string {
    return id.endsWith(`@${this.options.domain}`) ? id.slice(0, id.lastIndexOf('@')) : id
  }

  /** Updates what is served. Only the first request waits for the other portals; later ones see the last copies while new ones are read. */
  async refresh(): Promise<void> {
    const readings = [...this.copies].map(([member, copy]) => this.read(member, copy))
    if (this.served.version === 'empty' && readings.length > 0)
      await Promise.race([Promise.all(readings), pause(FIRST_TIMEOUT)])
    this.refreshing ??= this.load().finally(() => {
      this.refreshing = null
    })
    await this.refreshing
  }

  /** Cancels pending clean-ups. */
  close(): void {
    this.graphs.close()
  }

  private read(member: Member, copy: MemberCopy): Promise<void> {
    const { now, onFailure } = this.options
    if (now() < copy.due) return copy.reading ?? Promise.resolve()
    copy.reading ??= readCatalog(member)
      .then(
        entries => {
          copy.entries = entries
          copy.readings += 1
          copy.due = now() + FRESH
        },
        error => {
          copy.due = now() + AFTER_FAILURE
          onFailure?.(error)
        },
      )
      .finally(() => {
        copy.reading = null
      })
    return copy.reading
  }

  private async load(): Promise<void> {
    const { catalog, base, domain } = this.options
    const own = catalog.visibleTo(ANONYMOUS).current()
    const state = [own.version, ...[...this.copies.values()].map(({ readings }) => readings)].join(' ')
    if (state === this.state) return
    const others = [...this.copies.values()].flatMap(copy => copy.entries)
    const entries = alike([
      ...own.entries.map(entry => qualified(entry, domain)),
      ...others.map(entry => this.elsewhere(entry)),
    ]).sort((a, b) => (a.dataset.id < b.dataset.id ? -1 : 1))
    this.generation += 1
    const { served, sources } = catalogGraphs(entries, base, `n${this.generation}`, NETWORK_ID)
    await this.graphs.replace(sources)
    this.served = served
    this.byId = new Map(entries.map(entry => [entry.dataset.id, entry]))
    this.state = state
  }

  /** A dataset whose records are on another portal: queries of them are not possible here. */
  private elsewhere(entry: CatalogEntry): ServedDataset {
    const target = emptyTarget(this.options.base, entry.dataset.id)
    const empty = { target, resources: target.graphs.facts, triples: 0, ...IN_MEMORY }
    return { ...entry, version: 'elsewhere', ...empty }
  }
}

/** A dataset of this portal under its name in the network; its records are unchanged. */
function qualified(entry: ServedDataset, domain: string): ServedDataset {
  return { ...entry, dataset: { ...entry.dataset, id: `${entry.dataset.id}@${domain}` } }
}

/** Omits metadata whose kind of value differs from that of other portals: a field of the list has one type. */
function alike(entries: readonly ServedDataset[]): ServedDataset[] {
  const known = new Map(catalogFields([]).map(({ name, type }) => [name, KINDS[type] ?? 'any']))
  const isAlike = (name: string, value: MetaValue): boolean => {
    if (value === null) return true
    if (!known.has(name) && known.size < MAX_NAMES) known.set(name, kindOf(value))
    return known.get(name) === 'any' || known.get(name) === kindOf(value)
  }
  return entries.map(entry => {
    const templates = Object.entries(entry.dataset.metas).map(([template, metas]) => {
      const matching = Object.entries(metas).filter(([name, value]) => isAlike(`${template}.${name}`, value))
      return [template, Object.fromEntries(matching)] as const
    })
    return { ...entry, dataset: { ...entry.dataset, metas: Object.fromEntries(templates) } }
  })
}

/** The kinds of values of typed fields; fields of other types allow any value. */
const KINDS: Partial<Record<FieldType, string>> = { boolean: 'boolean', int: 'whole', double: 'number' }

/** Maximum number of names of metadata of the network. */
const MAX_NAMES = 1000

function kindOf(value: NonNullable<MetaValue>): string {
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'number') return Number.isInteger(value) ? 'whole' : 'number'
  return typeof value
}

function pause(milliseconds: number): Promise<void> {
  return new Promise(resolve => {
    setTimeout(resolve, milliseconds).unref()
  })
}
