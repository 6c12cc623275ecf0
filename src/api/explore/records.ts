import type { FastifyInstance } from 'fastify'
import type { ServedDataset } from '../../catalog/served.ts'
import { Fault } from '../../errors.ts'
import { readClauses, readPage } from '../../http/parameters.ts'
import { exactJson } from '../../model/exact-json.ts'
import { recordIri } from '../../rdf/iris.ts'
import { type AnswerRow, answerQuery } from '../../records/answer.ts'
import { planOdsql } from '../../records/ask.ts'
import { findRecord } from '../../records/find.ts'
import { recordObject } from '../../records/json.ts'
import type { DatasetRoute, Door, RecordRoute } from './door.ts'
import { type Manner, pageLinks, presentRecord } from './present.ts'

/** The records of a dataset: pages, one of them, groups and exports (query API, "Record search" and below). */
export function recordRoutes(app: FastifyInstance, door: Door): void {
  const { options, place } = door
  const { base, dialect } = options
  const datasets = `/${place.source}/datasets`

  app.get<DatasetRoute>(`${datasets}/:dataset/records`, async (request, reply) => {
    const entry = door.seen(request).dataset(request.params.dataset)
    const early = door.early(request, reply, entry.version)
    if (early !== null) return early
    const asker = door.asker()
    const source = door.datasetSource(entry)
    const { clauses, filter, page } = door.readList(request.query, source)
    const plan = planOdsql({ ...clauses, ...page, filter }, door.context(source, clauses), asker.watch)
    const asked = { target: entry.target, style: { dialect, timezone: clauses.timezone } }
    const { total, rows } = await answerQuery(plan, asked, asker)
    const manner = door.manner(request.query, entry)
    const shown = rows.map(row => presentRow(row, entry, manner))
    const home = `${place.root}${datasets}/${entry.dataset.id}/records`
    const links = pageLinks(home, request.query, { ...page, total })
    return door.answer(request, reply, asker, door.list('records', request.query, total, links, shown))
  })

  app.get<DatasetRoute>(`${datasets}/:dataset/aggregates`, async (request, reply) => {
    door.refuseGone()
    const entry = door.seen(request).dataset(request.params.dataset)
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
    const entry = door.seen(request).dataset(request.params.dataset)
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
    const row = await findRecord(id, recordIri(base, entry.target.dataset.id, id), plan, entry.target, asker)
    if (row === null) throw new Fault('NotFoundResource', { kind: 'record', id: id.slice(0, 100) })
    const style = { dialect, timezone: clauses.timezone }
    const object = recordObject(row, plan.select, entry.dataset.fields, style)
    const size = [...exactJson(row.record.values)].length
    const manner = door.manner(request.query, entry)
    return door.answer(request, reply, asker, presentRow({ id: row.record.id, size, object }, entry, manner))
  })

  function presentRow(row: AnswerRow, entry: ServedDataset, manner: Manner): unknown {
    return row.id === null ? row.object : presentRecord(row, entry, place, manner)
  }
}
