import { cpSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The portal that the golden answers are of: small, with data of every type and every kind of dataset. */
export const BASE = 'http://portal.example'
export const PASSWORD = 'correct horse battery staple'

/** When the versions of the portal are published, and who may do what in it. */
export const MOMENTS = ['2026-01-02T03:04:05.678Z', '2026-02-03T04:05:06.789Z'] as const
export const PEOPLE: Readonly<Record<string, readonly string[]>> = {
  nobody: [],
  reader: ['secret', 'ods-api-monitoring'],
  editor: ['secret', 'edit:*', 'publish:*'],
}

/** Datasets of the demonstration that are part of it, with their mappings and example queries. */
const DEMONSTRATION = ['countries', 'earthquakes', 'weather']

const THINGS = `
source: { path: things.csv }
fields:
  - { name: id, label: Identifier, annotations: { id: [] } }
  - { name: name, label: Name, description: What it is called, annotations: { sortable: [] } }
  - { name: kind, annotations: { facet: [], disjunctive: [] } }
  - { name: amount, type: int, annotations: { unit: [pieces] } }
  - { name: share, type: double, annotations: { decimals: [2] } }
  - { name: active, type: boolean, annotations: { facet: [] } }
  - { name: day, type: date, annotations: { facet: [], timeserie_precision: [day] } }
  - { name: seen, type: datetime, annotations: { facet: [] } }
  - { name: tags, annotations: { facet: [], multivalued: [';'] } }
  - { name: place, type: geo_point_2d }
  - { name: area, type: geo_shape }
id: [id]
metas:
  default:
    title: Things of a town
    description: <p>Things &amp; <b>more</b></p>
    keyword: [things, town]
    theme: [Town]
    publisher: Town
    license: CC BY 4.0
    license_url: https://creativecommons.org/licenses/by/4.0/
    language: en
    timezone: Europe/Berlin
    references: https://town.example/
  dcat: { creator: Office, contact_name: Clerk, contact_email: clerk@town.example, accrualperiodicity: Daily }
attachments: [{ path: note.txt, title: A note }, { path: sheet.csv, mimetype: text/csv }]
`
const THINGS_MAPPING = `
prefixes: { ex: 'https://town.example/', geo: 'http://www.opengis.net/ont/geosparql#' }
mappings:
  thing:
    subject: portal:things/thing/$(id)
    predicateobjects:
      - [a, ex:Thing]
      - [rdfs:label, $(name), en~lang]
      - [ex:amount, $(amount)]
      - [ex:day, $(day)]
      - [ex:kind, kind]
      - [rdfs:seeAlso, portal:secret/thing/$(id)~iri]
      - [geo:hasGeometry, geometry]
  kind:
    subject: portal:things/kind/$(kind)
    predicateobjects:
      - [a, skos:Concept]
      - [skos:prefLabel, $(kind), en~lang]
  geometry:
    subject: portal:things/geometry/$(id)
    predicateobjects:
      - [geo:asWKT, $(place)]
`
const SECRET = `
source: { path: secret.csv }
fields:
  - { name: id }
  - { name: name, annotations: { facet: [] } }
  - { name: amount, type: int }
id: [id]
visibility: restricted
metas: { default: { title: Secret things, keyword: [things], publisher: Town } }
attachments: [{ path: secret.txt, title: A secret }]
`
const GRAPH = `@prefix ex: <https://graph.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:a a ex:Node ; rdfs:label "A"@en, "Ä"@de ; ex:next ex:b ; ex:size 5, 2.5, 1.0e3 ; ex:since "2024-05-06"^^<http://www.w3.org/2001/XMLSchema#date> .
ex:b a ex:Node ; rdfs:label "B" ; ex:next ex:c ; ex:part [ rdfs:label "part of B" ; ex:size 7 ] .
ex:c a ex:Node ; rdfs:label "C \\"quoted\\" & <marked>" ; ex:next ex:a ; ex:list ( 1 2 3 ) .
`
const GRAPH_DATASET = `
source: { path: graph.ttl }
metas: { default: { title: A graph, publisher: Town } }
`
const PLACES = {
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      properties: { name: 'dot', n: 1 },
      geometry: { type: 'Point', coordinates: [7.5, 47] },
    },
    {
      type: 'Feature',
      properties: { name: 'line', n: null },
      geometry: {
        type: 'LineString',
        coordinates: [
          [7, 46],
          [8, 47],
          [9, 46.5],
        ],
      },
    },
    {
      type: 'Feature',
      properties: { name: 'field', n: 3 },
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [7, 46],
            [8, 46],
            [8, 47],
            [7, 46],
          ],
        ],
      },
    },
  ],
}

const KINDS = ['chair', 'table', 'Été & "x"', '日本 <b>', "o'b", '']
const TAGS = ['red', 'green', 'blue', 'odd; even']

/** Rows of the things; those of a later version differ in some, lack one and have one more. */
function things(version: 0 | 1): string {
  const rows = Array.from({ length: 60 }, (_, at) => {
    const day = new Date(Date.UTC(2019, at % 30, 1 + ((at * 7) % 28)))
    const [east, north] = [7 + (at % 8) / 10, 46 + (at % 5) / 7]
    const square = [
      [0, 0],
      [0.1, 0],
      [0.1, 0.1],
      [0, 0],
    ].map(([x = 0, y = 0]) => [east + x, north + y])
    return [
      `t${at + version}`,
      at === 33 && version === 1 ? 'Renamed' : `Thing ${at} ${['of wood', "d'été", 'ÄÖÜ', ''][at % 4]}`,
      KINDS[at % 6] ?? '',
      at % 9 === 0 ? '' : String((at * 37) % 101),
      at % 7 === 0 ? '' : String(((at * 13) % 17) / 8),
      ['true', 'false', ''][at % 3] ?? '',
      at % 11 === 0 ? '' : day.toISOString().slice(0, 10),
      at % 10 === 0 ? '' : new Date(day.getTime() + at * 1_234_567).toISOString(),
      TAGS.slice(0, at % 4)
        .map(tag => tag.replace('; ', '/'))
        .join(';'),
      at % 5 === 0 ? '' : `${north},${east}`,
      at % 4 === 0 ? JSON.stringify({ type: 'Polygon', coordinates: [square] }) : '',
    ]
  })
  const header = ['id', 'name', 'kind', 'amount', 'share', 'active', 'day', 'seen', 'tags', 'place', 'area']
  return [header, ...rows]
    .map(cells => cells.map(cell => `"${cell.replaceAll('"', '""')}"`).join(','))
    .join('\n')
    .concat('\n')
}

const FILES: Readonly<Record<string, string>> = {
  'portal.yaml': `title: Golden portal
description: What every endpoint answers
languages: [en, fr]
base: ${BASE}
address_tokens: allowed
work_burst: 86400
work_rate: 1000
workers: 1
deadline: 600
keep_versions: 5
log: error
`,
  'data/things/dataset.yaml': THINGS,
  'data/things/things.csv': things(0),
  'data/things/note.txt': 'A note',
  'data/things/sheet.csv': 'a,b\n1,2\n',
  'mappings/things.yml': THINGS_MAPPING,
  'mappings/things/kinds.rq':
    '# Kinds of things\nSELECT ?kind (COUNT(*) AS ?n) { ?s <https://town.example/kind> ?kind } GROUP BY ?kind\n',
  'data/secret/dataset.yaml': SECRET,
  'data/secret/secret.csv': 'id,name,amount\nt1,Alpha,1\nt2,Beta,2\n',
  'data/secret/secret.txt': 'A secret',
  'data/graph/dataset.yaml': GRAPH_DATASET,
  'data/graph/graph.ttl': GRAPH,
  'data/plain/plain.csv': 'Name;Height (m);Planted\nOak;12,5;01.02.1990\nElm;7,25;15.11.2003\nAsh;;\n',
  'data/places/places.geojson': JSON.stringify(PLACES),
}

/** Writes the files of the portal, as they are at its first publication. */
export function writePortal(folder: string, root: string): void {
  for (const [name, text] of Object.entries(FILES)) write(path.join(folder, name), text)
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  for (const id of DEMONSTRATION)
    for (const place of [`data/${id}`, `mappings/${id}`, `mappings/${id}.yml`])
      cpSync(path.join(root, place), path.join(folder, place), { recursive: true })
}

/** Changes the files to what the second publication finds. */
export function changePortal(folder: string): void {
  write(path.join(folder, 'data/things/things.csv'), things(1))
  write(path.join(folder, 'data/graph/graph.ttl'), `${GRAPH}ex:d a ex:Node .\n`)
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
  // The entity tags of attachments have it.
  utimesSync(file, new Date(MOMENTS[0]), new Date(MOMENTS[0]))
}
