import type { FastifyPluginAsync } from 'fastify'
import type { ServedDataset } from '../catalog/served.ts'
import { Fault } from '../errors/errors.ts'
import { answerFault, restBody } from '../http/faults.ts'
import { DEFAULT_ZONE, one } from '../http/parameters.ts'
import type { QueryParameters } from '../http/query-string.ts'
import { type Field, fieldNamed } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'
import { EXPLORE_V21 } from '../query/dialect.ts'
import { Stopwatch } from '../query/execute/executor.ts'
import { planOdsql } from '../query/pipeline.ts'
import { faultHint, faultReason } from './parts/filter-fault.ts'
import { type QueryService, recordsSource } from './query-service.ts'
import { NOTHING_SELECTED, odsqlText } from './selection.ts'
import type { SiteServices } from './services.ts'

interface DatasetRoute {
  readonly Params: { readonly dataset: string }
}

/** Maximum number of offered values, and maximum characters of one. */
const MAX_VALUES = 20
const MAX_VALUE_LENGTH = 200

/**
 * Completions for editors of ODSQL: the fields of a dataset, values of a field that begin with a text, and the errors of a
 * condition.
 */
export const completion: FastifyPluginAsync<{
  readonly services: SiteServices
  readonly queryService: QueryService
}> = async (app, { services, queryService }) => {
  const visible = (
    request: { readonly principal: Parameters<typeof services.catalog.visibleTo>[0] },
    id: string,
  ) => services.catalog.visibleTo(request.principal).dataset(id)
  const options = { errorHandler: answerFault(restBody) }

  app.get<DatasetRoute>('/explore/dataset/:dataset/complete', options, async (request, reply) => {
    const entry = visible(request, request.params.dataset)
    const query = request.query as QueryParameters
    const name = one(query, 'field')
    reply.header('cache-control', 'no-cache')
    if (name === undefined) return { fields: entry.dataset.fields.map(fieldShown) }
    return { values: await valuesOf(entry, name, one(query, 'prefix') ?? '', queryService) }
  })

  app.get<DatasetRoute>('/explore/dataset/:dataset/check', options, async (request, reply) => {
    const { dataset } = visible(request, request.params.dataset)
    const query = request.query as QueryParameters
    const context = {
      dataset,
      technical: true,
      timezone: DEFAULT_ZONE,
      language: 'en',
      dialect: EXPLORE_V21,
      now: services.now(),
    } as const
    reply.header('cache-control', 'no-cache')
    try {
      const where = [one(query, 'where') ?? '']
      const orderBy = one(query, 'order_by') ?? ''
      planOdsql({ where, orderBy, limit: 0, offset: 0 }, context, new Stopwatch(services.clock))
      return { fault: null }
    } catch (error) {
      if (!(error instanceof Fault) || error.status !== 400) throw error
      const { from, to } = error.place
      return { fault: { message: faultReason(error), hint: faultHint(error), from, to } }
    }
  })
}

function fieldShown({ name, type, label, description }: Field) {
  return { name, type, label, description }
}

/** The most frequent values of a text field with words that begin with those of a text. */
async function valuesOf(
  entry: ServedDataset,
  name: string,
  prefix: string,
  queryService: QueryService,
): Promise<readonly { readonly value: string; readonly count: number }[]> {
  const { dataset, statistics } = entry
  const field = fieldNamed(dataset.fields, name)
  if (field?.type !== 'text') return []
  // For a field with very many values, a query without a prefix is not worth the time.
  const hasMany = lookup(statistics.fields, name)?.distinct === null
  const words = prefix.trim().slice(0, 100)
  if (hasMany && words.length < 2) return []
  const quoted = `\`${name}\``
  const label = name === 'n' ? 'm' : 'n'
  const { rows } = await queryService.find(recordsSource(entry), NOTHING_SELECTED, {
    select: `count(*) as ${label}`,
    where: /[\p{L}\p{N}]/u.test(words) ? [`suggest(${quoted}, ${odsqlText(words)})`] : [],
    groupBy: quoted,
    orderBy: `${label} desc`,
    limit: MAX_VALUES,
    offset: 0,
  })
  return rows.flatMap(({ object }) => {
    const value = lookup(object, name)
    return typeof value === 'string' && value.length <= MAX_VALUE_LENGTH
      ? [{ value, count: Number(object[label]) }]
      : []
  })
}
