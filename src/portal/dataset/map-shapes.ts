import type { FastifyPluginAsync } from 'fastify'
import { answerFault, restBody } from '../../http/faults.ts'
import { invalid, one } from '../../http/parameters.ts'
import type { Route } from '../../http/route-config.ts'
import { exactJson } from '../../model/exact-json.ts'
import { lookup } from '../../model/lookup.ts'
import { simplified } from '../../model/simplify.ts'
import type { Geometry } from '../../model/value.ts'
import { fieldText } from '../chart/clauses.ts'
import { type PageServices, recordsSource } from '../query-service.ts'
import { readSelection } from '../selection.ts'
import { titleField } from './map-tab.ts'

/** One more than a map shows: it tells that there are more. */
const MAX_SHAPES = 251
const MAX_ZOOM = 24
/** Pixels of the world at the scale 0. */
const WORLD = 256

/**
 * The shapes of a selection as a map of a scale shows them, to the pixel: whole ones may have megabytes. Rows are as in the export
 * as JSON.
 */
export const mapShapes: FastifyPluginAsync<PageServices> = async (app, { catalog, queryService }) => {
  app.get<Route<'dataset'>>(
    '/explore/dataset/:dataset/map/shapes',
    { errorHandler: answerFault(restBody) },
    async ({ params, query, principal }, reply) => {
      const entry = catalog.visibleTo(principal).dataset(params.dataset)
      const { fields } = entry.dataset
      const [geo, zoom] = [one(query, 'geo') ?? '', Number(one(query, 'zoom') ?? 0)]
      const shape = fields.find(({ name, type }) => name === geo && type === 'geo_shape')
      if (shape === undefined) throw invalid('geo', geo, 'the name of a field of shapes')
      if (!(zoom >= 0 && zoom <= MAX_ZOOM)) throw invalid('zoom', zoom, `0 to ${MAX_ZOOM}`)
      const step = 360 / (WORLD * 2 ** Math.ceil(zoom))
      const source = recordsSource(entry)
      const selection = readSelection(query)
      const select = [...new Set(['recordid', fieldText(titleField(fields)), fieldText(shape)])].join(', ')
      const answer = await queryService.drawing(source, selection, ['shapes', shape.name, step], async () => {
        const found: Readonly<Record<string, unknown>>[] = []
        for await (const rows of queryService.pieces(source, selection, { select, limit: MAX_SHAPES }))
          for (const row of rows) {
            const feature = lookup(row, shape.name) as { readonly geometry: Geometry } | null
            const geometry = feature === null ? null : simplified(feature.geometry, step)
            found.push({ ...row, [shape.name]: { geometry } })
          }
        return exactJson(found)
      })
      return reply.type('application/json; charset=utf-8').send(answer)
    },
  )
}
