import { accept, cross, type GoldenRequest, get, KNOWN, key, methods, parameter } from './request.ts'
import { queries, table, words } from './tables.ts'

const OLD = ['/api/v2', '/api/explore/v2.0']
const NEW = '/api/explore/v2.1'
const ALL = [...OLD, NEW]
const THINGS = 'catalog/datasets/things'
const DATASETS = words('countries earthquakes weather graph plain places secret none')
const FORMATS = words('json jsonl csv geojson xls xlsx shp kml gpx fgb parquet turtle rdfxml n3 jsonld nope')
const CATALOG_FORMATS = words(
  'json csv xls xlsx rss ttl rdf data.json dcat dcat_ap_ch dcat_ap_de dcat_ap_se dcat_ap_sp dcat_ap_it dcat_ap_vl dcat_ap_benap geojson nope',
)

function recordRequests(): readonly GoldenRequest[] {
  const filters = table('filters').map(filter => parameter('where', filter))
  const [clauses, groups] = [queries('clauses'), queries('groups')]
  const parts = [
    '',
    ...words('/records /facets /exports /attachments /query /aggregates /swagger.json /records/nope'),
  ]
  return [
    ...cross(ALL.slice(1), filters, (api, where) => get(`${api}/${THINGS}/records`, `${where}&limit=3`)),
    ...filters.map(where => get(`${NEW}/${THINGS}/exports/csv`, `${where}&select=id`)),
    ...cross(ALL, clauses, (api, clause) => get(`${api}/${THINGS}/records`, clause)),
    ...cross(OLD, clauses.slice(0, 24), (api, clause) => get(`${api}/${THINGS}/query`, clause)),
    ...cross(OLD, groups, (api, clause) => get(`${api}/${THINGS}/aggregates`, clause)),
    ...cross(['records', 'exports/json'], groups, (part, clause) => get(`${NEW}/${THINGS}/${part}`, clause)),
    ...ALL.flatMap(api =>
      cross(DATASETS, parts, (id, part) =>
        get(`${api}/catalog/datasets/${id}${part}`, part === '/records' ? 'limit=2' : ''),
      ),
    ),
    ...cross(ALL, table('parts of a dataset'), (api, part) => get(`${api}/${THINGS}/${part}`)),
    ...cross(ALL, words('kind tags day active seen name nofield'), (api, facet) =>
      get(`${api}/${THINGS}/facets`, `facet=${facet}&where=amount%20%3E%2020`),
    ),
  ]
}

function exportRequests(): readonly GoldenRequest[] {
  const options = queries('export options').map(line => line.split(' ') as [string, string?])
  const download = 'refine.kind=chair&rows=3&use_labels_for_header=true&csv_separator=%2C'
  return [
    ...ALL.flatMap(api =>
      cross(words('things places graph plain'), FORMATS, (id, format) =>
        get(`${api}/catalog/datasets/${id}/exports/${format}`),
      ),
    ),
    ...FORMATS.map(format => get(`${NEW}/catalog/datasets/countries/exports/${format}`, 'limit=20')),
    ...cross(ALL.slice(1), options, (api, [format, clause]) =>
      get(`${api}/${THINGS}/exports/${format}`, clause),
    ),
    ...cross(ALL, CATALOG_FORMATS, (api, format) => get(`${api}/catalog/exports/${format}`)),
    ...CATALOG_FORMATS.map(format => get(`${NEW}/catalog/exports/${format}`, 'where=%22things%22&lang=fr')),
    ...words('csv xls json geojson shp nope').map(format =>
      get('/explore/dataset/things/download/', `format=${format}&${download}`),
    ),
    get(
      '/explore/dataset/things/download',
      'disjunctive.kind=true&refine.kind=chair&refine.kind=table&sort=-amount&fields=name,amount&q=thing',
    ),
  ]
}

function catalogRequests(): readonly GoldenRequest[] {
  return [
    ...cross(ALL, queries('catalog clauses'), (api, clause) => get(`${api}/catalog/datasets`, clause)),
    ...cross(
      OLD,
      ['query', 'query?limit=2', 'query?where=bad', 'aggregates', 'aggregates?group_by=publisher'],
      (api, part) => get(`${api}/catalog/${part}`),
    ),
    ...cross(ALL, table('catalog'), (api, part) => get(`${api}${part}`)),
    ...ALL.flatMap(api =>
      cross(words('opendatasoft network monitoring'), table('sources'), (source, part) =>
        get(`${api}/${source}${part}`),
      ),
    ),
    ...ALL.map(api =>
      get(
        `${api}/monitoring/datasets/ods-datasets-monitoring/records`,
        'select=dataset_id&order_by=dataset_id',
      ),
    ),
  ]
}

function accessRequests(): readonly GoldenRequest[] {
  const secret = `${NEW}/catalog/datasets/secret`
  const parts = ['', ...words('/records /exports/csv /attachments /attachments/secret_txt /facets')]
  const preflight = {
    origin: 'https://else.example',
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization',
  }
  const conditions = [
    KNOWN,
    { 'if-none-match': '*' },
    { 'if-none-match': '"other"' },
    { 'if-match': '"other"' },
    { 'accept-encoding': 'gzip' },
    { 'accept-encoding': 'br' },
    { origin: 'https://else.example' },
    { range: 'bytes=0-9' },
    accept('text/html'),
  ]
  const addresses = [
    `${THINGS}/records?limit=1`,
    `${THINGS}/exports/csv`,
    'catalog/datasets',
    'swagger.json',
    'catalog/exports/dcat',
  ]
  return [
    ...cross(parts, words('nobody reader editor'), (part, name) => get(`${secret}${part}`, '', key(name))),
    ...['Apikey nonsense', 'Basic bm9ib2R5OnB3', 'Basic !', 'Bearer nonsense', 'Digest x', 'Apikey'].map(
      authorization => get(`${secret}/records`, '', { authorization }),
    ),
    ...words('reader nobody').map(name => get(`${secret}/records`, `apikey={key:${name}}`)),
    ...words(
      'catalog/datasets?select=dataset_id catalog/exports/csv?select=dataset_id monitoring/datasets',
    ).map(part => get(`${NEW}/${part}`, '', key('reader'))),
    ...cross(addresses, conditions, (part, headers) => get(`${NEW}/${part}`, '', headers)),
    ...addresses.flatMap(part => methods('HEAD OPTIONS POST PUT DELETE', `${NEW}/${part}`)),
    ...addresses.flatMap(part => methods('OPTIONS', `${NEW}/${part}`, preflight)),
  ]
}

/** Requests of the Search and Explore APIs. */
export function restRequests(): readonly GoldenRequest[] {
  return [...recordRequests(), ...exportRequests(), ...catalogRequests(), ...accessRequests()]
}
