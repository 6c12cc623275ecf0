import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { zip } from '../src/formats/zip-stream.ts'
import { unusedId } from '../src/model/readable-name.ts'
import { nameInAddress, readUpload } from '../src/portal/desk/forms.ts'
import { datasetBody } from '../src/portal/desk/pages.ts'
import type { DeskDataset } from '../src/publishing/management/desk-types.ts'
import { type Html, html } from '../src/site/html.ts'
import { pageContextOf } from '../src/site/page-context.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** Forms of the desk for sources, steps and harvested catalogs: without scripts, with the files as the truth. */
const YAML = `# Trees of the town
source: { path: a.csv } # from the surveyor
processors:
  - rename: { nr: number } # as the town says
metas: { default: { title: Trees } }
visibility: public
`
const portal = temporaryFolder(t, {
  'portal.yaml': '',
  data: { trees: { 'dataset.yaml': YAML, 'a.csv': 'nr;name;height\n1;Oak, old;12,5\n2;Elm;7\n' } },
})
const { app } = await servePortal(t, { portal, base: 'http://portal.test', isPublished: false })

async function sessionOf(name: string, grants: readonly string[]): Promise<string> {
  const { id } = await app.accounts.users.add(name, 'a password that is long enough')
  for (const grant of grants) await app.accounts.users.grant(name, grant)
  return `lodestone-session=${(await app.accounts.sessions.begin(id)).token}`
}
const cookie = await sessionOf('anna', ['publish:*'])
const bert = await sessionOf('bert', ['publish:trees'])

/** A page, where its address is to have the digest of its text that with the digest. */
async function get(
  url: string,
  as = cookie,
): Promise<{ readonly status: number; readonly body: string; readonly url: string }> {
  const answer = await app.http.inject({ url, headers: { accept: 'text/html', cookie: as } })
  const { location } = answer.headers
  if (answer.statusCode === 303 && location?.includes('opened=')) return get(location, as)
  return { status: answer.statusCode, body: answer.body, url }
}
const token = /name="form_token" value="([^"]+)"/.exec((await get('/desk/')).body)?.[1] ?? ''

async function post(url: string, fields: Readonly<Record<string, string>>, as = cookie, form_token = token) {
  const answer = await app.http.inject({
    method: 'POST',
    url,
    headers: { cookie: as, 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ form_token, ...fields }).toString(),
  })
  return { status: answer.statusCode, body: answer.body, location: String(answer.headers.location ?? '') }
}
const bertToken = /name="form_token" value="([^"]+)"/.exec((await get('/desk/trees/', bert)).body)?.[1] ?? ''
const draft = () => readFileSync(path.join(portal, 'var/drafts/trees/data/trees/dataset.yaml'), 'utf8')

t.test('the header of every page has the desk for those who may publish, and for nobody else', async t => {
  const { accounts, http } = app
  const reader = await sessionOf('rita', ['*', 'edit:*'])
  const page = (url: string, as: string | null, known = '') => {
    const headers = { accept: 'text/html', 'if-none-match': known, ...(as === null ? {} : { cookie: as }) }
    return http.inject({ url, headers })
  }
  const link = /<nav aria-label="Main">.*<a href="\/desk\/">Desk<\/a>/s
  for (const url of [
    '/',
    '/explore/',
    '/sparql/',
    '/developers/',
    '/api/tpf',
    '/account/',
    '/nothing/here',
  ]) {
    for (const publisher of [cookie, bert]) t.match((await page(url, publisher)).body, link, url)
    for (const other of [null, reader]) t.notMatch((await page(url, other)).body, '/desk/', url)
  }
  t.match((await page('/desk/', cookie)).body, '<a href="/desk/" aria-current="page">')
  for (const url of ['/', '/api/tpf', '/api/sparql']) {
    const before = await page(url, reader)
    await accounts.users.grant('rita', 'publish:trees')
    const after = await page(url, reader, String(before.headers.etag))
    t.match([after.statusCode, after.body], [200, link], `${url}: a browser is shown what it may do now`)
    await accounts.users.revoke('rita', 'publish:trees')
  }
})

t.test('what is wrong with a new dataset stands below the heading', async t => {
  const { body } = await post('/desk/', { url: 'http://localhost:1/x.csv', refresh: 'sometimes' })
  t.match(body, /<h1>Desk<\/h1>\s*<div class="note bad" role="alert">[^<]*<p[^>]*>[^<]*sometimes/)
  t.equal(body.split('<h1>').length, 2)
})

t.test('processors are added, ordered and removed', async t => {
  const page = await get('/desk/trees/steps/')
  t.match(page.body, /1\. <code>rename<\/code>[\s\S]*nr: number<\/textarea>/)
  const focused = /<fieldset[^>]* autofocus><legend>2\. <code>split<\/code>/
  t.match((await get('/desk/trees/steps/?add=split')).body, focused, 'the keyboard goes on in the new step')
  t.notMatch(page.body, 'autofocus')
  const steps = {
    action: 'steps',
    'step.0.type': 'rename',
    'step.0.rename': 'nr: number',
    'step.1.type': 'split',
    'step.1.column': 'name',
    'step.1.separator': ', ',
    'step.1.into': '',
  }
  const added = await post('/desk/trees/steps/', {
    ...steps,
    'step.0.position': '7',
    'step.1.remove': '1',
    action: 'try',
    add: 'join',
  })
  t.equal(added.status, 200)
  t.match(added.body, /3\. <code>join<\/code>/, 'below those that are not saved')
  t.match(added.body, /value="7"[\s\S]*value=", "[\s\S]*name="step.1.remove" value="1" checked/, 'which stay')
  t.notMatch(added.body, /aria-invalid/, 'and are judged when they are saved')
  t.notOk(existsSync(path.join(portal, 'var/drafts/trees')), 'nothing was saved')
  const refused = await post('/desk/trees/steps/', steps)
  t.equal(refused.status, 400)
  t.match(refused.body, /id="step.1.into"[^>]*aria-invalid="true"[\s\S]*This is required/, 'beside the field')
  t.match(refused.body, 'value=", "', 'what was written stays')
  t.notOk(existsSync(path.join(portal, 'var/drafts/trees')), 'nothing was saved')
  const saved = await post('/desk/trees/steps/', { ...steps, 'step.1.into': 'kind\r\nage' })
  t.equal(saved.location, '/desk/trees/steps/?done=1')
  t.match(draft(), /# Trees of the town[\s\S]*# from the surveyor/, 'comments stay')
  t.match(draft(), /split:[\s\S]*separator: ", "/)
  await post('/desk/trees/steps/', {
    ...steps,
    'step.1.into': 'kind\nage',
    'step.2.type': 'compute',
    'step.2.expression': 'height +',
    'step.2.into': 'double_height',
    'step.2.position': '0.5',
  })
  const wrong = (await get('/desk/trees/steps/')).body
  t.match(wrong, /1\. <code>compute<\/code>/, 'the position is the new order')
  t.match(wrong, /id="step.0.expression-error"[^>]*>[^<]*dataset.yaml:\d+:\d+/, 'with line and column')
  t.notMatch(wrong, /dataset.yaml:.*dataset.yaml:/, 'once')
  await post('/desk/trees/steps/', {
    action: 'steps',
    'step.0.type': 'compute',
    'step.0.remove': '1',
    'step.0.expression': 'height +',
    'step.0.into': 'x',
  })
  t.notMatch(draft(), /processors/, 'without steps there is no list')
  t.equal((await post('/desk/trees/steps/', { action: 'steps', 'step.0.type': 'drop' })).status, 400)
})

t.test(
  'in pages from right to left, inputs have the direction of their texts, and a mapping that of code',
  async t => {
    for (const [section, name, direction] of [
      ['mapping', 'text', 'ltr'],
      ['fields', 'label.0', 'auto'],
      ['description', 'default.title', 'auto'],
      ['source', 'encoding', 'auto'],
    ] as const) {
      const { body } = await get(`/desk/trees/${section}/?lang=ar`)
      t.match(body, new RegExp(`name="${name}"[^>]* dir="${direction}"`), section)
    }
  },
)

t.test('each section has a title of its own', async t => {
  const titles = new Map<string, string>()
  for (const section of ['fields', 'source', 'steps', 'description', 'mapping', 'report', 'history']) {
    const { body } = await get(`/desk/trees/${section}/`)
    titles.set(/<title>([^<]+)</.exec(body)?.[1] ?? '', section)
  }
  t.equal(titles.size, 7)
  t.match([...titles.keys()][1], /^Trees: Source · /)
})

t.test('what is wrong with a source is told once, and each example has its direction', async t => {
  const context = pageContextOf({ query: {}, headers: {}, raw: { url: '/' } } as FastifyRequest, {
    base: 'http://portal.test',
    title: '',
    description: '',
    languages: ['en'],
  })
  const dataset = {
    id: 'trees',
    title: 'Trees',
    manifest: null,
    state: 'draft',
    hasDraft: true,
  } as DeskDataset
  const problem = html`<p>It is refused.</p>`
  const messages = { done: null, running: null, isOutdated: false, isVisible: false, problem }
  const told = (content: Html) =>
    datasetBody({ pageContext: context, token: '' }, dataset, 'fields', messages, content).html.split(
      'refused',
    )
  t.equal(told(html`<p>Other</p>`).length, 2)
  t.equal(told(html`<div role="alert">${problem}</div>`).length, 2)
  t.match((await get('/desk/trees/')).body, '<bdi>Oak, old</bdi>, <bdi>Elm</bdi>')
  t.match((await get('/desk/trees/source/')).body, '<bdi>Oak, old</bdi> · <bdi>Elm</bdi>')
})

t.test('the form of a source shows and changes its settings', async t => {
  const page = (await get('/desk/trees/source/')).body
  t.match(page, /Fields as they are inferred[\s\S]*12,5/)
  t.match(page, /<td lang="en" dir="ltr">all values are/, 'read aloud as English')
  t.match(page, /<h2>Source<\/h2><p><code>[^<]+\.csv</, 'the file that is read')
  t.match(page, /<select id="format"[^>]*><option value="">–<\/option><option>/, 'every choice has a text')
  const tried = await post('/desk/trees/source/', { action: 'try', header: '0', delimiter: ';' })
  t.equal(tried.status, 200)
  t.match(tried.body, /column_1/, 'the options are tried')
  t.notMatch(draft(), /header/, 'and not saved')
  const wrong = await post('/desk/trees/source/', { action: 'source', header: 'first' })
  t.equal(wrong.status, 400)
  t.match(wrong.body, /id="header-error"[^>]*>A whole number is expected/)
  const nonsense = await post('/desk/trees/source/', { action: 'try', encoding: 'klingon' })
  t.match(nonsense.body, /encoding &quot;klingon&quot;|klingon/)
  const saved = await post('/desk/trees/source/', {
    action: 'source',
    delimiter: ';',
    header: '1',
    infer: '1',
  })
  t.equal(saved.location, '/desk/trees/source/?done=1')
  t.match(draft(), /delimiter: ;|delimiter: ";"/)
  t.match(draft(), /name: height[\s\S]*format: ","/)
  const begun = await post('/desk/', { url: 'http://127.0.0.1:1/files/Bench.csv', refresh: 'daily' })
  t.equal(begun.location, '/desk/bench/source/')
  const bench = (await get('/desk/bench/source/')).body
  t.match(bench, /value="http:\/\/127.0.0.1:1\/files\/Bench.csv"/)
  t.match(bench, /127.0.0.1 is a private address; source_private_hosts allows it/)
  t.equal(
    (
      await post('/desk/bench/source/', {
        action: 'source',
        url: 'https://example.org/b.csv',
        refresh: 'often',
      })
    ).status,
    400,
  )
  t.equal((await post('/desk/', { url: 'file:///etc/passwd' })).status, 400)
  t.equal((await post('/desk/', { url: 'https://example.org/x.csv', refresh: 'often' })).status, 400)
  t.equal((await get('/desk/x/')).status, 404, 'nothing is left of what was refused')
})

t.test('a first mapping is proposed, and a saved one is checked at once', async t => {
  const url = '/desk/trees/mapping/'
  const shown = async () => (await get(url)).body
  t.match(
    await shown(),
    /This is a proposal based on its fields[\s\S]*<textarea[^>]*>\n# The mapping[\s\S]*\$\(height\)/,
  )
  const saved = (text: string) => post(url, { action: 'mapping', text })
  t.equal((await saved('mappings:\n  tree:\n    s: portal:$(nr)\n    po: [[a, $(hight)]]\n')).status, 303)
  t.match(await shown(), /<strong>Error<\/strong> <span[^>]*>4:\d+: [^<]*hight[^<]*height[\s\S]*hight\)/)
  t.notMatch(await shown(), /This is a proposal/)
  await saved('')
  t.match(await shown(), /This is a proposal/)
})

t.test('many datasets are listed in pages, and found by their ids', async t => {
  const ids = Array.from({ length: 59 }, (_, at) => `town-${String(at).padStart(2, '0')}`)
  for (const id of ids) {
    mkdirSync(path.join(portal, 'data', id))
    writeFileSync(path.join(portal, 'data', id, 'dataset.yaml'), YAML)
  }
  const shown = async (query: string) =>
    [...(await get(`/desk/${query}`)).body.matchAll(/<td><code>([a-z0-9-]+)<\/code>/g)].map(([, id]) => id)
  t.same(await shown(''), ['bench', ...ids.slice(0, 49)])
  t.same(await shown('?page=2'), [...ids.slice(49), 'trees'])
  t.same(await shown('?page=99'), await shown('?page=2'))
  t.same(await shown('?q=Town-1&page=x'), ids.slice(10, 20))
  t.match((await get('/desk/?q=nothing')).body, /Nothing was found/)
  t.match((await get('/desk/?q=town')).body, /<a href="\/desk\/\?q=town&amp;page=2" rel="next">/)
  t.equal((await get('/desk/?q=a&q=b')).status, 400)
  for (const id of ids) rmSync(path.join(portal, 'data', id), { recursive: true })
})

t.test('datasets of files without dataset.yaml are named', async t => {
  const text = /not edited here: benches\. The command/
  writeFileSync(path.join(portal, 'data/benches.csv'), 'n\n1\n')
  t.match((await get('/desk/')).body, text)
  t.notMatch((await get('/desk/', bert)).body, text, 'which others do not know')
  const files = Array.from({ length: 12 }, (_, at) => path.join(portal, `data/park-${10 + at}.csv`))
  for (const file of files) writeFileSync(file, 'n\n1\n')
  t.match((await get('/desk/')).body, /edited here: benches, park-10, .*, park-18 … \(\+3\)\. The command/)
  t.match((await get('/desk/?q=Park-21')).body, /not edited here: park-21\. The command/)
  t.notMatch((await get('/desk/?q=Park-21')).body, /Nothing was found/)
  for (const file of files) rmSync(file)
  rmSync(path.join(portal, 'data/benches.csv'))
})

t.test('a form that somebody else overtook is shown again, with its input', async t => {
  const openedOf = (body: string) => /name="opened" value="([^"]*)"/.exec(body)?.[1] ?? ''
  const mapping = 'mappings:\n  tree:\n    s: ex:$(nr)'
  const forms: readonly (readonly [
    section: string,
    fields: Readonly<Record<string, string>>,
    shown: RegExp,
  ])[] = [
    [
      'description',
      { 'default.publisher': 'City B', visibility: 'restricted' },
      /value="City B"[\s\S]*value="restricted" checked/,
    ],
    [
      'fields',
      { 'name.0': 'height', 'type.0': 'text', 'label.0': 'Mine' },
      /<option value="text" selected>Text<[\s\S]*value="Mine"/,
    ],
    ['steps', { 'step.0.type': 'rename', 'step.0.rename': 'nr: mine' }, /nr: mine<\/textarea>/],
    ['source', { delimiter: ';', encoding: 'utf-8', header: '1' }, /name="encoding" value="utf-8"/],
    ['mapping', { text: mapping }, /s: ex:\$\(nr\)/],
  ]
  for (const [section, fields, shown] of forms) {
    const url = `/desk/trees/${section}/`
    const opened = openedOf((await get(section === 'steps' ? `${url}?add=rename` : url)).body)
    t.match(opened, /^([0-9a-f]{64}|none)$/, section)
    const between =
      section === 'mapping'
        ? { action: section, text: 'mappings: {}' }
        : { action: 'description', 'default.title': section }
    t.equal((await post('/desk/trees/', between, bert, bertToken)).status, 303)
    const before = section === 'mapping' ? null : draft()
    const refused = await post(url, { action: section, opened, ...fields })
    t.equal(refused.status, 409, section)
    t.match(refused.body, /name="opened" value="[^"]*" data-unsaved>/, 'and is left only after a question')
    t.notMatch((await get(url)).body, 'data-unsaved')
    t.match(refused.body, /role="alert"[\s\S]*Somebody changed this dataset/)
    t.match(refused.body, shown, `${section}: what was entered stays`)
    if (before !== null) t.equal(draft(), before, 'nothing was saved')
    const again = await post(url, { action: section, opened: openedOf(refused.body), ...fields })
    t.equal(again.location, `${url}?done=1`, `${section}: saved the second time`)
  }
  const tried = await post('/desk/trees/source/', { action: 'try', opened: 'before' })
  t.equal(openedOf(tried.body), 'before', 'what is tried is as old as it was')
})

t.test('a page that is opened again has the form of the text that it had', async t => {
  const openedOf = (body: string) => /name="opened" value="([^"]*)"/.exec(body)?.[1] ?? ''
  const url = '/desk/trees/description/'
  const first = await get(`${url}?lang=en`)
  t.match(first.url, `${url}?lang=en&opened=${openedOf(first.body)}`)
  const since = /This was changed after the page was opened[\s\S]*Show what is saved now/
  t.notMatch((await get(first.url)).body, since)
  await post(url, { action: 'description', 'default.title': 'Of the other' }, bert, bertToken)
  const again = await get(first.url)
  t.match(again.body, since)
  t.notMatch(again.body, 'data-unsaved', 'it is left without a question')
  const fields = { action: 'description', 'default.title': 'Mine' }
  const refused = await post(url, { ...fields, opened: openedOf(again.body) })
  t.equal(refused.status, 409, 'its form does not replace the change of the other')
  t.match(refused.body, /Somebody changed this dataset[\s\S]*value="Mine"/)
  t.equal((await get(`${url}?opened=a&opened=b`)).status, 200)
  t.match((await get('/desk/trees/report/')).url, /report\/$/, 'pages without such forms need none')

  const catalogs = await get('/desk/~harvest/')
  t.match(catalogs.url, `opened=${openedOf(catalogs.body)}`)
  const late = await get('/desk/~harvest/?opened=before')
  t.match(late.body, since)
  t.match(late.body, 'name="opened" value="before">')
})

t.test('a form that is too long is refused in words of its own', async t => {
  const url = '/desk/trees/mapping/?lang=fr'
  const { status, body } = await post(url, { action: 'mapping', text: 'x'.repeat(2_000_001) })
  t.equal(status, 413)
  t.match(body, /<h1>Le formulaire est trop long<\/h1>\s*<p>Ce qui a été envoyé/)
})

t.test('what was entered outlives the session', async t => {
  const url = '/desk/trees/description/?lang=en'
  const gone = 'lodestone-session=gone'
  t.equal(
    (await app.http.inject({ url, headers: { cookie: gone } })).headers.location,
    `/account/login/?next=${encodeURIComponent(url)}&lang=en`,
  )
  const entered = {
    action: 'description',
    'default.title': 'A <b>title</b>',
    'default.description': 'one\ntwo',
  }
  const before = draft()
  const ended = await post(url, entered, gone)
  t.equal(ended.status, 401)
  t.match(ended.body, 'Your session has ended. Nothing was saved.')
  t.match(ended.body, `href="/account/login/?next=${encodeURIComponent(url)}&amp;lang=en"`)
  t.notMatch(ended.body, /name="form_token"/)
  const fields = Object.fromEntries(
    [...ended.body.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value.replaceAll('&lt;', '<').replaceAll('&gt;', '>')],
    ),
  )
  t.match(fields, entered)
  const shown = await post(url, { ...fields, form_token: '' })
  t.equal(shown.status, 403)
  t.match(
    shown.body,
    /Nothing was saved\. Check your input[\s\S]*value="A &lt;b&gt;title&lt;\/b&gt;"[\s\S]*one\ntwo/,
  )
  t.equal(draft(), before, 'without a token of the session nothing is saved')
  for (const as of [gone, cookie]) {
    const answer = await app.http.inject({
      method: 'POST',
      url,
      headers: {
        cookie: as,
        origin: 'https://evil.example',
        'content-type': 'application/x-www-form-urlencoded',
      },
      payload: new URLSearchParams(entered).toString(),
    })
    t.notMatch(answer.body, /A &lt;b&gt;title/, 'forms of other sites are not kept')
  }
  const file = await app.http.inject({
    method: 'POST',
    url: '/desk/trees/fields/',
    headers: { cookie: gone, 'content-type': 'multipart/form-data; boundary=x' },
    payload: '--x--',
  })
  t.match(file, { statusCode: 401, body: /Nothing was saved/ })

  const address = { url: 'https://data.example/trees.csv', refresh: 'often' }
  for (const [described, answer] of [
    ['the session has ended', await post('/desk/', address, gone)],
    ['it was replaced', await post('/desk/', address, cookie, '')],
    ['a fault', await post('/desk/', address)],
  ] as const)
    t.match(answer.body, /value="https:\/\/data\.example\/trees\.csv"[\s\S]*value="often"/, described)
})

t.test('what was entered outlives the session of a private portal', async t => {
  const folder = temporaryFolder(t, { 'portal.yaml': 'access: private\n' })
  const { app } = await servePortal(t, { portal: folder, base: 'http://private.test', isPublished: false })
  const send = (method: 'GET' | 'POST', url: string) =>
    app.http.inject({
      method,
      url,
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
      ...(method === 'POST' ? { payload: 'text=my+work' } : {}),
    })
  for (const url of ['/desk/trees/mapping/', '/explore/dataset/trees/mapping/'])
    t.match(await send('POST', url), { statusCode: 401, body: /name="text" value="my work"/ }, url)
  t.match(await send('GET', '/desk/trees/'), { statusCode: 303 })
  t.match(await send('GET', '/explore/dataset/trees/mapping/'), {
    statusCode: 401,
    body: /Sign in to continue/,
  })
})

t.test('what cannot be undone is asked about first', async t => {
  const page = (await get('/desk/trees/report/')).body
  t.match(page, /name="ask" value="discard"/)
  t.notMatch(page, /name="action" value="(?:discard|withdraw)"/)
  const question = (await get('/desk/trees/report/?ask=discard')).body
  t.match(
    question,
    /All changes that are not published are lost[\s\S]*name="action" value="discard"[\s\S]*Cancel/,
  )
  const fresh = (await get('/desk/bench/?ask=discard')).body
  t.match(fresh, /was never published: it is deleted[\s\S]*name="action" value="discard"/)
  t.notMatch((await get('/desk/trees/?ask=withdraw')).body, /value="withdraw"/, 'it is not published')
})

t.test('a form that is saved unchanged makes no draft', async t => {
  const csv = 'nr;name;height\n1;Oak, old;12,5\n2;Elm;7\n'
  const yaml = (more: string) =>
    `source:   {path: "a.csv"}\nmetas: {default: {title: Loose, keyword: [a,  b]}}\n${more}`
  const described = `visibility: restricted\nid: [nr]\nfields:
    - {name: nr,   type: int,   label: "nr"}
    - { name: name, label: "Name " , description: "  x " }
    - { name: height, type: double, format: ",", annotations: { facet: [], unit: [m] } }\n`
  for (const [id, more] of [
    ['inferred', ''],
    ['described', described],
  ] as const) {
    const folder = path.join(portal, 'data', id)
    mkdirSync(folder)
    writeFileSync(path.join(folder, 'a.csv'), csv)
    writeFileSync(path.join(folder, 'dataset.yaml'), yaml(more))
    t.teardown(() => rmSync(folder, { recursive: true }))
    const drafted = path.join(portal, 'var/drafts', id)
    const visibility = more === '' ? 'public' : 'restricted'
    const metas = { 'default.title': 'Loose', 'default.keyword': 'a; b' }
    const row = (at: number, name: string, type: string, more: Record<string, string> = {}) =>
      Object.fromEntries(
        Object.entries({ name, type, label: name, description: '', ...more }).map(([part, value]) => [
          `${part}.${at}`,
          value,
        ]),
      )
    const fields =
      more === ''
        ? { ...row(0, 'nr', 'int'), ...row(1, 'name', 'text'), ...row(2, 'height', 'double') }
        : {
            ...row(0, 'nr', 'int', { id: '1' }),
            ...row(1, 'name', 'text', { label: 'Name ', description: '  x ' }),
            ...row(2, 'height', 'double', { facet: '1' }),
          }
    const forms: readonly (readonly [string, Record<string, string>])[] = [
      ['description', { ...metas, visibility }],
      ['source', {}],
      ['fields', { identity: '1', ...fields }],
    ]
    for (const [section, form] of forms) {
      const saved = await post(`/desk/${id}/${section}/`, { action: section, ...form })
      t.equal(saved.location, `/desk/${id}/${section}/?done=1`)
      t.notOk(existsSync(drafted), `${id}: ${section}`)
    }
    await post(`/desk/${id}/fields/`, { action: 'fields', identity: '1', ...fields, 'label.1': 'Tree' })
    t.ok(existsSync(drafted), 'a change is drafted')
    rmSync(drafted, { recursive: true })
  }
})

t.test('metadata that a form does not change stay as they are written', async t => {
  const folder = path.join(portal, 'data/lists')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'a.csv'), 'a\n1\n')
  const metas = '{ default: { language: [fr, en], keyword: [a; b, c], publisher: Town } }'
  writeFileSync(path.join(folder, 'dataset.yaml'), `source: { path: a.csv }\nmetas: ${metas}\n`)
  const given = { 'default.language': 'fr; en', 'default.keyword': 'a; b; c', 'default.publisher': 'City' }
  await post('/desk/lists/description/', { action: 'description', ...given })
  const text = readFileSync(path.join(portal, 'var/drafts/lists/data/lists/dataset.yaml'), 'utf8')
  t.match(text, 'language: [ fr, en ], keyword: [ a; b, c ], publisher: City')
  await post('/desk/lists/description/', { action: 'description', 'default.language': 'fr; de' })
  t.match(
    readFileSync(path.join(portal, 'var/drafts/lists/data/lists/dataset.yaml'), 'utf8'),
    /language: *\[ fr, de \]|- de/,
  )
  await post('/desk/lists/', { action: 'discard' })
})

t.test('the language of the address stays', async t => {
  const { body } = await get('/desk/trees/report/?lang=de')
  t.match(body, /name="lang" value="de">\s*<input type="hidden" name="ask"/)
  const saved = await post('/desk/trees/description/?lang=de', {
    action: 'description',
    visibility: 'public',
  })
  t.equal(saved.location, '/desk/trees/description/?done=1&lang=de')
  const begun = await post('/desk/?lang=de', { url: 'https://example.org/oaks.csv' })
  t.equal(begun.location, '/desk/oaks/source/?lang=de')
  await post('/desk/oaks/', { action: 'discard' })
})

t.test('harvested catalogs', async t => {
  t.equal((await get('/desk/~harvest/', bert)).status, 403, 'only for who may publish everything')
  const file = path.join(portal, 'harvest.yaml')
  const entry = {
    '0.id': 'city',
    '0.type': 'ckan',
    '0.url': 'https://data.city.example',
    '0.refresh': 'daily',
  }
  const wrong = await post('/desk/~harvest/', { ...entry, '0.refresh': 'often' })
  t.equal(wrong.status, 400)
  t.match(wrong.body, /id="0.refresh-error"[^>]*>harvest.yaml:\d+:\d+: hourly, daily/)
  t.match((await post('/desk/~harvest/', { ...entry, '0.url': '' })).body, /id="0.url-error"/)
  const removing = { ...entry, '0.remove': '1', '1.id': 'town', '2.id': '' }
  const refused = (await post('/desk/~harvest/', removing)).body
  t.match(refused, /name="0.remove" value="1" checked/, 'what is to be removed stays so')
  t.notMatch(refused, /name="1.remove" value="1" checked|<legend><\/legend>/)
  t.notOk(existsSync(file))
  t.equal((await post('/desk/~harvest/', entry)).location, '/desk/~harvest/?done=1')
  writeFileSync(file, `# our neighbours\n${readFileSync(file, 'utf8')}`)
  const page = (await get('/desk/~harvest/')).body
  t.match(page, 'value="https://data.city.example"')
  t.match(page, 'name="1.id"', 'with an empty one at the end')
  await post('/desk/~harvest/', {
    ...entry,
    '0.only': 'trees\nbenches',
    '1.id': '',
    '1.type': '',
    '1.url': '',
  })
  t.match(readFileSync(file, 'utf8'), /^# our neighbours[\s\S]*only:[\s\S]*- trees[\s\S]*- benches/)
  const opened = /name="opened" value="([^"]*)"/.exec(page)?.[1] ?? ''
  const late = await post('/desk/~harvest/', {
    '0.id': 'late',
    '0.type': 'ckan',
    '0.url': 'https://b.example',
    opened,
  })
  t.match(late.body, /This form is out of date[\s\S]*Show what is saved now[\s\S]*value="late"/)
  t.match(readFileSync(file, 'utf8'), /city/, 'nobody saves over another')
  const replaced = await post('/desk/~harvest/', { '0.id': 'late', opened }, cookie, '')
  t.match(
    replaced.body,
    /This form is out of date[\s\S]*value="late"/,
    'input of a session that was replaced',
  )
  t.match(replaced.body, `name="opened" value="${opened}"`, 'is as old as it was')
  const withCredentials = { ...entry, '0.authorization': 'SOURCE_AUTH_CITY' }
  const secret = await post('/desk/~harvest/', withCredentials)
  t.equal(secret.status, 400)
  t.match(secret.body, /id="0.authorization-error"[^>]*>authorization sends a secret/)
  writeFileSync(
    file,
    `harvesters:\n  - { id: city, type: ckan, url: 'https://data.city.example', refresh: daily, authorization: SOURCE_AUTH_CITY }\n`,
  )
  t.equal((await post('/desk/~harvest/', withCredentials)).status, 303, 'as it was written by hand')
  t.equal(
    (await post('/desk/~harvest/', { ...withCredentials, '0.url': 'https://mine.example' })).status,
    400,
  )
  await post('/desk/~harvest/', { ...entry, '0.remove': '1' })
  t.notMatch(readFileSync(file, 'utf8'), /city/)
})

async function upload(name: string, content: Buffer) {
  const form = new FormData()
  form.append('form_token', token)
  form.append('file', new Blob([new Uint8Array(content)]), name)
  const encoded = new Response(form)
  const answer = await app.http.inject({
    method: 'POST',
    url: '/desk/',
    headers: { cookie, 'content-type': encoded.headers.get('content-type') ?? '' },
    payload: Buffer.from(await encoded.arrayBuffer()),
  })
  return { status: answer.statusCode, body: answer.body, location: String(answer.headers.location ?? '') }
}

async function archive(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const entries = Object.entries(files).map(([name, content]) => ({ name, content: [content] }))
  return buffer(Readable.from(zip(entries)))
}

t.test('an upload that ends too early is refused and leaves nothing', async t => {
  const part = (name: string, value: string) =>
    `--x\r\nContent-Disposition: form-data; name="${name}\r\n\r\n${value}`
  const fields = `${part('form_token"', token)}\r\n`
  const file = `${fields}${part('file"; filename="early.csv"', 'a,b\n1,2\n')}`
  const drafts = () => readdirSync(path.join(portal, 'var/drafts')).sort()
  const before = drafts()
  const refused = await app.http.inject({
    method: 'POST',
    url: '/desk/',
    headers: { cookie, 'content-type': 'multipart/form-data; boundary=x' },
    payload: file,
  })
  t.match(refused, { statusCode: 400, body: /Unexpected end of multipart data/ })
  t.strictSame(drafts(), before)
  for (const [what, text] of Object.entries({ 'in a field': fields.trimEnd(), 'in the file': file })) {
    const server = createServer()
    const port = await new Promise<number>(resolve =>
      server.listen(0, () => resolve((server.address() as AddressInfo).port)),
    )
    const isRefused = new Promise((resolve, reject) =>
      server.on('request', (body, response) => {
        readUpload({ headers: body.headers, body } as unknown as FastifyRequest)
          .then(({ stream }) => buffer(stream))
          .then(resolve, reject)
          .finally(() => response.destroy())
      }),
    )
    const socket = connect(port)
    socket.write(
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: 1000\r\n\r\n${text}`,
    )
    setTimeout(() => socket.destroy(), 50)
    await t.rejects(isRefused, { code: 'BadRequest', message: /ended before/ }, what)
    server.close()
  }
})

t.test('ids of new datasets', t => {
  const cases: readonly (readonly [address: string, id: string])[] = [
    ['https://a.example/donn%C3%A9es.csv', 'donnees'],
    ['https://a.example/folder%2Fb%20c.csv?x=%20', 'b-c'],
    ['https://a.example/100%.csv', '100'],
    ['https://a.example/', 'a'],
  ]
  for (const [address, id] of cases) t.equal(unusedId(nameInAddress(address), new Set()), id, address)
  t.equal(unusedId('données.csv', new Set(['donnees'])), 'donnees-2')
  t.end()
})

t.test('a new dataset takes no id of data without dataset.yaml', async t => {
  const folder = path.join(portal, 'data/dropped')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'dropped.csv'), 'k,v\n1,2\n')
  t.equal((await upload('dropped.csv', Buffer.from('a,b\n3,4\n'))).location, '/desk/dropped-2/')
  const quoted = await upload('the "dropped" 100%.csv', Buffer.from('a,b\n3,4\n'))
  t.equal(quoted.location, '/desk/the-dropped-100/', 'quotes, which browsers escape')
  await post('/desk/the-dropped-100/', { action: 'discard' })
  const forms = await post('/desk/dropped-2/', { action: 'discard' })
  t.equal(forms.status, 303)
  t.equal(readFileSync(path.join(folder, 'dropped.csv'), 'utf8'), 'k,v\n1,2\n')
})

t.test('hostile uploads are refused and leave nothing', async t => {
  const entities = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><workbook>&e;</workbook>'
  const cases: readonly (readonly [name: string, content: Buffer, report: RegExp])[] = [
    ['bomb.csv.gz', gzipSync(Buffer.alloc(300 * 2 ** 20, '1,2\n')), /bomb/],
    ['outside.zip', await archive({ '../../etc/evil.csv': 'a\n1\n' }), /path leads out of it/],
    ['wide.csv', Buffer.from(`${'a,'.repeat(1_000_000)}a\n`), /more than 20000 cells/],
    [
      'external.xlsx',
      await archive({ '[Content_Types].xml': '<Types/>', 'xl/workbook.xml': entities }),
      /declares entities/,
    ],
    ['page.csv', Buffer.from('<!doctype html><p>no'), /a web page/],
    ['program.xlsx', Buffer.from([0x4d, 0x5a, 0, 1, 2, 3, 0, 0xff, 0xfe]), /no workbook|no ZIP|no text/],
  ]
  for (const [name, content, report] of cases) {
    const { status, body } = await upload(name, content)
    t.equal(status, 400, name)
    t.match(body, report, name)
  }
  t.strictSame(readdirSync(path.join(portal, 'var/drafts')).sort(), ['bench', 'trees'])
})
