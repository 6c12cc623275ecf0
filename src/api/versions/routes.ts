import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Catalog } from '../../catalog/catalog.ts'
import {
  CHANGE_TYPES,
  type ChangeType,
  changeCounts,
  changedRecords,
  type RecordChange,
} from '../../catalog/changed-records.ts'
import type { OpenVersion } from '../../catalog/retained-versions.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { Fault, NOT_ACCEPTABLE, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { turtleText } from '../../formats/turtle.ts'
import { BY_CALLER, entityTag, isNotModified, varyBy } from '../../http/conditional.ts'
import { answerFault, restBody } from '../../http/faults.ts'
import { JSON_TYPE, prettyJson } from '../../http/json.ts'
import { negotiate } from '../../http/negotiate.ts'
import { invalid, many, one, readPage } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { configureRoutes, type Route } from '../../http/route-config.ts'
import type { VersionChanges } from '../../publishing/versions/changes.ts'
import { unknownVersion } from '../../publishing/versions/roll-back.ts'
import type { VersionManifest } from '../../publishing/versions/versions.ts'
import { EXPLORE_V21 } from '../../query/dialect.ts'
import { valueJson } from '../../query/execute/record-json.ts'
import { datasetIri, recordIri } from '../../rdf/minted-iris.ts'
import { STORE_UNAVAILABLE } from '../../store/faults.ts'
import type { Store } from '../../store/store.ts'
import {
  changedMembers,
  PAGE_MEMBERS,
  pageTriples,
  partNamed,
  rootTriples,
  STREAM_PREFIXES,
  type StreamPart,
} from './event-stream.ts'
import { changesFeed, LINK_FORMAT, stepsOf, timeMap, versionIri, versionsAddress } from './feed.ts'

export interface VersionsOptions {
  readonly base: string
  readonly catalog: Pick<Catalog, 'versionsOf' | 'retained'>
  readonly changes: VersionChanges
  readonly store: Pick<Store, 'contents'>
}

type VersionsRoute = Route<'dataset' | 'part' | 'page'>

type RetainedManifests = readonly [VersionManifest, ...VersionManifest[]]

/** Formats of the event stream (LDES, section on serialisations). */
const STREAM_FORMATS = [
  { type: 'text/turtle' },
  { type: 'application/trig', explicit: true },
  { type: 'application/n-quads', explicit: true },
  { type: 'application/n-triples', explicit: true },
] as const

/**
 * The retained versions of a dataset at `/api/versions/{dataset}`: their list, the changes between two of them, a feed
 * (RFC 4287) and an event stream (LDES) of all changes, and TimeMaps (RFC 7089).
 */
export const versions: FastifyPluginAsync<VersionsOptions> = async (app, options) => {
  const { base, catalog, changes, store } = options
  app.setErrorHandler(answerFault(restBody))
  configureRoutes(app, { apiType: 'other' })
  const path = '/api/versions/:dataset'

  const retainedFor = (request: FastifyRequest<VersionsRoute>): RetainedManifests => {
    const { dataset: id } = request.params
    const [first, ...rest] = catalog.versionsOf(id, request.principal)
    if (first === undefined)
      throw new Fault(STORE_UNAVAILABLE, {
        reason: `the versions of ${id} are kept by another instance than this one.`,
      })
    return [first, ...rest]
  }

  app.get<VersionsRoute>(path, async (request, reply) => {
    const retained = retainedFor(request)
    const home = versionsAddress(base, request.params.dataset)
    const body = prettyJson({
      dataset: request.params.dataset,
      changes: `${home}/changes`,
      feed: `${home}/feed`,
      ldes: `${home}/ldes`,
      timemap: `${home}/timemap`,
      versions: retained.map((manifest, at) => versionJson(base, manifest, at === 0)),
    })
    return answer(reply, JSON_TYPE, body)
  })

  app.get<VersionsRoute>(`${path}/changes`, async (request, reply) => {
    const retained = retainedFor(request)
    const types = readTypes(request.query)
    const page = readPage(request.query, false)
    const [earlier, later] = pairOf(request, retained)
    const difference = await changes.between(earlier, later)
    const counts = changeCounts(difference)
    return withOpened(catalog, [earlier, later], async (old, opened) => {
      if (opened === undefined) throw new Error('no version was opened')
      const { entry: now } = opened
      const isRdf = now.content === 'rdf'
      const found = isRdf ? [] : await changedRecords(store, [old.entry, now], difference, types, page)
      const body = prettyJson({
        dataset: request.params.dataset,
        from: versionJson(base, earlier, earlier === retained[0]),
        to: versionJson(base, later, later === retained[0]),
        counts,
        total_count: types.reduce((sum, type) => sum + counts[type], 0),
        results: found.map(change => changeJson(base, now, change)),
      })
      return answer(reply, JSON_TYPE, body)
    })
  })

  app.get<VersionsRoute>(`${path}/feed`, async (request, reply) => {
    const retained = retainedFor(request)
    const steps = []
    for (const step of stepsOf(retained))
      steps.push({ ...step, difference: await changes.between(step.earlier, step.later) })
    return answer(reply, 'application/atom+xml; charset=utf-8', changesFeed(base, retained, steps))
  })

  app.get<VersionsRoute>(`${path}/timemap`, async (request, reply) => {
    const retained = retainedFor(request)
    const id = request.params.dataset
    const uri = one(request.query, 'uri') ?? datasetIri(base, id)
    return answer(reply, LINK_FORMAT, timeMap(base, id, uri, retained))
  })

  /** The versions as parts of the event stream, from the oldest to the latest. */
  const partsOf = async (retained: RetainedManifests): Promise<readonly [StreamPart, ...StreamPart[]]> => {
    const oldest = retained.at(-1) ?? retained[0]
    const parts: [StreamPart, ...StreamPart[]] = [{ manifest: oldest, step: null }]
    for (const { earlier, later } of [...stepsOf(retained)].reverse())
      parts.push({ manifest: later, step: { earlier, difference: await changes.between(earlier, later) } })
    return parts
  }

  const countOf = async ({ step }: StreamPart, { entry }: Pick<OpenVersion, 'entry'>): Promise<number> =>
    step === null
      ? (await store.contents(entry.target.graphs.facts, [])).subjects
      : changedMembers(step.difference)

  app.get<VersionsRoute>(`${path}/ldes`, async (request, reply) => {
    const parts = await partsOf(retainedFor(request))
    const counts: number[] = []
    for (const part of parts)
      counts.push(await withOpened(catalog, [part.manifest], opened => countOf(part, opened)))
    return answerStream(reply, rootTriples(base, parts, counts), false)
  })

  app.get<VersionsRoute>(`${path}/ldes/:part/:page`, async (request, reply) => {
    const { dataset: id, part: name, page: number } = request.params
    const part = partNamed(await partsOf(retainedFor(request)), name)
    const page = /^[1-9]\d{0,6}$/.test(number) ? Number(number) : 0
    const missing = () =>
      new Fault(NOT_FOUND_RESOURCE, {
        kind: `page of the event stream of ${id}`,
        id: `${name}/${number}`.slice(0, 100),
      })
    if (part === undefined) throw missing()
    const versions = [part.manifest, part.step?.earlier] as const
    return withOpened(catalog, versions, async (now, old) => {
      const count = await countOf(part, now)
      if (page === 0 || (page - 1) * PAGE_MEMBERS >= count) throw missing()
      const source = { store, entry: now.entry, earlier: old?.entry ?? null }
      return answerStream(reply, await pageTriples(base, part, page, count, source), true)
    })
  })
}

function versionJson(base: string, manifest: VersionManifest, isInForce: boolean) {
  const { version, published, statistics, graphs, restored, mapping } = manifest
  const role = mapping === null ? 'facts' : 'mapped'
  return {
    version,
    published,
    records: statistics.records,
    triples: graphs.find(graph => graph.role === role)?.triples ?? 0,
    in_force: isInForce,
    restored: restored?.version ?? null,
    iri: versionIri(base, manifest),
    records_url: `${base}/api/explore/v2.1/catalog/datasets/${manifest.dataset.id}/records?version=${encodeURIComponent(version)}`,
  }
}

/** The compared versions: by default the current one and its predecessor. Faults: VersionUnknown. */
function pairOf(
  { query, params }: FastifyRequest<VersionsRoute>,
  retained: RetainedManifests,
): readonly [VersionManifest, VersionManifest] {
  const named = (parameter: 'from' | 'to') => {
    const required = one(query, parameter)
    if (required === undefined) return undefined
    const found = retained.find(({ version }) => version === required)
    if (found === undefined) throw unknownVersion(params.dataset, required, retained)
    return found
  }
  const later = named('to') ?? retained[0]
  const earlier = named('from') ?? retained[retained.indexOf(later) + 1] ?? later
  return [earlier, later]
}

/** Opens one or two versions for some work. */
async function withOpened<Result>(
  { retained }: Pick<Catalog, 'retained'>,
  [first, second]: readonly [VersionManifest, VersionManifest | undefined] | readonly [VersionManifest],
  work: (first: OpenVersion, second?: OpenVersion) => Promise<Result>,
): Promise<Result> {
  const opened = await retained.opened(first.dataset.id, first.version)
  try {
    if (second === undefined) return await work(opened)
    return await withOpened({ retained }, [second], other => work(opened, other))
  } finally {
    opened.release()
  }
}

function answerStream(reply: FastifyReply, triples: string, isImmutable: boolean): FastifyReply {
  const format = negotiate(reply.request.headers.accept, STREAM_FORMATS)
  if (format === null)
    throw new Fault(NOT_ACCEPTABLE, { available: STREAM_FORMATS.map(({ type }) => type).join(', ') })
  const isTurtle = format.type === 'text/turtle' || format.type === 'application/trig'
  const body = isTurtle ? turtleText(triples, STREAM_PREFIXES) : triples
  varyBy(reply, 'Accept')
  return answer(reply, `${format.type}; charset=utf-8`, body, isImmutable)
}

function answer(reply: FastifyReply, type: string, body: string, isImmutable = false): FastifyReply {
  const { request } = reply
  const tag = entityTag(type, body)
  const scope = request.principal.type === 'anonymous' ? 'public' : 'private'
  const cacheControl = `${scope}, ${isImmutable ? 'max-age=604800, immutable' : 'no-cache'}`
  const vary = ['Accept-Encoding', ...BY_CALLER]
  if (isNotModified(request, reply, { tag, cacheControl, vary })) return reply.code(304).send()
  return reply.type(type).send(body)
}

const STYLE = { dialect: EXPLORE_V21, timezone: 'UTC' } as const

/** The requested kinds of changes, all by default. Faults: InvalidRESTParameterError. */
function readTypes(query: QueryParameters): readonly ChangeType[] {
  const named = many(query, 'type')
    .flatMap(value => value.split(','))
    .filter(name => name !== '')
  if (named.length === 0) return CHANGE_TYPES
  return named.map(name => {
    const found = CHANGE_TYPES.find(type => type === name)
    if (found === undefined) throw invalid('type', name, CHANGE_TYPES.join(', '))
    return found
  })
}

/** A changed record as JSON: values as the Explore API writes them. */
function changeJson(base: string, { dataset }: ServedDataset, { type, id, fields }: RecordChange): unknown {
  return {
    type,
    recordid: id,
    iri: recordIri(base, dataset.id, id),
    fields: fields.map(({ field, before, after }) => ({
      name: field.name,
      label: field.label,
      type: field.type,
      before: valueJson(before, field.type, STYLE),
      after: valueJson(after, field.type, STYLE),
    })),
  }
}
