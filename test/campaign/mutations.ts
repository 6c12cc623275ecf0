/** A generator of random numbers below 1 that a seed determines (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const API = '/api/explore/v2.1/catalog/datasets/first'

/** Requests that are right, of every language and endpoint. */
const REQUESTS: readonly string[] = [
  `${API}/records?where=id>5 and text like "text 1"&order_by=id desc&limit=10`,
  `${API}/records?select=count(*) as c, max(id)&group_by=generation,range(id, 10, 20)&order_by=c desc`,
  `${API}/records?where=search(text, "first") or id in (1, 2, 3)&select=id*2 as double, upper(text)`,
  `${API}/facets?facet=text&refine=text:text 1 of first`,
  `${API}/exports/csv?limit=20&delimiter=;`,
  `${API}/exports/jsonld?limit=5`,
  '/api/v2/catalog/datasets/second/aggregates?select=avg(id)&group_by=text',
  '/api/explore/v2.0/catalog/datasets?where=default.title is not null',
  "/api/odata/first?$filter=id gt 5 and contains(text,'7')&$orderby=id desc&$top=5&$count=true",
  '/api/odata/first?$apply=filter(id lt 90)/groupby((text),aggregate(id with sum as s))',
  '/api/odata/$metadata?$format=json',
  '/api/tpf/first?subject=&predicate=http%3A%2F%2Fwww.w3.org%2F1999%2F02%2F22-rdf-syntax-ns%23type&page=2',
  '/api/sparql?query=SELECT ?p (COUNT(*) AS ?c) WHERE { ?s ?p ?o FILTER(?o != "x") } GROUP BY ?p ORDER BY ?c LIMIT 5',
  '/api/sparql/first?query=CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o } LIMIT 3&format=text/turtle',
  '/explore/dataset/first/?q=text&sort=id',
  '/explore/?refine.keyword=a&q=first',
  '/ld/resources/first/records/0000000000000000000000000000000000000000',
  '/api/qpf?graph=http%3A%2F%2Flocalhost%2Fx&predicate=&page=2',
  '/api/qpf/first?object=%22text%201%22&page=1',
  '/api/explore/v2.1/catalog/exports/dcat?limit=2',
  '/api/explore/v2.1/catalog/facets?facet=keyword&lang=en',
  '/api/records/1.0/search/?dataset=first&q=id>5&rows=3&facet=text&sort=-id',
  '/api/datasets/1.0/search/?q=first&rows=2',
  '/api/management/v1/datasets/first?version=1',
  '/.well-known/void?format=ttl',
  '/data.json?limit=1',
  '/explore/dataset/first/table/?q=text&page=2',
  '/explore/dataset/first/analyze/?chart=bar&x=text&y=count',
  '/sparql/?query=SELECT * WHERE { ?s ?p ?o }',
  '/account/login/?next=/explore/&out=1',
  '/account/saml/end?next=/explore/',
  '/account/saml/metadata?x=1',
  '/sitemap.xml?page=1',
  '/opensearch.xml?lang=de',
  '/oauth2/authorize?client_id=x&response_type=code&redirect_uri=http://a/&state=1',
]

const PIECES = [
  "'",
  '"',
  '(',
  ')',
  '%00',
  '%F0%9F%92%A9',
  '-1',
  '99999999999999999999',
  ' or ',
  ' not ',
  '{',
  '}',
  '$',
  '__proto__',
  '../',
  '%',
  '&limit=-1',
  '&offset=1e9',
  '\u0000',
  'null',
  '[]=',
  '/*',
  '; DROP',
  'a'.repeat(300),
]

/** A request with some places changed: characters left out, doubled, exchanged, or pieces of other things put in. */
export function mutatedRequest(random: () => number): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  let text = pick(REQUESTS)
  const start = text.indexOf('?') < 0 ? 5 : Math.floor(random() < 0.2 ? 5 : text.indexOf('?'))
  for (let changes = Math.floor(random() * 5); changes > 0; changes--) {
    const at = start + Math.floor(random() * (text.length - start))
    const length = Math.floor(random() * 4)
    const put = random() < 0.6 ? pick(PIECES) : text.slice(at, at + length).repeat(Math.floor(random() * 3))
    text = text.slice(0, at) + put + text.slice(at + length)
  }
  // What no client could write in the first line of a request is encoded.
  return text.replace(/[^\x21-\x7e]|[<>"{}|\\^`]/g, character => encodeURIComponent(character.toWellFormed()))
}
