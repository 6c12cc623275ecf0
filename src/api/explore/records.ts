import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServedDataset } from '../../catalog/served.ts'
import { Fault } from '../../errors/errors.ts'
import { readClauses, readPage } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { exactJson } from '../../model/exact-json.ts'
import { type Answer, answerQuery } from '../../query/execute/answer.ts'
import { findRecord } from '../../query/execute/find.ts'
import { recordObject } from '../../query/execute/json.ts'
import { planOdsql } from '../../query/pipeline.ts'
import type { Query } from '../../query/plan.ts'
import type { DatasetRoute, Door, RecordRoute } from './endpoint.ts'
import { pageLinks, presentRecord, presentRow } from './present.ts'

/** The records of a dataset: pages, one of them, groups and exports (query API, "Record search" and below). */
export function recordRoutes(app: FastifyInstance, door: Door): void {
  const { options, place } = door
  const { dialect } = options
  const datasets = `/${place.source}/datasets`

  /** What a list or groups of records are answered with. */
  interface Found {
    readonly query: QueryParameters
    readonly entry: ServedDataset
    readonly plan: Query
    readonly answer: Answer
    readonly page: { readonly limit: number; readonly offset: number }
  }
  const answered =
    (body: (found: Found) => unknown) =>
    async (request: FastifyRequest<DatasetRoute>, reply: FastifyReply) => {
      const { query } = request
      const entry = door.dataset(request)
      const early = door.early(request, reply, entry.version)
      if (early !== null) return early
      const asker = door.asker()
      const source = door.datasetSource(entry)
      const { clauses, filter, page } = door.readList(query, source)
      const plan = planOdsql({ ...clauses, ...page, filter }, door.context(source, clauses), asker.watch)
      const asked = { target: entry.target, style: { dialect, timezone: clauses.timezone } }
      const answer = await answerQuery(plan, asked, asker)
      return door.answer(request, reply, asker, body({ query, entry, plan, answer, page }))
    }

  app.get<DatasetRoute>(
    `${datasets}/:dataset/records`,
    answered(({ query, entry, plan, answer: { total, rows }, page }) => {
      const manner = door.manner(query, entry)
      const shown = rows.map(row => presentRow(row, plan, entry, place, manner))
      const home = `${place.root}${datasets}/${entry.dataset.id}/records`
      const links = pageLinks(home, query, { ...page, total })
      return door.list('records', query, { plan, total, links }, shown)
    }),
  )

  // The older generations have lists without wrappers, as later ones have at /records.
  const query = answered(({ answer: { total, rows } }) => ({
    total_count: total,
    results: rows.map(({ object }) => object),
  }))
  app.get<DatasetRoute>(`${datasets}/:dataset/query`, (request, reply) => {
    door.refuseGone('Queries')
    return query(request, reply)
  })

  app.get<DatasetRoute>(`${datasets}/:dataset/aggregates`, async (request, reply) => {
    door.refuseGone('Aggregates')
    const entry = door.dataset(request)
    const early = door.early(request, reply, entry.version)
    if (early !== null) return early
    const asker = door.asker()
    const source = door.datasetSource(entry)
    const { clauses, filter } = door.readFiltered(request.query, source)
    const page = readPage(request.query, true, null)
    const context = door.context(source, clauses)
    const plan = planOdsql({ ...clauses, ...page, filter }, context, asker.watch, 'groups')
    const asked = { target: entry.target, style: { dialect, timezone: clauses.timezone } }
    const { rows } = await answerQuery(plan, asked, asker)
    return door.answer(request, reply, asker, { aggregations: rows.map(({ object }) => object) })
  })

  app.get<RecordRoute>(`${datasets}/:dataset/records/:record`, async (request, reply) => {
    const entry = door.dataset(request)
    const early = door.early(request, reply, entry.version)
    if (early !== null) return early
    const clauses = readClauses(request.query)
    const asker = door.asker()
    const { record: id } = request.params
    const context = door.context(door.datasetSource(entry), clauses)
    const plan = planOdsql({ select: clauses.select, where: [], limit: 1, offset: 0 }, context, asker.watch)
    if (plan.type !== 'records')
      throw new Fault('ODSQLError', {
        reason: 'An aggregate cannot be selected of one record.',
        clause: 'select',
      })
    const row = await findRecord(id, plan, entry.target, asker)
    if (row === null) throw new Fault('NotFoundResource', { kind: 'record', id: id.slice(0, 100) })
    const style = { dialect, timezone: clauses.timezone }
    const object = recordObject(row, plan.select, entry.dataset.fields, style)
    const size = [...exactJson(row.record.values)].length
    const manner = door.manner(request.query, entry)
    const shown = presentRecord({ id: row.record.id, size, object }, entry, place, manner)
    return door.answer(request, reply, asker, shown)
  })
}
