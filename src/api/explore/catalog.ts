import type { FastifyInstance } from 'fastify'
import { readManners, readPage } from '../../http/parameters.ts'
import { answerQuery } from '../../records/answer.ts'
import { planOdsql } from '../../records/ask.ts'
import type { CatalogRoute, DatasetRoute, Door } from './door.ts'
import { pageLinks, presentDataset, presentFlatDataset } from './present.ts'

/** The catalog: its datasets, one of them, and what is counted over all (query API, "Catalog search"). */
export function catalogRoutes(app: FastifyInstance, door: Door): void {
  const { options, isFlat, place } = door
  const { catalog, dialect } = options

  app.get<CatalogRoute>('/catalog/datasets', async (request, reply) => {
    const asker = door.asker()
    const source = door.catalogSource()
    const { entries } = catalog.current()
    const { clauses, filter, page } = door.readList(request.query, source)
    const plan = planOdsql({ ...clauses, ...page, filter }, door.context(source, clauses), asker.watch)
    const asked = { target: source.target, style: { dialect, timezone: clauses.timezone } }
    const { total, rows } = await answerQuery(plan, asked, asker)
    const byId = new Map(entries.map(entry => [entry.dataset.id, entry]))
    const shown = rows.map(({ id, object }) => {
      const entry = id === null ? undefined : byId.get(id)
      if (entry === undefined) return object
      const selected = clauses.select === undefined ? undefined : object
      return isFlat ? (selected ?? presentFlatDataset(entry, place)) : presentDataset(entry, place, selected)
    })
    if (isFlat) return door.answer(request, reply, asker, { total_count: total, results: shown })
    const links = pageLinks(`${place.root}/catalog/datasets`, request.query, { ...page, total })
    return door.answer(request, reply, asker, { total_count: total, links, datasets: shown })
  })

  app.get<CatalogRoute>('/catalog/aggregates', async (request, reply) => {
    door.refuseGone()
    const asker = door.asker()
    const source = door.catalogSource()
    const { clauses, filter } = door.readFiltered(request.query, source)
    const page = readPage(request.query, true, null)
    const context = door.context(source, clauses)
    const plan = planOdsql({ ...clauses, ...page, filter }, context, asker.watch, 'groups')
    const asked = { target: source.target, style: { dialect, timezone: clauses.timezone } }
    const { rows } = await answerQuery(plan, asked, asker)
    const links = [{ rel: 'self', href: `${place.root}/catalog/aggregates` }]
    const aggregations = rows.map(({ object }) => object)
    return door.answer(request, reply, asker, { links, aggregations })
  })

  app.get<DatasetRoute>('/catalog/datasets/:dataset', async (request, reply) => {
    readManners(request.query)
    const entry = catalog.dataset(request.params.dataset)
    const shown = isFlat ? presentFlatDataset(entry, place) : presentDataset(entry, place)
    return door.answer(request, reply, door.asker(), shown)
  })
}
