import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { type Answered, type RequestObserver, routeOf } from '../http/observe.ts'
import { endpointOf } from '../http/route-config.ts'
import type { Store, StoreStatistics } from '../store/store.ts'
import { gaugeEach, gaugeSources, SeriesCounts, type SourceAge, Timings } from './series.ts'
import type { StoreObserver, StoreOutcome } from './watched-store.ts'

/** The result of publishing one dataset. */
export type PublicationOutcome = 'published' | 'unchanged' | 'failed'

/** The sources of the gauges, queried when the metrics are read. */
export interface Measured {
  readonly store: Pick<Store, 'statistics'>
  readonly datasets: () => {
    readonly served: number
    readonly restricted: number
    readonly records: number
    readonly latest: number
  }
  readonly cache: () => { readonly answers: number; readonly bytes: number }
  readonly ready: () => boolean
  /** The harvesters, and how long ago the catalog of each could last be read. */
  readonly harvests: () => readonly HarvestAge[]
  /** The datasets with source addresses. */
  readonly sources: () => readonly SourceAge[]
}

interface HarvestAge {
  readonly harvester: string
  /** Seconds; null before the first successful response. */
  readonly age: number | null
  readonly failures: number
  readonly datasets: number
}

/**
 * The metrics of a process in the text format of Prometheus. Labels have few or predefined values: addresses and user ids never
 * occur, names of datasets with source addresses and of harvesters do, but everybody gets those of public datasets only.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export class Metrics {
  private readonly registry = new Registry()
  /** Metrics whose labels are names of datasets. */
  private readonly named = { everybody: new Registry(), operators: new Registry() }
  private readonly requests = this.counts('lodestone_http_requests_total', 'Requests that were answered', [
    'endpoint',
    'route',
    'method',
    'status',
  ])
  private readonly cacheHits = this.counts(
    'lodestone_response_cache_hits_total',
    'Requests that were answered from the cache, before the routes',
    ['endpoint'],
  )
  private readonly aborted = this.counts(
    'lodestone_http_requests_aborted_total',
    'Requests whose client left before the end of the answer',
    ['endpoint'],
  )
  private readonly durations = this.timings(
    'lodestone_http_request_duration_seconds',
    'Time from a request to the end of its answer',
    ['endpoint', 'route'],
  )
  private readonly queries = this.counts('lodestone_store_queries_total', 'What was asked of the store', [
    'operation',
    'outcome',
  ])
  private readonly queryDurations = this.timings(
    'lodestone_store_query_duration_seconds',
    'Time from a question to the answer of the store, with the wait for a turn',
    ['operation'],
  )
  private readonly publications = this.counts(
    'lodestone_publications_total',
    'Datasets that were to be published',
    ['outcome'],
  )
  private inFlight = 0
  private measuredStore: Pick<Store, 'statistics'> | null = null
  /** Statistics of the store; null if they are unavailable. */
  private statistics: StoreStatistics | null = null
  private readonly clock: () => number

  /** @param clock milliseconds from an arbitrary origin */
  constructor(clock: () => number, build: { readonly version: string }) {
    this.clock = clock
    collectDefaultMetrics({ register: this.registry })
    new Gauge({
      name: 'lodestone_build_info',
      help: 'Always 1; the labels are the versions',
      labelNames: ['version', 'node'],
      registers: [this.registry],
    }).set({ version: build.version, node: process.version }, 1)
    this.gauge('lodestone_http_requests_in_flight', 'Requests that are being answered', () => this.inFlight)
  }

  async text(audience: 'everybody' | 'operators'): Promise<string> {
    const { measuredStore: store } = this
    this.statistics =
      store === null
        ? null
        : ((await ignoreRejection(store.statistics(), 'its gauges are left out until it answers')) ?? null)
    const texts = [await this.registry.metrics(), await this.named[audience].metrics()]
    return texts.join('')
  }

  readonly contentType = this.registry.contentType

  /** Registers the parts of a running Lodestone that are measured when the metrics are read. */
  measure({ store, datasets, cache, ready, sources, harvests }: Measured): void {
    this.gauge('lodestone_ready', '1 once every dataset is served, 0 before and while it ends', () =>
      Number(ready()),
    )
    gaugeEach(this.registry, 'lodestone_datasets', 'Datasets that are served', 'visibility', () => {
      const { served, restricted } = datasets()
      return Object.entries({ public: served - restricted, restricted })
    })
    this.gauge(
      'lodestone_last_publication_timestamp_seconds',
      'Moment at which the latest of the versions that are served was published',
      () => datasets().latest,
    )
    this.gauge('lodestone_records', 'Records that are served', () => datasets().records)
    this.gauge('lodestone_response_cache_answers', 'Answers in the response cache', () => cache().answers)
    const cached = 'Bytes of answers in the response cache'
    this.gauge('lodestone_response_cache_bytes', cached, () => cache().bytes)
    gaugeSources(this.named.operators, sources)
    gaugeSources(this.named.everybody, () => sources().filter(({ isPublic }) => isPublic))
    const harvested = (name: string, help: string, of: (harvest: HarvestAge) => number | null) =>
      gaugeEach(this.registry, `lodestone_harvest_${name}`, help, 'harvester', () =>
        harvests().map(each => [each.harvester, of(each)]),
      )
    const lastRead = 'since its catalog could last be read'
    harvested('age_seconds', 'Time since the catalog of a harvester could last be read', ({ age }) => age)
    harvested('failures', `Failures of a harvester ${lastRead}`, ({ failures }) => failures)
    harvested('datasets', 'Datasets that come from a harvester', each => each.datasets)
    this.measureStore(store)
  }

  /** Counts requests by result. */
  requestObserver(): RequestObserver {
    return {
      around: (_, proceed) => {
        this.inFlight += 1
        proceed()
      },
      ended: ({ method }, _, answered) => {
        this.inFlight -= 1
        this.note(method, answered)
      },
      repeated: (request, { raw: { statusCode } }) => {
        const { method } = request
        const route = routeOf(request)
        const endpoint = endpointOf(request)
        const status = statusClass(statusCode)
        const requests = this.requests.of({ endpoint, route, method, status })
        const hits = this.cacheHits.of({ endpoint })
        const durations = this.durations.of({ endpoint, route })
        return () => {
          requests.count += 1
          hits.count += 1
          // Cached answers take some microseconds.
          durations.note(0)
        }
      },
    }
  }

  /** Counts the operations of the store. */
  storeObserver(): StoreObserver {
    return operation => {
      const begun = this.clock()
      return (outcome: StoreOutcome) => {
        this.queries.of({ operation, outcome }).count += 1
        this.queryDurations.of({ operation }).note(this.clock() - begun)
      }
    }
  }

  /** Counts one publication. */
  published(outcome: PublicationOutcome): void {
    this.publications.of({ outcome }).count += 1
  }

  private note(method: string, { endpoint, route, status, milliseconds, aborted }: Answered): void {
    const labels = {
      endpoint,
      route,
      method: METHODS.has(method) ? method : 'other',
      status: statusClass(status),
    }
    this.requests.of(labels).count += 1
    this.durations.of({ endpoint, route }).note(milliseconds)
    if (aborted) this.aborted.of({ endpoint }).count += 1
  }

  private measureStore(store: Pick<Store, 'statistics'>): void {
    this.measuredStore = store
    const report = (name: string, help: string, value: (statistics: StoreStatistics) => number) =>
      this.gauge(`lodestone_store_${name}`, help, () => this.statistics && value(this.statistics))
    report('triples', 'Triples in the graphs of the store', ({ triples }) => triples)
    report('graphs', 'Graphs in the store', ({ graphs }) => graphs)
    report('threads_ready', 'Threads that can answer now', ({ threads }) => threads.ready)
    report('threads_wanted', 'Threads that there should be', ({ threads }) => threads.wanted)
    report('resident_graphs', 'Graphs that are resident in the engine', ({ resident }) => resident)
    gaugeEach(
      this.registry,
      'lodestone_store_memory_bytes',
      'Memory of the store by what it holds',
      'holds',
      () => Object.entries(this.statistics?.bytes ?? {}),
    )
    const statisticsNow = () => this.statistics
    new Counter({
      name: 'lodestone_store_deadlines_total',
      help: 'Queries that met their deadline',
      registers: [this.registry],
      collect() {
        this.reset()
        this.inc(statisticsNow()?.deadlines ?? 0)
      },
    })
  }

  private counts<Name extends string>(name: string, help: string, labelNames: readonly Name[]) {
    return new SeriesCounts({ name, help, labelNames, registers: [this.registry] })
  }

  private timings<Name extends string>(name: string, help: string, labelNames: readonly Name[]) {
    return new Timings({ name, help, labelNames, registers: [this.registry] })
  }

  /** Registers a gauge without labels, which is 0 while it has no value. */
  private gauge(name: string, help: string, value: () => number | null): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(value() ?? 0)
      },
    })
  }
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'DELETE', 'PATCH'])

function statusClass(status: number): string {
  return `${Math.floor(status / 100)}xx`
}
