import { parseHTML } from 'linkedom'
import oxigraph from 'oxigraph'
import t from 'tap'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** Quad pattern fragments for people. */
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Quads & more\n',
  data: {
    graphs: {
      'dataset.yaml': 'source: { path: g.trig }\nmetas: { default: { title: "Gra<b>phs" } }\n',
      'g.trig': `@prefix : <http://example.org/> . :a :p "<script>alert(1)</script>"@en .
        :g1 { :a :p :b , <javascript:x> ; :n 2 . } :g2 { :c :p :d }`,
    },
    secret: {
      'dataset.yaml': 'source: { path: s.ttl }\nvisibility: restricted\n',
      's.ttl': '<urn:zyzzy> <urn:p> 1 .',
    },
  },
})
const served = await servePortal(t, {
  portal,
  now: '2026-01-02T03:04:05Z',
  config: { fragmentSize: 3 },
})
const get = (url: string, accept = 'text/html', headers = {}) => served.get(url, { accept, ...headers })

/** The rows of a page, place by place. */
function rowsOf(body: string): readonly (readonly string[])[] {
  const { document } = parseHTML(body)
  return [...document.querySelectorAll('table.triples tbody tr')].map(row =>
    [...row.querySelectorAll('td')].map(cell => cell.querySelector('a')?.textContent ?? ''),
  )
}

/** Quads of a text, without the metadata of the page. */
function quadsOf(text: string, format: string): readonly string[] {
  const store = new oxigraph.Store()
  store.load(text, { format })
  return store
    .match()
    .filter(({ graph }) => !graph.value.endsWith('#metadata'))
    .map(quad => quad.toString())
    .sort()
}

t.test('a page has the quads of the fragment, and says so in JSON-LD as well', async t => {
  for (const path of [
    '/api/qpf/graphs',
    '/api/qpf',
    '/api/qpf/graphs?page=2',
    '/api/qpf/graphs?predicate=http://example.org/n',
  ]) {
    const page = await get(path)
    t.equal(page.statusCode, 200, path)
    t.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    for (const name of ['Accept', 'Accept-Language', 'Cookie'])
      t.match(page.headers.vary, new RegExp(`\\b${name}(,|$)`))
    const data = await get(path, 'application/n-quads')
    const [, block = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(page.body) ?? []
    t.same(quadsOf(block, 'application/ld+json'), quadsOf(data.body, 'application/n-quads'), path)
    t.equal(rowsOf(page.body).length, quadsOf(data.body, 'application/n-quads').length)
    t.notMatch(page.body, '<script>alert')
    t.notMatch(page.body, 'href="javascript:')
    t.notMatch(page.body, 'zyzzy')
    const again = await get(path, 'text/html', { 'if-none-match': page.headers.etag })
    t.equal(again.statusCode, 304)
  }
})

t.test('who accepts application/json gets JSON-LD, as from fragments of triples', async t => {
  for (const path of ['/api/qpf/graphs', '/api/qpf']) {
    const json = await get(path, 'application/json')
    t.match(json.headers['content-type'], 'application/json')
    t.equal(json.body, (await get(path, 'application/ld+json')).body)
  }
})

t.test('terms lead to the fragments that have them in the same place', async t => {
  const { body } = await get('/api/qpf/graphs?graph=http://example.org/g1&predicate=http://example.org/n')
  t.same(rowsOf(body), [['http://example.org/a', 'http://example.org/n', '2', 'http://example.org/g1']])
  const { document } = parseHTML(body)
  const inputs = [...document.querySelectorAll('form.pattern input')].map(input => [
    input.getAttribute('name'),
    input.getAttribute('value'),
  ])
  t.same(inputs, [
    ['subject', ''],
    ['predicate', 'http://example.org/n'],
    ['object', ''],
    ['graph', 'http://example.org/g1'],
  ])
  const links = [...document.querySelectorAll('table.triples td > a:not(.self)')].map(
    link => link.getAttribute('href') ?? '',
  )
  for (const link of links) t.ok(rowsOf((await get(link)).body).length > 0, link)
  const whole = await get('/api/qpf/graphs?graph=urn:ldf:defaultGraph')
  t.same(new Set(rowsOf(whole.body).map(row => row[3])), new Set(['Default graph']))
  t.match((await get('/api/qpf/graphs?subject=urn:none')).body, 'No triples match.')
  t.equal((await get('/api/qpf/secret')).statusCode, 401)
})

t.test('programs get quads as before, and developers are told', async t => {
  t.equal((await get('/api/qpf/graphs', '*/*')).headers['content-type'], 'application/trig; charset=utf-8')
  t.equal(
    (await get('/api/qpf/graphs', 'application/trig, text/html;q=0.5')).headers['content-type'],
    'application/trig; charset=utf-8',
  )
  t.match((await get('/developers/')).body, '/api/qpf')
})
