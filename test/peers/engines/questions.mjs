import * as odata from '../../support/odata-generator.ts'
import * as odataGroups from '../../support/odata-groups.ts'
import * as odataRecords from '../../support/odata-records.ts'
import * as odsql from '../../support/odsql-generator.ts'
import { makeRecords } from './portal.mjs'

/**
 * The requests that are asked of every store: { kind, url, headers }. The same seed gives the same requests.
 */

const { between, chance, pick } = odsql
const ZONES = ['UTC', 'Europe/Paris', 'America/New_York', 'Asia/Kolkata']

const url = (path, parameters) => {
  const query = Object.entries(parameters).flatMap(([name, value]) =>
    value === '' || value === undefined
      ? []
      : [value].flat().map(each => `${encodeURIComponent(name)}=${encodeURIComponent(each)}`),
  )
  return query.length === 0 ? path : `${path}?${query.join('&')}`
}

/** Random queries of ODSQL: pages, exports, groups, figures. */
export function odsqlQuestions(seed, count) {
  makeRecords(seed)
  odsql.startFrom(seed + 1)
  return Array.from({ length: count }, () => {
    const { kind, clauses } = odsql.ask()
    const version = pick(['v2.0', 'v2.1'])
    const context = { timezone: pick(ZONES), lang: pick(['fr', 'en', 'de']) }
    const root = `/api/explore/${version}/catalog/datasets/made`
    const isWhole = kind === 'records' && chance(0.4)
    const limits = isWhole
      ? {}
      : {
          limit: String(between(1, 100)),
          offset: kind === 'figures' ? '' : String(chance(0.5) ? 0 : between(0, 300)),
        }
    return {
      kind: `odsql ${kind}`,
      url: url(isWhole ? `${root}/exports/json` : `${root}/records`, { ...clauses, ...context, ...limits }),
    }
  })
}

const FACETS = ['title', 'word', 'n', 'm', 'x', 'flag', 'on', 'at', 'tags', 'codes', 'big']
const ODD_FACETS = ['text', 'n', 'x', 'on', 'at', 'flag', 'many']

/** Facets of the generated records, with and without what is refined, and of the odd ones. */
export function facetQuestions() {
  const root = '/api/explore/v2.1/catalog/datasets'
  return [
    ...FACETS.map(facet => ({ kind: 'facet', url: url(`${root}/made/facets`, { facet }) })),
    ...ODD_FACETS.map(facet => ({ kind: 'facet', url: url(`${root}/odd/facets`, { facet }) })),
    { kind: 'facet', url: url(`${root}/made/facets`, { facet: ['flag', 'codes'], refine: ['codes:a1'] }) },
    { kind: 'facet', url: url(`${root}/made/facets`, { facet: ['tags', 'n'], where: 'n > 2 or flag' }) },
    {
      kind: 'facet',
      url: url(`${root}/countries/facets`, { facet: ['region', 'currencies'], exclude: ['region:Europe'] }),
    },
    { kind: 'facet', url: '/api/explore/v2.1/catalog/facets' },
  ]
}

/** Random filters of OData: entities, counts, pages; and groups. */
export function odataQuestions(seed, count) {
  const { asked } = makeRecords(seed)
  odata.askAbout(asked)
  odataRecords.startFrom(seed + 2)
  const filters = Array.from({ length: count }, (_, index) => {
    const { options } = odata.ask(index % 4 === 3)
    const page = odataRecords.chance(0.3) ? { $top: '20', $skip: String(odataRecords.between(0, 100)) } : {}
    const select = odataRecords.chance(0.5) ? { $select: 'k' } : {}
    return {
      kind: 'odata filter',
      url: url('/api/odata/asked', { ...options, ...page, ...select, $count: 'true' }),
      headers: { prefer: 'odata.maxpagesize=500' },
    }
  })
  const groups = Array.from({ length: Math.ceil(count / 5) }, () => ({
    kind: 'odata groups',
    url: url('/api/odata/asked', odataGroups.askGroups().options),
    headers: { prefer: 'odata.maxpagesize=1000' },
  }))
  return [...filters, ...groups]
}

const OPERATORS = ['=', '!=', '<', '<=', '>', '>=']

/** Each column of the odd records: all rows, in order up and down, compared with each of its values, grouped, summed. */
export function oddQuestions() {
  const root = '/api/explore/v2.1/catalog/datasets/odd'
  const texts = ['a', 'A', 'b', '', '😀', '￮', 'z', '10']
  const comparisons = {
    text: texts.flatMap(text => OPERATORS.map(operator => `text ${operator} ${JSON.stringify(text)}`)),
    n: [0, 2147483648, -2147483649, 9007199254740991].flatMap(n =>
      OPERATORS.map(operator => `n ${operator} ${n}`),
    ),
    x: ['0.1', '0.30000000000000004', '1e-7', '1e21', '123456789.125', '0'].flatMap(x =>
      OPERATORS.map(operator => `x ${operator} ${x}`),
    ),
    on: ['2024-02-29', '1900-01-01', '0001-01-01'].flatMap(on =>
      OPERATORS.map(operator => `on ${operator} date'${on}'`),
    ),
    at: ['2024-02-29T12:34:56.700Z', '1969-12-31T23:59:59.999Z', '2024-03-31T00:30:00Z'].flatMap(at =>
      OPERATORS.map(operator => `at ${operator} date'${at}'`),
    ),
    flag: ['flag', 'not flag', 'flag is null', 'flag = false'],
    many: ['many = "a"', 'many in ("😀", "common")', 'not many = "common"', 'many is null', 'many like "a*"'],
    words: [
      'search("a b")',
      'search(text, "jap")',
      'suggest(text, "tab")',
      'startswith(text, "q")',
      'text like "%4*"',
      'search("日本語")',
    ],
  }
  const where = Object.values(comparisons)
    .flat()
    .map(where => ({ kind: 'odd where', url: url(`${root}/exports/json`, { where, select: 'k' }) }))
  const columns = ['k', 'text', 'n', 'x', 'on', 'at', 'flag']
  const orders = columns.flatMap(name =>
    ['', ' desc'].map(way => ({
      kind: 'odd order',
      url: url(`${root}/records`, { order_by: name + way, limit: '100', select: `k, ${name}` }),
    })),
  )
  const figures = ['n', 'x', 'k'].flatMap(name =>
    ['sum', 'avg', 'min', 'max', 'count', 'median'].map(figure => ({
      kind: 'odd figure',
      url: url(`${root}/records`, { select: `${figure}(${name}) as f` }),
    })),
  )
  const groups = [
    ...columns,
    'many',
    'year(at)',
    'month(on)',
    'hour(at)',
    'date_format(on, "YYYY")',
    'range(x, 10)',
    'range(k, 5, 10)',
  ].map(group => ({
    kind: 'odd group',
    url: url(`${root}/records`, {
      group_by: group,
      select: 'count(*) as c, sum(n) as s, avg(x) as a, min(x) as m',
      limit: '100',
    }),
  }))
  const texts2 = [
    'length(text) as l, k',
    'text as t, k',
    'k, x * 2 as y, n / 3 as z, x / 0 as w',
    "k, distance(place, geom'POINT(2 48)') as d",
    'k, date_format(at, "YYYY-MM-dd HH:mm:ss") as f, year(on) as y, second(at) as s',
  ].map(select => ({ kind: 'odd select', url: url(`${root}/records`, { select, limit: '100' }) }))
  const places = [
    "within_distance(place, geom'POINT(2 48)', 2000km)",
    'in_bbox(place, -50, -50, 50, 50)',
    "intersects(shape, geom'POLYGON((0 0,5 0,5 5,0 5,0 0))')",
    'place is not null and shape is null',
  ].map(where => ({ kind: 'odd place', url: url(`${root}/exports/json`, { where, select: 'k' }) }))
  return [...where, ...orders, ...figures, ...groups, ...texts2, ...places]
}

const FORMATS = [
  'json',
  'jsonl',
  'csv',
  'geojson',
  'xlsx',
  'rdfxml',
  'turtle',
  'n3',
  'jsonld',
  'gpx',
  'kml',
  'parquet',
  'shp',
  'fgb',
]

/** Whole exports of datasets in every format, and of the catalog. */
export function exportQuestions() {
  const root = '/api/explore/v2.1/catalog'
  const datasets = ['made', 'odd', 'mapped', 'countries'].flatMap(id =>
    FORMATS.map(format => ({ kind: `export ${format}`, url: `${root}/datasets/${id}/exports/${format}` })),
  )
  const some = ['csv', 'turtle', 'jsonld'].map(format => ({
    kind: `export ${format}`,
    url: url(`${root}/datasets/made/exports/${format}`, { where: 'n > 3', order_by: 'x desc', limit: '50' }),
  }))
  const catalog = ['csv', 'ttl', 'rdf', 'rss', 'data.json', 'dcat'].map(format => ({
    kind: `catalog ${format}`,
    url: `${root}/exports/${format}`,
  }))
  return [...datasets, ...some, ...catalog, { kind: 'catalog', url: `${root}/datasets?limit=20` }]
}

/** Documents of records and of what mappings made, in the forms of linked data; `ids` are record ids of a dataset. */
export function resourceQuestions(ids) {
  const accepts = [
    'text/turtle',
    'application/n-triples',
    'application/ld+json',
    'application/rdf+xml',
    'text/html',
  ]
  const documents = Object.entries(ids).flatMap(([dataset, records]) =>
    records.map(id => `/ld/resources/${dataset}/records/${id}`),
  )
  const things = [
    '/ld/resources/countries/country/FR',
    '/ld/resources/mapped/thing/3',
    '/ld/resources/mapped/thing/9999',
    '/ld/resources/made',
    '/ld/ontologies/odd/x',
  ]
  return [...documents, ...things].flatMap(path =>
    accepts.map(accept => ({ kind: 'resource', url: path, headers: { accept } })),
  )
}

/** Queries of SPARQL over all datasets. */
export function sparqlQuestions(base) {
  const field = (dataset, name) => `<${base}/ld/ontologies/${dataset}/${name}>`
  const odd = name => field('odd', name)
  const queries = [
    'SELECT (COUNT(*) AS ?c) { ?s ?p ?o }',
    'SELECT ?p (COUNT(*) AS ?c) { ?s ?p ?o } GROUP BY ?p ORDER BY DESC(?c) ?p LIMIT 50',
    ...['text', 'n', 'x', 'on', 'at', 'flag', 'many', 'place', 'shape'].map(
      name => `SELECT ?k ?v { ?s ${odd('k')} ?k ; ${odd(name)} ?v } ORDER BY ?k ?v`,
    ),
    ...['text', 'n', 'x', 'on', 'at', 'flag'].map(name => `SELECT ?v { ?s ${odd(name)} ?v } ORDER BY ?v`),
    `SELECT ?k { ?s ${odd('k')} ?k ; ${odd('text')} ?t FILTER(?t < "b") } ORDER BY ?k`,
    `SELECT ?k { ?s ${odd('k')} ?k ; ${odd('x')} ?x FILTER(?x > 0.1 && ?x < 1e6) } ORDER BY ?k`,
    `SELECT ?k (1 / (?k - 3) AS ?y) { ?s ${odd('k')} ?k } ORDER BY ?k LIMIT 6`,
    `SELECT ?k (STR(?x) AS ?y) (?x + 1 AS ?z) (CONCAT(STR(?x), ?none) AS ?w) { ?s ${odd('k')} ?k ; ${odd('x')} ?x } ORDER BY ?k`,
    `SELECT ?k (STRLEN(?t) AS ?l) (UCASE(?t) AS ?u) (SUBSTR(?t, 1, 1) AS ?a) { ?s ${odd('k')} ?k ; ${odd('text')} ?t } ORDER BY ?k`,
    `SELECT (SUM(?x) AS ?a) (AVG(?x) AS ?b) (MIN(?t) AS ?c) (MAX(?t) AS ?d) { ?s ${odd('k')} ?k ; ${odd('text')} ?t OPTIONAL { ?s ${odd('x')} ?x } }`,
    `SELECT ?f (COUNT(?s) AS ?c) { ?s ${odd('k')} ?k OPTIONAL { ?s ${odd('flag')} ?f } } GROUP BY ?f ORDER BY ?f`,
    `SELECT ?k (BOUND(?f) AS ?b) (isIRI(?s) AS ?i) (?k > 3 AS ?m) { ?s ${odd('k')} ?k OPTIONAL { ?s ${odd('flag')} ?f } } ORDER BY ?k LIMIT 8`,
    `SELECT ?k { ?s ${odd('k')} ?k FILTER NOT EXISTS { ?s ${odd('flag')} ?f } } ORDER BY ?k`,
    `SELECT ?k { ?s ${odd('k')} ?k MINUS { ?s ${odd('flag')} true } } ORDER BY ?k`,
    `SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } } ORDER BY ?g`,
    `SELECT (COUNT(*) AS ?c) { GRAPH <${base}/ld/resources/odd> { ?s ?p ?o } }`,
    `SELECT (COUNT(*) AS ?c) FROM <${base}/ld/resources/odd> { ?s ?p ?o }`,
    `SELECT ?g (COUNT(*) AS ?c) FROM NAMED <${base}/ld/resources/odd> FROM NAMED <${base}/ld/resources/made> { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g`,
    `ASK { ?s ${odd('text')} "😀" }`,
    `ASK { ?s ${odd('text')} "nothing of the kind" }`,
    `SELECT ?n { ?c <http://schema.org/name> ?n } ORDER BY ?n LIMIT 40`,
    `SELECT ?n ?l { ?c <http://schema.org/name> ?n BIND(LANG(?n) AS ?l) FILTER(LANGMATCHES(?l, "en")) } ORDER BY ?n LIMIT 60`,
    `SELECT ?n ?m { ?c <http://schema.org/name> ?n ; <http://www.opengis.net/ont/geosparql#sfTouches>/<http://schema.org/name> ?m } ORDER BY ?n ?m LIMIT 50`,
    `SELECT ?n { ?c <http://schema.org/name> ?n FILTER(REGEX(?n, "^[A-C]\\\\p{L}+land$", "i")) } ORDER BY ?n`,
    'SELECT ?x { VALUES ?x { 1 2 "a" <urn:x> true 1.5 } }',
    'SELECT ?x { BIND(2 AS ?x) }',
    'SELECT * { ?s ?p ',
  ]
  const forms = [
    'application/sparql-results+json',
    'text/csv',
    'text/tab-separated-values',
    'application/sparql-results+xml',
  ]
  const asked = queries.flatMap((query, index) => {
    const all = index % 5 === 0 ? forms : forms.slice(0, 1)
    return all.map(accept => ({ kind: 'sparql', url: url('/api/sparql', { query }), headers: { accept } }))
  })
  const graphs = [
    `CONSTRUCT WHERE { ?s ${odd('x')} ?o }`,
    `CONSTRUCT { ?s <urn:p> ?o } WHERE { ?s ${odd('place')} ?o }`,
    `CONSTRUCT WHERE { ?s ${odd('text')} ?o }`,
    `DESCRIBE <${base}/ld/resources/countries/country/FR>`,
  ].map(query => ({
    kind: 'sparql',
    url: url('/api/sparql', { query }),
    headers: { accept: 'application/n-triples' },
  }))
  return [...asked, ...graphs]
}
