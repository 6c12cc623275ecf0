import { type Field, isGeo } from '../../model/field.ts'
import { recordsSpace } from '../../rdf/iris.ts'
import { type Html, html } from '../../site/html.ts'
import { queryText } from '../../site/page-context.ts'
import { fieldText } from '../chart/clauses.ts'
import type { MapSettings } from '../map/settings.ts'
import { apiParameters, selectionParameters } from '../selection.ts'
import { noRecords, type Tab, type TabContext } from './tab.ts'
import { localPath } from './table.ts'

/** Fields that are told of a place beside its name. */
const MOST_FIELDS = 8

/** The records of a selection on a map, which a script draws; without scripts a link leads to their table. */
export const mapTab: Tab = {
  name: 'map',
  label: 'Map',
  isFiltered: true,
  parameters: ['geo'],
  isShown: ({ entry }) => entry.content === 'records' && entry.dataset.fields.some(({ type }) => isGeo(type)),
  render: async context => {
    const { visit, services, inquiry, source, entry, selection, query } = context
    const { say } = visit
    const fields = entry.dataset.fields.filter(({ type }) => isGeo(type))
    const field = fields.find(({ name }) => name === query.geo) ?? fields[0]
    const total = await inquiry.count(source, selection)
    const table = visit.href(context.path('table'), selectionParameters({ ...selection, page: 1, view: {} }))
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
<noscript><p class="empty">${say('The map needs scripts.')} <a href="${table}">${say('The table shows the same records.')}</a></p></noscript>
<div class="map-frame" hidden>
<div class="map" id="map" role="region" aria-label="${say('Map')}" data-map="${JSON.stringify(settings)}"></div>
<div class="map-line"><p role="status" class="map-status">${say('The map is being drawn.')}</p>${tiles === undefined || tiles.attribution === '' ? '' : html`<p class="soft">${tiles.attribution}</p>`}</div>
<details class="map-places"><summary>${say('What is in view, as a list')}</summary><ul></ul></details>
<p class="soft">${say('The arrow keys move the map, + and − change its scale; circles open when they are chosen.')}</p></div>
${twins(context, field)}`,
    }
  },
}

/** What the script of a map has to know. */
function mapSettings(
  { visit, services, entry, selection }: TabContext,
  field: Field,
  total: number,
): MapSettings {
  const { say } = visit
  const { id, fields } = entry.dataset
  const { order_by: _, ...kept } = apiParameters(selection)
  const title = titleField(fields)
  const told = fields.filter(({ name, type }) => !isGeo(type) && name !== title.name).slice(0, MOST_FIELDS)
  return {
    api: localPath(`/api/explore/v2.1/catalog/datasets/${encodeURIComponent(id)}`, visit),
    filter: queryText(kept),
    field: fieldText(field),
    key: field.name,
    isShape: field.type === 'geo_shape',
    total,
    title: { name: title.name, text: fieldText(title) },
    fields: told.map(({ name, label, type }) => ({ name, label, type })),
    records: localPath(recordsSpace('', id), visit),
    language: visit.language,
    ...(services.tiles === undefined ? {} : { tiles: services.tiles.url }),
    texts: {
      record: say('Open the record'),
      zoomIn: say('Zoom in'),
      zoomOut: say('Zoom out'),
      close: say('Close'),
      yes: say('yes'),
      no: say('no'),
      failed: say('The places could not be fetched.'),
      waiting: say('The places are being fetched.'),
      group: say('Records around {place}: {n}', { n: '{n}', place: '{place}' }),
      status: say('Records in view: {n}', { n: '{n}' }),
      groups: say('Records in view: {n}, in groups: {groups}', { n: '{n}', groups: '{groups}' }),
      cut: say('Records that are shown: {n}. There are more in view: zoom in for them.', { n: '{n}' }),
      more: say('{n} more', { n: '{n}' }),
      nowhere: say('None of these records has a place.'),
    },
  }
}

/** The field that says what a record is called. */
function titleField(fields: readonly Field[]): Field {
  const texts = fields.filter(({ type, multivalued }) => type === 'text' && !multivalued)
  return (
    texts.find(({ annotations }) => annotations.sortable !== undefined) ??
    texts.find(({ name }) => /name|title|label|place/.test(name)) ??
    texts[0] ??
    (fields[0] as Field)
  )
}

function fieldLinks(context: TabContext, fields: readonly Field[], chosen: Field): Html {
  const { visit, selection, path } = context
  return html`<nav class="orders" aria-label="${visit.say('Places')}"><ul>${fields.map(({ name, label }) => {
    const target = visit.href(
      path('map'),
      selectionParameters({ ...selection, page: 1, view: { geo: name } }),
    )
    return html`<li><a href="${target}"${name === chosen.name ? html` aria-current="true"` : ''}>${label}</a></li>`
  })}</ul></nav>`
}

/** The same records for programs that draw maps. */
function twins({ visit, entry, selection }: TabContext, field: Field): Html {
  const path = localPath(`/api/explore/v2.1/catalog/datasets/${encodeURIComponent(entry.dataset.id)}`, visit)
  const { order_by: _, ...kept } = apiParameters(selection)
  const clusters = {
    ...kept,
    select: 'count(*) as number',
    group_by: `geo_cluster(${fieldText(field)}, 3) as place`,
  }
  return html`<p class="take-away"><span>${visit.say('These places as')}</span> <a href="${path}/exports/geojson${queryText(kept)}" rel="nofollow">GeoJSON</a>${
    field.type === 'geo_shape'
      ? ''
      : html` <a href="${path}/records${queryText({ ...clusters, limit: 1000 })}" rel="nofollow">${visit.say('groups as JSON')}</a>`
  }</p>`
}
