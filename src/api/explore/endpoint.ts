import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type CatalogEntry,
  catalogFields,
  USAGE_FIELDS,
  type UsageStatistics,
} from '../../catalog/catalog-dataset.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import {
  type DatasetList,
  type DatasetSource,
  requireComplete,
  type ServedCatalog,
  type VisibleDatasets,
} from '../../catalog/visible.ts'
import { Fault, GONE } from '../../errors/errors.ts'
import { type AnswerCache, isFresh } from '../../http/conditional.ts'
import { JSON_TYPE, jsonText } from '../../http/json.ts'
import type { VersionSource } from '../../http/memento.ts'
import {
  DEFAULT_ROWS,
  many,
  type QueryClauses,
  readClauses,
  readPage,
  readPresentation,
} from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import type { Route } from '../../http/route-config.ts'
import type { Field } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { inOrder, losesOrder } from '../../model/member-order.ts'
import { oncePerObject } from '../../model/memoised.ts'
import type { CompileTarget } from '../../query/compile/target.ts'
import type { Dialect } from '../../query/dialect.ts'
import { answerQuery } from '../../query/execute/answer.ts'
import { keysOf } from '../../query/execute/columns.ts'
import { Executor, Stopwatch } from '../../query/execute/executor.ts'
import { canBeFacet, facetCondition } from '../../query/facets.ts'
import { type OdsqlClauses, planOdsql } from '../../query/pipeline.ts'
import type { Query } from '../../query/plan.ts'
import type { ResolveContext } from '../../query/resolve/context.ts'
import type { Store } from '../../store/store.ts'
import { namesUsage, USAGE_NAME, USAGE_NAMES, uncounted } from './parameters.ts'
import type { AnswerPlace, PageLink, Presentation, SourceName } from './present.ts'
import {
  type CatalogSource,
  type ExploreSource,
  geofilters,
  readFilters,
  readParameter,
} from './read-parameters.ts'

export interface ExploreOptions {
  readonly catalog: DatasetSource
  /** The source of the datasets; the catalog by default. */
  readonly source?: SourceName
  readonly store: Store
  /** Public address, without trailing slash. */
  readonly base: string
  /** A clock in milliseconds, for Server-Timing. */
  readonly clock: () => number
  /** Milliseconds since 1970, for `now`. */
  readonly now: () => number
  readonly answers: AnswerCache
  readonly dialect: Dialect
  /** Path of the API:`/api/v2`, `/api/explore/v2.0` or `/api/explore/v2.1`. */
  readonly path: string
  /** Title of the portal, and one sentence about it, for exports of the catalog. */
  readonly title: string
  readonly description?: string
  /** Whether texts of CSV exports that begin like formulas get an apostrophe in front. */
  readonly csvFormulas?: 'kept' | 'escaped'
  /** The portal folder, for attachments; without it none are served. */
  readonly portal?: string
  readonly usage?: UsageStatistics
  readonly versions?: VersionSource
  /** Caches answers; it must be notified of every change of the catalog. */
  readonly cache?: Pick<ResponseCache, 'cacheable'>
}

/** Default facets of the catalog (REST 3.7). */
const CATALOG_FACETS = ['features', 'modified', 'publisher', 'keyword', 'theme', 'license', 'language']

/** What the routes of one API share: its services, and how requests are read and answered. */
export class ExploreEndpoint {
  readonly options: ExploreOptions
  /** True for the later generation, whose records and datasets are flat. */
  readonly isFlat: boolean
  readonly place: AnswerPlace

  constructor(options: ExploreOptions) {
    this.options = options
    this.isFlat = options.dialect.name === 'explore-v2.1'
    const { base, path, dialect, source = 'catalog' } = options
    this.place = { root: base + path, dialect, source }
  }

  executor(): Executor {
    return new Executor(this.options.store, new Stopwatch(this.options.clock))
  }

  /** The dataset of a request, in the requested version. Faults: those of {@link VisibleDatasets.dataset}. */
  dataset(
    request: Pick<FastifyRequest, 'principal' | 'params'> & { readonly version?: string | null },
  ): ServedDataset {
    const { dataset } = request.params as Route<'dataset'>['Params']
    return this.visible(request).dataset(dataset, request.version)
  }

  /** What the caller of a request may see of the source. */
  visible({ principal }: Pick<FastifyRequest, 'principal'>): VisibleDatasets {
    return this.options.catalog.visibleTo(principal)
  }

  /** The catalog; with the current usage statistics if a query names any. Faults: CatalogIncomplete. */
  async catalogSource(visible: VisibleDatasets, query: QueryParameters): Promise<CatalogSource> {
    requireComplete(visible)
    const { usage = uncounted } = this.options
    const { target, entries, statistics } =
      visible.counted !== undefined && namesUsage(query)
        ? await visible.counted(usage)
        : await visible.asDataset()
    const described = { template: 'default', facetSort: 'alphanum', facets: CATALOG_FACETS } as const
    return { target, fields: target.dataset.fields, ...described, entries, ...(statistics && { statistics }) }
  }

  catalogFields(visible: VisibleDatasets): readonly Field[] {
    const fields = catalogFields(visible.current().entries)
    if (visible.counted === undefined) return fields
    return [...fields.filter(({ name }) => !USAGE_NAMES.has(name)), ...USAGE_FIELDS]
  }

  /** Plans a query of the catalog; `*` and no select clause select everything but usage statistics, which must be named. */
  planCatalog(
    question: OdsqlClauses,
    context: ResolveContext,
    executor: Executor,
    required?: 'any' | 'groups',
  ): Query {
    const plan = planOdsql(question, context, executor.watch, required)
    if (plan.type === 'groups' || USAGE_NAME.test(question.select ?? '')) return plan
    return { ...plan, select: plan.select.filter(({ key }) => !USAGE_NAMES.has(key)) }
  }

  datasetSource(entry: ServedDataset): ExploreSource {
    const { fields } = entry.dataset
    const facets = fields.filter(field => field.annotations.facet !== undefined && canBeFacet(field))
    return { target: entry.target, fields, facetSort: '-count', facets: facets.map(({ name }) => name) }
  }

  context({ fields, template }: ExploreSource, { timezone, language }: QueryClauses): ResolveContext {
    const { dialect, now } = this.options
    const names = { dataset: { fields }, technical: template === undefined }
    const more = template === undefined ? {} : { template }
    return { ...names, ...more, timezone, language, dialect, now: now() }
  }

  readList(query: QueryParameters, source: ExploreSource) {
    const filtered = this.readFiltered(query, source)
    const isGrouped = filtered.clauses.groupBy !== undefined
    const standard = isGrouped && this.options.dialect.allGroups ? null : DEFAULT_ROWS
    return { ...filtered, page: readPage(query, isGrouped, standard) }
  }

  readFiltered(query: QueryParameters, source: ExploreSource) {
    const read = this.readClauses(query)
    const clauses = { ...read, where: [...read.where, ...geofilters(query, source.fields)] }
    const refined = readFilters(query, 'refine', source)
    const excluded = readFilters(query, 'exclude', source)
    return { clauses, filter: facetCondition(refined, excluded, clauses.timezone) }
  }

  /** Old clients of the Search API write `sort` for `order_by` (REST 3.8). */
  private readClauses(query: QueryParameters): QueryClauses {
    const isOld = this.options.dialect.name === 'search-v2' && query.order_by === undefined
    if (!isOld || query.sort === undefined) return readClauses(query)
    return readClauses({ ...query, order_by: many(query, 'sort').map(orderOf) })
  }

  /**
   * The presentation of datasets and records that a request asks for.
   *
   * @param statistics usage statistics that the query used, if they are not the current ones
   */
  presentation(
    query: QueryParameters,
    { dataset: { id } }: CatalogEntry,
    statistics?: ServedCatalog['statistics'],
  ): Presentation {
    const { timezone } = readPresentation(query)
    const { usage = uncounted } = this.options
    return {
      place: this.place,
      timezone,
      links: readParameter(query, 'include_links'),
      appMetas: readParameter(query, 'include_app_metas') ? (statistics?.get(id) ?? usage(id)) : null,
    }
  }

  /**
   * The body of a list. The later generation has links only where they are requested, and reports how many records or
   * datasets a query finds but not how many groups.
   */
  list(
    name: 'datasets' | 'records',
    query: QueryParameters,
    { plan, total, links }: { plan: Query; total: number; links: readonly PageLink[] },
    shown: readonly unknown[],
  ): unknown {
    if (!this.isFlat) return { total_count: total, links, [name]: shown }
    const isGrouped = plan.type === 'groups' && plan.keys.length > 0
    const more = readParameter(query, 'include_links') ? { _links: links } : {}
    return { ...(isGrouped ? {} : { total_count: total }), ...more, results: shown }
  }

  /** Answers a query, with the members of each row in the order of the columns. */
  async run(plan: Query, target: CompileTarget, { timezone }: QueryClauses, executor: Executor) {
    const style = { dialect: this.options.dialect, timezone }
    const { total, rows } = await answerQuery(plan, { target, style }, executor)
    const names = keysOf(plan)
    if (!losesOrder(names)) return { total, rows }
    return {
      total,
      rows: rows.map(row => ({ ...row, object: inOrder(names, name => lookup(row.object, name)) })),
    }
  }

  async ofDataset(
    reply: FastifyReply,
    make: (entry: ServedDataset, executor: Executor) => Promise<unknown>,
  ): Promise<FastifyReply> {
    const entry = this.dataset(reply.request)
    return this.answerOnce(reply, entry.version, executor => make(entry, executor))
  }

  /** Answers with what a query of the catalog that is visible to the caller makes. */
  async ofCatalog(
    reply: FastifyReply,
    make: (visible: VisibleDatasets, executor: Executor) => Promise<unknown>,
  ): Promise<FastifyReply> {
    const visible = this.visible(reply.request)
    const version = this.catalogVersion(visible, reply.request.query as QueryParameters)
    return this.answerOnce(reply, version, executor => make(visible, executor))
  }

  /**
   * Answers 304 if the client has the answer already, or from the cache of the same version; makes it otherwise.
   *
   * @param version of the data of the answer; null if that changes with every call
   */
  private async answerOnce(
    reply: FastifyReply,
    version: string | null,
    make: (executor: Executor) => Promise<unknown>,
  ): Promise<FastifyReply> {
    if (this.isKnown(reply, version)) {
      this.options.cache?.cacheable(reply, '')
      return reply.code(304).send()
    }
    const body = this.options.answers.find(reply)
    if (body === undefined) {
      const executor = this.executor()
      return this.answer(reply, await make(executor), executor)
    }
    this.options.cache?.cacheable(reply, body)
    return reply.type(JSON_TYPE).send(body)
  }

  /** Sets the entity tag of an answer, if it has one; returns true if the client has the answer already. */
  isKnown(reply: FastifyReply, version: string | null): boolean {
    const { include_app_metas: isChanging } = reply.request.query as QueryParameters
    const isFixed = this.place.source === 'catalog' && isChanging === undefined
    return isFresh(reply.request, reply, isFixed ? version : null)
  }

  /** The version of the catalog: those of its datasets; null for a query that names usage statistics. */
  catalogVersion(visible: VisibleDatasets, query: QueryParameters): string | null {
    return namesUsage(query) ? null : versionOf(visible.current())
  }

  /** Sends a body as JSON, and caches it if it has a tag. */
  answer(reply: FastifyReply, body: unknown, executor?: Executor): FastifyReply {
    const timing = executor?.watch.header() ?? ''
    if (timing !== '') reply.header('server-timing', timing)
    // Without it, some caches store an answer for minutes, although who may see it can change.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-cache')
    const text = jsonText(body)
    this.options.answers.keep(reply, text)
    return reply.type(JSON_TYPE).send(text)
  }

  /**
   * Refuses resources that the later generation replaced by select and group_by of its lists.
   *
   * @param what the resource that older generations have
   */
  refuseGone(what: 'Aggregates' | 'Queries'): void {
    if (!this.isFlat) return
    const reason = `${what} are asked of /datasets and /records in v2.1, with select and group_by.`
    throw new Fault(GONE, { reason })
  }
}

const versionOf = oncePerObject(({ entries }: DatasetList) =>
  entries.map(entry => `${entry.dataset.id} ${entry.version}`).join(','),
)

/**
 * The order_by of a `sort`: the same, except that usage statistics are sorted in descending order, which is what old clients
 * mean by `sort=explore.popularity_score`, and a minus inverts that.
 */
function orderOf(sort: string): string {
  const keys = sort.split(',').map(key => {
    const [, minus, name] = /^(-?)\s*(explore\.\w+)$/.exec(key.trim()) ?? []
    return name === undefined ? key : `${name} ${minus === '' ? 'desc' : 'asc'}`
  })
  return keys.join(',')
}
