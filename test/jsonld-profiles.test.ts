import jsonld from 'jsonld'
import t from 'tap'
import { JSONLD_FORMS, jsonldForm } from '../src/http/negotiate.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** JSON-LD in the form that a client asks for, wherever JSON-LD is written. */
const base = 'http://portal.example'
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Forms\n',
  data: {
    things: {
      'dataset.yaml': 'source: { path: s.json }\n',
      's.json': '[{"a": 1, "b": "x", "__proto__x": true}, {"a": 2, "b": "y \\"z\\""}, {"a": null, "b": "ü"}]',
    },
    terms: {
      'dataset.yaml': 'source: { path: g.ttl }\n',
      'g.ttl': '<urn:a> <urn:p> <<( <urn:a> <urn:b> 1 )>> .',
    },
  },
  mappings: {
    'things.yml': `prefixes: { ex: 'http://example.org/' }
mappings:
  thing:
    subject: ${base}/ld/resources/things/thing/$(a)
    predicateobjects: [[a, ex:Thing], [ex:label, $(b), en~lang], [ex:n, $(a), xsd:integer]]
  again:
    subject: ${base}/ld/resources/things/thing/$(a)
    predicateobjects: [[ex:text, $(b)]]
`,
  },
})
const { app } = await servePortal(t, { portal, base, now: '2026-01-02T03:04:05Z' })

const PROFILE = 'http://www.w3.org/ns/json-ld#'
const QUERY = 'CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }'
const ADDRESSES = [
  '/ld/data/things/thing/1',
  '/api/v2/catalog/datasets/things/exports/jsonld',
  '/api/v2/catalog/datasets/things/exports/jsonld?where=a%3D2',
  '/api/void/things',
  '/api/shapes/things',
  `/api/sparql/things?query=${encodeURIComponent(QUERY)}`,
  '/api/sparql/things',
  '/api/sparql/things?default',
]
const get = (url: string, form: string | null) => {
  const accept = form === null ? 'application/ld+json' : `application/ld+json;profile="${PROFILE}${form}"`
  return app.http.inject({ url, headers: { accept } })
}
/** The triples of a document, the same for the same graph but for labels of blank nodes. */
const canonical = async (body: string) =>
  jsonld.canonize(JSON.parse(body), { algorithm: 'URDNA2015', format: 'application/n-quads' })

for (const address of ADDRESSES)
  t.test(address, async t => {
    const plain = await get(address, null)
    t.equal(plain.statusCode, 200, plain.body.slice(0, 200))
    t.equal(
      plain.headers['content-type'],
      'application/ld+json; charset=utf-8',
      'no profile is told to who names none',
    )
    const expected = await canonical(plain.body)
    t.not(expected, '')
    const tags = new Set([plain.headers.etag])
    for (const form of JSONLD_FORMS) {
      const answer = await get(address, form)
      t.equal(
        answer.headers['content-type'],
        `application/ld+json;profile="${PROFILE}${form}"; charset=utf-8`,
      )
      t.match(answer.headers.vary, /\bAccept(?:,|$)/, `${form}: Vary`)
      t.equal(await canonical(answer.body), expected, `${form}: the same triples`)
      const body = JSON.parse(answer.body) as unknown
      if (form === 'compacted') t.ok(Object.hasOwn(body as object, '@context'))
      if (form === 'expanded') t.notOk(answer.body.includes('"@context"'))
      if (form === 'flattened') {
        const ids = (body as { '@id': string }[]).map(node => node['@id'])
        t.equal(new Set(ids).size, ids.length, 'each node once')
      }
      if (answer.headers.etag === undefined) continue
      t.notOk(tags.has(answer.headers.etag), 'a tag of its own')
      tags.add(answer.headers.etag)
    }
  })

t.test('an expanded document is what the expansion of a processor makes of it', async t => {
  const { body } = await get('/ld/data/things/thing/1', 'expanded')
  t.same(await jsonld.expand(JSON.parse(body)), JSON.parse(body))
  const flat = JSON.parse((await get('/ld/data/things/thing/1', 'flattened')).body) as {
    '@id': string
  }[]
  const byId = (nodes: readonly unknown[]) =>
    [...(nodes as { '@id': string }[])].sort((a, b) => (a['@id'] < b['@id'] ? -1 : 1))
  t.same(byId((await jsonld.flatten(flat as never)) as never), byId(flat))
})

t.test('triple terms have no JSON-LD in any form', async t => {
  for (const form of JSONLD_FORMS) {
    const answer = await get(`/api/sparql/terms?query=${encodeURIComponent(QUERY)}`, form)
    t.equal(answer.statusCode, 422, form)
  }
})

t.test('the header is read as it may be written', async t => {
  const requested = [
    [undefined, null],
    ['text/turtle', null],
    [`application/ld+json; profile="${PROFILE}expanded"`, 'expanded'],
    [`Application/LD+JSON;q=0.5;Profile=${PROFILE}flattened`, 'flattened'],
    [`application/ld+json;profile="${PROFILE}context ${PROFILE}compacted"`, 'compacted'],
    [`application/ld+json;profile="${PROFILE}framed"`, null],
    [
      `application/ld+json;profile="a,b;c";q=0.1, application/ld+json;profile="${PROFILE}expanded"`,
      'expanded',
    ],
    [`application/ld+json;profile="${PROFILE}expanded";q=0.2, application/ld+json`, null],
    [`application/ld+json;profile="${PROFILE}expanded";q=0`, null],
    ['application/ld+json;profile="', null],
  ] as const
  for (const [accept, form] of requested) t.equal(jsonldForm(accept), form, String(accept))
})
