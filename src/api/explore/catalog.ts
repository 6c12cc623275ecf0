import type { FastifyInstance } from 'fastify'
import { readClauses, readPage } from '../../http/parameters.ts'
import { fieldNamed } from '../../model/field.ts'
import type { Condition } from '../../query/plan.ts'
import { answerQuery } from '../../records/answer.ts'
import type { CatalogRoute, DatasetRoute, Door, Source } from './door.ts'
import { pageLinks, presentDataset } from './present.ts'
import { splitSelect } from './selection.ts'

/** The catalog: its datasets, one of them, and what is counted over all (query API, "Catalog search"). */
export function catalogRoutes(app: FastifyInstance, door: Door): void {
  const { options, place } = door
  const { dialect } = options
  const home = `/${place.source}`

  app.get<CatalogRoute>(`${home}/datasets`, async (request, reply) => {
    const early = door.early(request, reply, door.catalogVersion(door.seen(request), request.query))
    if (early !== null) return early
    const asker = door.asker()
    const source = await door.catalogSource(door.seen(request), request.query)
    const { clauses, filter, page } = door.readList(request.query, source)
    const { asked: select, shown: parts } = splitSelect(clauses.select)
    const question = { ...clauses, ...page, filter, select }
    const plan = door.planCatalog(question, door.context(source, clauses), asker)
    const asked = { target: source.target, style: { dialect, timezone: clauses.timezone } }
    const { total, rows } = await answerQuery(plan, asked, asker)
    const byId = new Map(source.entries.map(entry => [entry.dataset.id, entry]))
    const shown = rows.map(({ id, object }) => {
      const entry = id === null ? undefined : byId.get(id)
      if (entry === undefined) return object
      const object_ = select === undefined ? {} : object
      const selected = clauses.select === undefined ? undefined : { object: object_, shown: parts }
      return presentDataset(entry, place, door.manner(request.query, entry, source.figures), selected)
    })
    const links = pageLinks(`${place.root}${home}/datasets`, request.query, { ...page, total })
    return door.answer(request, reply, asker, door.list('datasets', request.query, total, links, shown))
  })

  app.get<CatalogRoute>(`${home}/aggregates`, async (request, reply) => {
    door.refuseGone()
    const early = door.early(request, reply, door.catalogVersion(door.seen(request), request.query))
    if (early !== null) return early
    const asker = door.asker()
    const source = await door.catalogSource(door.seen(request), request.query)
    const { clauses, filter } = door.readFiltered(request.query, source)
    const page = readPage(request.query, true, null)
    const context = door.context(source, clauses)
    const plan = door.planCatalog({ ...clauses, ...page, filter }, context, asker, 'groups')
    const asked = { target: source.target, style: { dialect, timezone: clauses.timezone } }
    const { rows } = await answerQuery(plan, asked, asker)
    const links = [{ rel: 'self', href: `${place.root}${home}/aggregates` }]
    const aggregations = rows.map(({ object }) => object)
    return door.answer(request, reply, asker, { links, aggregations })
  })

  app.get<DatasetRoute>(`${home}/datasets/:dataset`, async (request, reply) => {
    const entry = door.seen(request).dataset(request.params.dataset)
    const early = door.early(request, reply, door.catalogVersion(door.seen(request), request.query))
    if (early !== null) return early
    const asker = door.asker()
    const manner = door.manner(request.query, entry)
    const clauses = readClauses(request.query)
    if (clauses.select === undefined)
      return door.answer(request, reply, asker, presentDataset(entry, place, manner))
    const source = await door.catalogSource(door.seen(request), request.query)
    const { asked: select, shown } = splitSelect(clauses.select)
    const question = { select, where: [], filter: isDataset(entry.dataset.id, source), limit: 1, offset: 0 }
    const plan = door.planCatalog(question, door.context(source, clauses), asker)
    const asked = { target: source.target, style: { dialect, timezone: clauses.timezone } }
    const [row] = select === undefined ? [] : (await answerQuery(plan, asked, asker)).rows
    const selected = { object: row?.object ?? {}, shown }
    return door.answer(request, reply, asker, presentDataset(entry, place, manner, selected))
  })
}

function isDataset(id: string, { fields }: Source): Condition {
  const field = fieldNamed(fields, 'datasetid')
  if (field === undefined) throw new Error('the catalog has no datasetid')
  return { type: 'compare', field, operator: '=', value: id }
}
