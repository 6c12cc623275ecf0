import {
  accept,
  cross,
  form,
  type GoldenRequest,
  get,
  KNOWN,
  key,
  methods,
  page,
  parameter,
  post,
} from './request.ts'
import { queries, table, words } from './tables.ts'

const DATASETS = words('things countries graph plain secret none')
const TYPES = [
  ...words('text/turtle application/ld+json application/n-triples application/rdf+xml application/trig'),
  ...words('application/n-quads text/n3 text/html application/json */* image/png'),
  'text/html;q=0.5, text/turtle;q=0.4',
]
const RESULTS = [
  ...words(
    'application/sparql-results+json application/sparql-results+xml text/csv text/tab-separated-values',
  ),
  ...words('text/turtle application/ld+json application/n-triples application/rdf+xml */* image/png'),
]

function fragmentRequests(): readonly GoldenRequest[] {
  const patterns = queries('patterns')
  const homes = words('/api/tpf /api/qpf /api/tpf/things /api/qpf/things /api/tpf/graph /api/qpf/graph')
  const data = { tpf: accept('text/turtle'), qpf: accept('application/trig') }
  return [
    ...(['tpf', 'qpf'] as const).flatMap(api => [
      ...patterns.map(pattern => get(`/api/${api}/things`, pattern, data[api])),
      ...cross(DATASETS.slice(1), patterns.slice(0, 4), (id, pattern) =>
        get(`/api/${api}/${id}`, pattern, data[api]),
      ),
    ]),
    ...cross(homes, TYPES, (url, type) => get(url, patterns[1], accept(type))),
    ...cross(homes.slice(0, 4), words('fr de'), (url, language) => get(url, '', page(language))),
    ...words('/api/tpf/things /api/qpf/graph').flatMap(url => [
      ...methods('HEAD OPTIONS PUT', url),
      get(url, '', KNOWN),
      get(url, '', { 'if-none-match': '*' }),
      form(url, 'predicate=urn:x'),
    ]),
    get('/api/tpf/secret', '', key('reader')),
    get('/api/qpf/secret', '', key('nobody')),
  ]
}

function sparqlRequests(): readonly GoldenRequest[] {
  const home = '/api/sparql'
  const all = table('queries')
  const asked = all.map(query => parameter('query', query))
  const chosen = [0, 1, 3, 4, 17].map(at => asked[at] ?? '')
  const ask = 'query=ASK%20%7B%7D'
  return [
    ...cross(['', '/graph'], asked, (dataset, query) => get(`${home}${dataset}`, query)),
    ...asked.map(query => form(home, query)),
    ...all.map(query => post(`${home}/things`, 'application/sparql-query', query)),
    ...cross(chosen, RESULTS, (query, type) => get(home, query, accept(type))),
    ...cross(chosen, words('json xml csv tsv ttl nt jsonld nope'), (query, format) =>
      get(home, `${query}&format=${format}`),
    ),
    ...cross(['', '/things', '/secret', '/none'], TYPES, (dataset, type) =>
      get(`${home}${dataset}`, '', accept(type)),
    ),
    ...TYPES.map(type => get(`${home}/things/data`, 'default', accept(type))),
    ...cross(['default', '', 'graph=urn:x', 'graph=x&default'], words('things graph secret'), (query, id) =>
      get(`${home}/${id}/data`, query),
    ),
    ...words('default-graph-uri=urn:x named-graph-uri=urn:x query=ASK%20%7B%7D timeout=1 explain=true').map(
      more => get(home, `${asked[5]}&${more}`),
    ),
    get(`${home}/secret`, asked[0], key('reader')),
    get(home, asked[10], key('reader')),
    get(home, ask, KNOWN),
    get(home, asked[5], { 'accept-encoding': 'gzip' }),
    ...methods('HEAD OPTIONS PUT', `${home}?${ask}`),
    post(home, 'application/sparql-update', 'DELETE WHERE { ?s ?p ?o }'),
    post(home, 'text/plain', 'ASK {}'),
    post(`${home}/things/data`, 'text/turtle', '<urn:a> <urn:b> <urn:c> .'),
  ]
}

function resourceRequests(): readonly GoldenRequest[] {
  const [thing, document] = ['/ld/resources/things/thing/t1', '/ld/data/things/thing/t1']
  const documents = words('/ld/data/things/thing/t2 /ld/data/weather/day/2012-01-01 /ld/data/graph')
  const nodes = words('/ld/nodes/graph/b0 /.well-known/genid/graph/b1 /.well-known/genid/graph/b99')
  const profile = 'application/ld+json;profile="http://www.w3.org/ns/json-ld#'
  return [
    ...cross(table('things'), TYPES, (path, type) => get(path, '', accept(type))),
    ...cross(nodes, words('text/turtle text/html'), (path, type) => get(path, '', accept(type))),
    ...cross(documents, words('ttl jsonld nt rdf trig nq n3 html json xyz'), (path, suffix) =>
      get(`${path}.${suffix}`),
    ),
    ...words('turtle json-ld xml nope text/n3').map(format => get(document, `format=${format}`)),
    ...words('fr de').map(language => get('/ld/data/countries/country/FR', '', page(language))),
    ...words('expanded flattened').map(name => get(document, '', accept(`${profile}${name}"`))),
    ...methods('HEAD OPTIONS', document),
    ...methods('OPTIONS DELETE', thing),
    ...[thing, document].map(url => get(url, 'page=2', accept('text/turtle'))),
    get(document, '', { ...KNOWN, ...accept('text/turtle') }),
    get('/ld/data/secret', '', { ...key('reader'), ...accept('text/turtle') }),
  ]
}

function descriptionRequests(): readonly GoldenRequest[] {
  const moments = ['Thu, 15 Jan 2026 00:00:00 GMT', 'Thu, 01 Jan 2015 00:00:00 GMT', 'nonsense']
  const versioned = words('/api/versions/things /api/versions/things/ldes /api/versions/things/timemap')
  return [
    ...cross(table('descriptions'), TYPES, (url, type) => get(url, '', accept(type))),
    ...cross(DATASETS, table('versions'), (id, part) => get(`/api/versions/${id}${part}`)),
    ...cross(versioned, TYPES.slice(0, 8), (url, type) => get(url, '', accept(type))),
    ...cross(table('at a moment'), moments, (url, moment) => get(url, '', { 'accept-datetime': moment })),
    ...cross(table('at a moment'), words('{version} {latest} nope'), (url, version) =>
      get(url, `version=${version}`),
    ),
    get('/api/versions/secret', '', key('reader')),
    get('/api/versions/things/feed', '', KNOWN),
  ]
}

/** Requests of fragments, SPARQL, resources and descriptions. */
export function linkedDataRequests(): readonly GoldenRequest[] {
  return [...fragmentRequests(), ...sparqlRequests(), ...resourceRequests(), ...descriptionRequests()]
}
