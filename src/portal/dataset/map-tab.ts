import type { FastifyPluginAsync } from 'fastify'
import { answerFault, restBody } from '../../http/faults.ts'
import { invalid, one } from '../../http/parameters.ts'
import type { Route } from '../../http/route-config.ts'
import { exactJson } from '../../model/exact-json.ts'
import { coarsePrecision, type Field, isGeo, isNumberedName } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { simplified } from '../../model/simplify.ts'
import type { Geometry } from '../../model/value.ts'
import { recordsSpace } from '../../rdf/minted-iris.ts'
import { type Html, html } from '../../site/html.ts'
import { queryText } from '../../site/page-context.ts'
import { type PageServices, recordsSource } from '../query-service.ts'
import { apiParameters, fieldName, readSelection, selectionParameters } from '../selection.ts'
import { datasetPath, endpointAddress, endpointPaths, noRecords, type Tab, type TabContext } from './tab.ts'

/** Maximum number of fields in a popup, in addition to the name. */
const MAX_FIELDS = 8

/** The records of a selection on a map, which a script draws; without scripts a link leads to their table. */
export const mapTab: Tab = {
  name: 'map',
  label: 'Map',
  isFiltered: true,
  parameters: ['geo'],
  isShown: ({ entry }) => entry.content === 'records' && entry.dataset.fields.some(({ type }) => isGeo(type)),
  render: async context => {
    const { pageContext, services, queryService, source, entry, selection, query } = context
    const { t } = pageContext
    const fields = entry.dataset.fields.filter(({ type }) => isGeo(type))
    const isEmpty = ({ name }: Field) => lookup(entry.statistics.fields, name)?.present === 0
    const field =
      fields.find(({ name }) => name === query.geo) ?? fields.find(each => !isEmpty(each)) ?? fields[0]
    const total = await queryService.count(source, selection)
    const table = pageContext.href(
      context.path('table'),
      selectionParameters({ ...selection, page: 1, view: {} }),
    )
    if (field === undefined || total === 0)
      return {
        body: html`<p class="empty">${noRecords(context)}</p>`,
      }
    const settings = mapSettings(context, field, total)
    const tiles = services.tiles
    return {
      islands: ['map.js'],
      ...(tiles === undefined ? {} : { imageSources: [new URL(tiles.url.replace(/[{}]/g, '')).origin] }),
      body: html`${fields.length > 1 ? fieldLinks(context, fields, field) : ''}
<noscript><p class="empty">${t('The map needs scripts.')} <a href="${table}">${t('The table shows the same records.')}</a></p></noscript>
<div class="map-frame" hidden>
<div class="map" id="map" role="region" aria-label="${t('Map')}" data-map="${JSON.stringify(settings)}"></div>
<div class="map-line"><p role="status" class="map-status">${t('The map is being drawn.')}</p>${tiles === undefined || tiles.attribution === '' ? '' : html`<p class="soft">${tiles.attribution}</p>`}</div>
<details class="map-places"><summary>${t('What is in view, as a list')}</summary><ul></ul></details>
<p class="soft">${t('The arrow keys move the map, + and − change its scale; circles open when they are chosen.')}</p></div>
${twins(context, field)}`,
    }
  },
}

/** What a page passes to the script of its map. */
function mapSettings({ pageContext, services, entry, selection }: TabContext, field: Field, total: number) {
  const { t } = pageContext
  const { id, fields } = entry.dataset
  const { order_by: _, ...cached } = apiParameters(selection)
  const title = titleField(fields)
  const described = fields
    .filter(({ name, type }) => !isGeo(type) && name !== title.name)
    .slice(0, MAX_FIELDS)
  return {
    api: endpointAddress(pageContext, endpointPaths(id).explore).href,
    // Shapes as the map shows them.
    shapes: endpointAddress(pageContext, `${datasetPath(id, 'map')}shapes`).href,
    // The selection as a query string of that API; empty for all records.
    filter: queryText(cached),
    // The name of the geographic field in ODSQL, and in answers.
    field: fieldName(field.name),
    key: field.name,
    isShape: field.type === 'geo_shape',
    total,
    title: { name: title.name, text: fieldName(title.name) },
    fields: described.map(popupField),
    records: endpointAddress(pageContext, recordsSpace('', id)).href,
    // What follows the id of a record in the address of its page.
    query: queryText({ lang: pageContext.namedLanguage }),
    language: pageContext.language,
    tiles: services.tiles?.url,
    texts: {
      zoomIn: t('Zoom in'),
      zoomOut: t('Zoom out'),
      close: t('Close'),
      yes: t('yes'),
      no: t('no'),
      failed: t('The places could not be loaded.'),
      waiting: t('The places are loading.'),
      group: t('Records around {place}: {n}', { n: '{n}', place: '{place}' }),
      status: t('Records in view: {n}', { n: '{n}' }),
      groups: t('Records in view: {n}, in groups: {groups}', { n: '{n}', groups: '{groups}' }),
      cut: t('Records shown: {n}. There are more in view: zoom in to see them.', { n: '{n}' }),
      more: t('{n} more', { n: '{n}' }),
      nowhere: t('None of these records has a location.'),
    },
  }
}

export type MapSettings = ReturnType<typeof mapSettings>

/** A field whose value is in the popup of a record. */
function popupField(field: Field) {
  const { name, label } = field
  // Years and months are shown as the answer has them.
  const type = coarsePrecision(field) === null ? field.type : 'text'
  return { name, text: fieldName(name), label, type, isName: isNumberedName(field) }
}

/** The field whose value names a record. */
export function titleField(fields: readonly Field[]): Field {
  const texts = fields.filter(({ type, multivalued }) => type === 'text' && !multivalued)
  return (
    texts.find(({ annotations }) => annotations.sortable !== undefined) ??
    texts.find(({ name }) => /name|title|label|place/.test(name)) ??
    texts[0] ??
    (fields[0] as Field)
  )
}

function fieldLinks(context: TabContext, fields: readonly Field[], chosen: Field): Html {
  const { pageContext, selection, path } = context
  return html`<nav class="orders" aria-label="${pageContext.t('Places')}"><ul>${fields.map(
    ({ name, label }) => {
      const target = pageContext.href(
        path('map'),
        selectionParameters({ ...selection, page: 1, view: { geo: name } }),
      )
      return html`<li><a href="${target}"${name === chosen.name ? html` aria-current="true"` : ''}>${label}</a></li>`
    },
  )}</ul></nav>`
}

function twins({ pageContext, entry, selection }: TabContext, field: Field): Html {
  const paths = endpointPaths(entry.dataset.id)
  const { order_by: _, ...cached } = apiParameters(selection)
  const clusters = {
    ...cached,
    select: 'count(*) as number',
    group_by: `geo_cluster(${fieldName(field.name)}, 3) as place`,
    limit: 1000,
  }
  const places = endpointAddress(pageContext, `${paths.exports}/geojson`, cached).href
  const groups = endpointAddress(pageContext, paths.records, clusters).href
  return html`<p class="take-away"><span>${pageContext.t('These places as')}</span> <a href="${places}" rel="nofollow">GeoJSON</a>${
    field.type === 'geo_shape'
      ? ''
      : html` <a href="${groups}" rel="nofollow">${pageContext.t('groups as JSON')}</a>`
  }</p>`
}

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
      const select = [
        ...new Set(['recordid', fieldName(titleField(fields).name), fieldName(shape.name)]),
      ].join(', ')
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
