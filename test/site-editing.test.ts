import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { mayEdit } from '../src/accounts/authorisation.ts'
import { checkDatasetName } from '../src/accounts/names.ts'
import { openAccounts } from '../src/accounts/open.ts'
import { field } from '../src/model/field.ts'
import type { Authenticated } from '../src/model/principal.ts'
import { filterExamples } from '../src/portal/dataset/filter-bar.ts'
import { openMapping, saveMapping } from '../src/publishing/mapping/mapping-file.ts'
import { PortalWatch } from '../src/publishing/portal-watch.ts'
import { HIDDEN, OPEN, PASSWORD, portalFiles, serveLogged, WORD } from './support/access.ts'
import { temporaryFolder } from './support/folder.ts'
import { BASE, publishPortal } from './support/portal.ts'

/** The editor of mappings, and what the editor of conditions asks. */
const portal = temporaryFolder(t, portalFiles())
await publishPortal(portal)
const app = await serveLogged(t, portal)
const { http } = app
const accounts = openAccounts(path.join(portal, 'var', 'accounts.sqlite'), { now: () => Date.now() })
t.teardown(() => accounts.close())

const GRANTS = {
  reader: [],
  seer: [HIDDEN],
  editor: [`edit:${OPEN}`],
  other: [HIDDEN, `edit:${HIDDEN}`],
  blind: [`edit:${HIDDEN}`],
  everything: ['*', 'edit:*'],
} as const satisfies Readonly<Record<string, readonly string[]>>
type Name = keyof typeof GRANTS

const cookies = new Map<Name, string>()
for (const [name, grants] of Object.entries(GRANTS) as [Name, readonly string[]][]) {
  const { id } = await accounts.users.add(name, PASSWORD)
  for (const grant of grants) await accounts.users.grant(name, grant)
  cookies.set(name, `lodestone-session=${(await accounts.sessions.begin(id)).token}`)
}
const editorKey = (await accounts.keys.create('editor', 'a key')).key

const addressOf = (dataset: string) => `/explore/dataset/${dataset}/mapping/`
const fileOf = (dataset: string) => path.join(portal, 'mappings', `${dataset}.yml`)
const first = readFileSync(fileOf(OPEN), 'utf8')

function headersOf(name: Name | null): Record<string, string> {
  const cookie = name === null ? undefined : cookies.get(name)
  return { accept: 'text/html', ...(cookie === undefined ? {} : { cookie }) }
}

const get = (url: string, name: Name | null) => http.inject({ url, headers: headersOf(name) })

function post(
  url: string,
  fields: Readonly<Record<string, string>>,
  name: Name | null,
  more: Readonly<Record<string, string>> = {},
) {
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const headers = { ...headersOf(name), ...type, ...more }
  return http.inject({ method: 'POST', url, headers, payload: new URLSearchParams(fields).toString() })
}

/** The hidden fields of the form that somebody is shown. */
async function formOf(name: Name, dataset = OPEN) {
  const { body } = await get(addressOf(dataset), name)
  return hiddenOf(body)
}

function hiddenOf(body: string) {
  const value = (field: string) => new RegExp(`name="${field}" value="([^"]*)"`).exec(body)?.[1] ?? ''
  return { form_token: value('form_token'), opened: value('opened') }
}

t.test('who may edit', async t => {
  const rows: readonly (readonly [Name | null, string, number])[] = [
    [null, OPEN, 401],
    ['reader', OPEN, 403],
    ['seer', OPEN, 403],
    ['other', OPEN, 403],
    ['editor', OPEN, 200],
    ['everything', OPEN, 200],
    [null, HIDDEN, 401],
    ['reader', HIDDEN, 403],
    ['seer', HIDDEN, 403],
    ['editor', HIDDEN, 403],
    ['blind', HIDDEN, 403],
    ['other', HIDDEN, 200],
    ['everything', HIDDEN, 200],
  ]
  for (const [name, dataset, status] of rows) {
    const described = `${name} ${dataset}`
    const page = await get(addressOf(dataset), name)
    t.equal(page.statusCode, status, described)
    t.equal(page.body.includes('name="form_token"'), status === 200, `${described}: the form`)
    if (status !== 200) t.notMatch(page.body, /Zyzzyclass/, `${described}: nothing of the mapping`)
    const fields = { action: 'save', text: '', ...(name === null ? {} : await formOf('editor')) }
    for (const url of [addressOf(dataset), `${addressOf(dataset)}check/`]) {
      const answer = await post(url, fields, name)
      // The form is that of the editor: whoever else may edit is refused for its token.
      if (name !== 'editor' || dataset !== OPEN)
        t.equal(answer.statusCode, status === 200 ? 403 : status, `${described}: POST ${url}`)
      if (status !== 200) t.notMatch(answer.body, new RegExp(WORD, 'i'), `${described}: POST tells nothing`)
    }
  }
  const byKey = await http.inject({
    url: addressOf(OPEN),
    headers: { authorization: `Apikey ${editorKey}`, accept: 'text/html' },
  })
  t.equal(byKey.statusCode, 403, 'a key does not edit')
  const { form_token } = await formOf('editor')
  const saved = await post(addressOf(OPEN), { form_token, action: 'save', text: '' }, null, {
    authorization: `Apikey ${editorKey}`,
  })
  t.equal(saved.statusCode, 403, 'nor saves')
  for (const [name, isShown] of [
    [null, false],
    ['reader', false],
    ['other', false],
    ['editor', true],
  ] as const) {
    const { body } = await get(`/explore/dataset/${OPEN}/information/`, name)
    t.equal(body.includes(addressOf(OPEN)), isShown, `${name}: the tab`)
  }
  t.equal(readFileSync(fileOf(OPEN), 'utf8'), first, 'nothing was written')
})

t.test('the grant of editing', async t => {
  const user = (by: Authenticated['by'], ...grants: string[]): Authenticated => {
    return { type: 'user', id: 1, name: 'a', grants: new Set(grants), quota: null, by }
  }
  t.equal(mayEdit({ type: 'anonymous' }, 'a'), false)
  for (const [principal, expected] of [
    [user('session', 'edit:a'), true],
    [user('session', 'edit:*'), true],
    [user('session', 'a', '*'), false],
    [user('session', 'edit:b'), false],
    [user('key', 'edit:a'), false],
    [user('token', 'edit:*'), false],
  ] as const)
    t.equal(mayEdit(principal, 'a'), expected, `${principal.by} ${[...principal.grants]}`)
  for (const grant of ['a', '*', 'edit:a', 'edit:*', 'edit:trees-2_b'])
    t.doesNotThrow(() => checkDatasetName(grant))
  for (const grant of ['edit:', 'edit:edit:a', 'edit:../a', 'edit:A', 'Edit:a', 'see:a', 'edit:a b'])
    t.throws(() => checkDatasetName(grant), { code: 'AccountInvalid' }, grant)
})

t.test('forms of other sites and sessions change nothing', async t => {
  const own = await formOf('editor')
  const others = await formOf('everything')
  const text = `${first}\n# changed\n`
  const rows: readonly (readonly [string, Record<string, string>, Record<string, string>])[] = [
    ['no token', { opened: own.opened }, {}],
    ['an empty token', { ...own, form_token: '' }, {}],
    ['the token of another session', others, {}],
    ['another origin', own, { origin: 'https://evil.example' }],
    ['another site', own, { 'sec-fetch-site': 'cross-site' }],
  ]
  for (const [described, fields, headers] of rows)
    for (const url of [addressOf(OPEN), `${addressOf(OPEN)}check/`]) {
      const answer = await post(url, { ...fields, text, action: 'save' }, 'editor', headers)
      t.equal(answer.statusCode, 403, `${described} ${url}`)
    }
  const elsewhere = await post(`/explore/dataset/${OPEN}/table/`, { ...own, text, action: 'save' }, 'editor')
  t.equal(elsewhere.statusCode, 405, 'other pages take no forms')
  const json = await http.inject({
    method: 'POST',
    url: addressOf(OPEN),
    headers: { ...headersOf('editor'), 'content-type': 'application/json' },
    payload: JSON.stringify({ ...own, text, action: 'save' }),
  })
  t.equal(json.statusCode, 400, 'no other bodies')
  t.equal(readFileSync(fileOf(OPEN), 'utf8'), first)
})

t.test('a text outlives the session', async t => {
  const { opened } = await formOf('editor')
  const fields = { action: 'save', opened, text: '# <b>my</b> work\n' }
  for (const dataset of [OPEN, HIDDEN]) {
    const ended = await post(addressOf(dataset), fields, null)
    t.equal(ended.statusCode, 401)
    t.match(ended.body, /Your session has ended\. Nothing was saved\./)
    t.match(ended.body, 'name="text" value="# &lt;b&gt;my&lt;/b&gt; work\n"')
    t.match(ended.body, `href="/account/login/?next=${addressOf(dataset)}"`)
  }
  const shown = await post(addressOf(OPEN), fields, 'editor')
  t.equal(shown.statusCode, 403)
  t.match(
    shown.body,
    /Nothing was saved\. Check your input[\s\S]*# &lt;b&gt;my&lt;\/b&gt; work\n<\/textarea>/,
  )
  t.equal(hiddenOf(shown.body).opened, opened)
  t.equal(readFileSync(fileOf(OPEN), 'utf8'), first, 'without a token of the session nothing is saved')
  const foreign = await post(addressOf(OPEN), fields, 'editor', { origin: 'https://evil.example' })
  t.notMatch(foreign.body, /my&lt;/, 'forms of other sites are not kept')
})

t.test('ids that are paths lead nowhere', async t => {
  const { form_token } = await formOf('everything')
  const ids = [
    '..',
    '%2e%2e',
    '..%2f..%2fetc',
    `${OPEN}%2f..%2f${HIDDEN}`,
    '..%5copen',
    `${OPEN}.yml`,
    `${OPEN}%00`,
    'OPEN',
    '_catalog',
    '__proto__',
    'constructor',
    'a'.repeat(300),
  ]
  for (const id of ids) {
    const fields = { form_token, opened: 'none', action: 'save', text: first }
    for (const url of [addressOf(id), `${addressOf(id)}check/`]) {
      const { statusCode } = await post(url, fields, 'everything')
      t.ok([400, 404, 405].includes(statusCode), `${url}: ${statusCode}`)
    }
  }
  t.same(
    readdirSync(path.join(portal, 'mappings')).sort(),
    [OPEN, `${OPEN}.yml`, HIDDEN, `${HIDDEN}.yml`].sort(),
  )
  t.notOk(existsSync(path.join(portal, 'var', 'mappings')))
  t.throws(() => openMapping(portal, '../x'))
  t.throws(() => saveMapping(portal, '../x', '', 'none', new Date()))
})

t.test('drafts are checked, shown and compared', async t => {
  const form = await formOf('editor')
  const check = async (text: string) => {
    const answer = await post(`${addressOf(OPEN)}check/`, { ...form, text }, 'editor')
    t.equal(answer.statusCode, 200)
    return answer.json() as { diagnostics: Record<string, unknown>[]; html: string }
  }
  const good = await check(first)
  t.match(good.html, /The first 2 records stay as they are/)
  t.match(good.html, /rdfs:label/)
  const more = await check(first.replace('[a, ex:Thing]', '[a, ex:Thing]\n      - [ex:amount, $(amount)]'))
  t.match(more.html, /2 triples are added/)
  t.notMatch(more.html, /removed/)
  const less = await check(first.replace('      - [rdfs:label, $(name), en~lang]\n', ''))
  t.match(less.html, /2 triples are removed/)
  const wrong = await check(first.replace('$(name)', '$(nme)'))
  const line = first.split('\n').findIndex(text => text.includes('$(name)')) + 1
  const error = wrong.diagnostics.find(({ severity }) => severity === 'error')
  t.match(error, { message: /no field `nme`/, hint: /\$\(name\)/, line })
  t.notMatch(wrong.html, /What would change/)
  const hostile = await check('mappings: { "<script>alert(1)</script>": 1 }')
  t.notMatch(hostile.html, /<script/)
  const big = await check(`# ${'x'.repeat(256_000)}\n${first}`)
  t.match(big.diagnostics[0]?.message, /at most 256000/)
  const bigger = await post(`${addressOf(OPEN)}check/`, { ...form, text: 'x'.repeat(900_000) }, 'editor')
  t.equal(bigger.statusCode, 413)
  t.match(bigger.json(), { message: /too large/ })
  const hidden = await post(`${addressOf(OPEN)}check/`, { ...form, text: first }, 'editor')
  t.match(hidden.headers['cache-control'], /private/)
  const page = await post(addressOf(OPEN), { ...form, action: 'check', text: '</textarea><b>' }, 'editor')
  t.equal(page.statusCode, 200)
  t.match(page.body, /&lt;\/textarea&gt;&lt;b&gt;<\/textarea>/, 'the text comes back, escaped')
})

t.test('mappings are saved once, and nobody saves over another', async t => {
  const watch = new PortalWatch(portal)
  const mine = await formOf('editor')
  const yours = await formOf('everything')
  const save = (form: typeof mine, text: string, name: Name) =>
    post(addressOf(OPEN), { ...form, action: 'save', text }, name)

  const wrong = first.replace('$(name)', '$(nme)')
  const refused = await save(mine, wrong, 'editor')
  t.equal(refused.statusCode, 400)
  t.match(refused.body, /It was not saved/)
  for (const action of ['save', 'check']) {
    const shown = await post(addressOf(OPEN), { ...mine, opened: 'before', action, text: wrong }, 'editor')
    t.equal(hiddenOf(shown.body).opened, 'before', `${action}: the text is as old as it was`)
  }
  t.equal(readFileSync(fileOf(OPEN), 'utf8'), first, 'errors are not saved')

  const second = `${first}# second\n`
  const saved = await save(mine, second.replaceAll('\n', '\r\n'), 'editor')
  t.equal(saved.statusCode, 303)
  t.equal(saved.headers.location, `${addressOf(OPEN)}?saved=1`)
  t.equal(readFileSync(fileOf(OPEN), 'utf8'), second, 'with the ends of lines that the file had')
  const folder = path.join(portal, 'var', 'mappings', OPEN)
  t.same(
    readdirSync(folder).map(name => readFileSync(path.join(folder, name), 'utf8')),
    [first],
    'the text before is kept',
  )
  t.equal(watch.look(), null, 'a change is told at the second look')
  t.same(watch.look(), { definitions: [], mappings: [OPEN] }, 'a running server finds it')
  const described = await get(String(saved.headers.location), 'editor')
  t.match(described.body, /The mapping mappings\/open\.yml is saved/)
  t.match(described.body, /role="status" data-state="waiting" data-next="[^"]*\/mapping\/state\/"/)
  await publishPortal(portal)
  await app.catalog.refresh()
  t.match((await get(addressOf(OPEN), 'editor')).body, /It is in force/)

  const third = `${first}# third\n`
  const conflict = await save(yours, third, 'everything')
  t.equal(conflict.statusCode, 409)
  t.match(conflict.body, /Another user has changed the mapping/)
  t.match(conflict.body, /# third/, 'the own text is there still')
  t.equal(readFileSync(fileOf(OPEN), 'utf8'), second)
  const again = await save(hiddenOf(conflict.body), third, 'everything')
  t.equal(again.statusCode, 303, 'who has seen the other one may replace it')
  t.equal(readFileSync(fileOf(OPEN), 'utf8'), third)

  writeFileSync(fileOf(OPEN), first)
  t.equal((await save(hiddenOf(conflict.body), second, 'everything')).statusCode, 409, 'changed by hand')
})

t.test('after a mapping is saved the page reports what becomes of it', async t => {
  const stateUrl = `${addressOf(OPEN)}state/`
  const state = async () => {
    const answer = await get(stateUrl, 'editor')
    t.equal(answer.statusCode, 200)
    t.match(answer.headers['cache-control'], /no-store/)
    return answer.json() as { state: string; html: string }
  }
  const place = { line: 1, column: 1, endLine: 1, endColumn: 1, path: '' }
  const text = `${first}# followed\n`
  await app.catalog.refresh()
  const form = await formOf('editor')
  app.publications.note(
    { type: 'failed', dataset: OPEN, reason: 'of a text before', isDiskFull: false, seconds: 1 },
    0,
  )
  const saved = await post(addressOf(OPEN), { ...form, action: 'save', text }, 'editor')
  t.equal(saved.statusCode, 303)
  t.match(await state(), { state: 'waiting', html: /data-next=/ }, 'what was before is forgotten')
  const steps: readonly (readonly [Parameters<typeof app.publications.note>[0], string, RegExp, boolean])[] =
    [
      [{ type: 'progress', dataset: OPEN, records: 1234 }, 'publishing', /Records so far: 1,234\./, true],
      [
        {
          type: 'mapping-refused',
          dataset: OPEN,
          file: 'x',
          diagnostics: [{ code: 'limits', severity: 'error', message: 'too much', place }],
          kept: 'previous',
        },
        'refused',
        /was refused/,
        false,
      ],
      [
        {
          type: 'failed',
          dataset: OPEN,
          reason: 'no room <b>\n    at secret',
          isDiskFull: false,
          seconds: 1,
        },
        'failed',
        /no room &lt;b&gt;<\/span>/,
        false,
      ],
      [{ type: 'unchanged', dataset: OPEN, records: 2, triples: 9, seconds: 0 }, 'waiting', /is saved/, true],
    ]
  for (const [message, name, words, isPassing] of steps) {
    app.publications.note(message, 0)
    const found = await state()
    t.match(found, { state: name, html: words })
    t.equal(found.html.includes('data-next'), isPassing, name)
    t.notMatch(found.html, /secret/)
    t.match((await get(addressOf(OPEN), 'editor')).body, words, `${name}: on the page, too`)
  }
  await publishPortal(portal)
  t.match(await state(), { state: 'loading', html: /are being loaded/ })
  await app.catalog.refresh()
  t.match(await state(), { state: 'in-force', html: /It is in force\. It makes \d+ triples/ })
  t.notMatch((await state()).html, /data-next/)
  for (const [name, status] of [
    [null, 401],
    ['reader', 403],
    ['other', 403],
  ] as const)
    t.equal((await get(stateUrl, name)).statusCode, status, `${name} does not learn it`)
})

t.test('Turtle that is pasted is recognised, and saved as RML', async t => {
  const turtle = `@prefix rml: <http://w3id.org/rml/> .
<#thing> a rml:TriplesMap;
  rml:logicalSource [ rml:source [ a rml:RelativePathSource; rml:path "open.csv" ]; rml:referenceFormulation rml:CSV ];
  rml:subjectMap [ rml:template "${BASE}/ld/resources/${OPEN}/thing/{id}" ];
  rml:predicateObjectMap [ rml:predicate <http://www.w3.org/2000/01/rdf-schema#label>; rml:objectMap [ rml:reference "name" ] ] .
`
  const form = await formOf('editor')
  const checked = (await post(`${addressOf(OPEN)}check/`, { ...form, text: turtle }, 'editor')).json()
  t.equal(checked.language, 'turtle')
  t.notOk(
    checked.diagnostics.some(({ severity }: { severity: string }) => severity === 'error'),
    'it is read',
  )
  t.match(checked.html, /RML in Turtle.*mappings\/open\.rml\.ttl/)
  const before = readFileSync(fileOf(OPEN), 'utf8')
  const saved = await post(addressOf(OPEN), { ...form, action: 'save', text: turtle }, 'editor')
  t.equal(saved.statusCode, 303, saved.body)
  const other = path.join(portal, 'mappings', `${OPEN}.rml.ttl`)
  t.equal(readFileSync(other, 'utf8'), turtle)
  t.notOk(existsSync(fileOf(OPEN)), 'in place of the one in YARRRML')
  const kept =
    readdirSync(path.join(portal, 'var', 'mappings', OPEN))
      .sort()
      .at(-1) ?? ''
  t.equal(readFileSync(path.join(portal, 'var', 'mappings', OPEN, kept), 'utf8'), before, 'which is kept')
  t.match(kept, /\.yml$/)
  await publishPortal(portal)
  await app.catalog.refresh()
  const page = (await get(addressOf(OPEN), 'editor')).body
  t.match(page, /mappings\/open\.rml\.ttl\. It is in force/)
  t.match(page, /data-file="open\.rml\.ttl"/)
  const back = await formOf('editor')
  const yaml = (await post(`${addressOf(OPEN)}check/`, { ...back, text: first }, 'editor')).json()
  t.match(yaml, { language: 'yaml', html: /This is YARRRML.*mappings\/open\.yml/ })
  t.equal((await post(addressOf(OPEN), { ...back, action: 'save', text: first }, 'editor')).statusCode, 303)
  t.equal(readFileSync(fileOf(OPEN), 'utf8'), first)
  t.notOk(existsSync(other))
})

t.test('backups are many and not endless', async t => {
  for (let n = 0; n < 25; n++) {
    const { digest } = openMapping(portal, HIDDEN)
    const moment = new Date(Date.UTC(2026, 0, 1, 0, 0, n))
    t.same(saveMapping(portal, HIDDEN, `# ${n}\n`, digest, moment), { type: 'saved' })
  }
  const folder = path.join(portal, 'var', 'mappings', HIDDEN)
  const kept = readdirSync(folder).sort()
  t.equal(kept.length, 20)
  t.equal(readFileSync(path.join(folder, kept.at(-1) ?? ''), 'utf8'), '# 23\n')
  t.same(saveMapping(portal, HIDDEN, 'x', 'none', new Date()), { type: 'conflict' })
})

t.test('what an editor of conditions asks', async t => {
  const ask = async (url: string, name: Name | null = null) =>
    (await get(`/explore/dataset/${url}`, name)).json()
  t.match(await ask(`${OPEN}/complete`), { fields: [{ name: 'id', type: 'text' }, { name: 'name' }] })
  t.same(await ask(`${OPEN}/complete?field=name&prefix=tw`), { values: [{ value: 'two', count: 1 }] })
  t.same((await ask(`${OPEN}/complete?field=name`)).values.length, 2)
  t.same(await ask(`${OPEN}/complete?field=name&prefix=%22%29%20or%20true`), { values: [] })
  t.same(await ask(`${OPEN}/complete?field=amount`), { values: [] })
  t.same(await ask(`${OPEN}/complete?field=zyzzyfield`), { values: [] })
  t.same(await ask(`${OPEN}/check?where=amount+%3E+1`), { fault: null })
  t.same(await ask(`${OPEN}/check?where=`), { fault: null })
  t.match(await ask(`${OPEN}/check?where=amount+%3E+1+and+nme+%3D+2`), { fault: { from: 15, to: 18 } })
  t.match(await ask(`${OPEN}/check?where=amount+%3E`), { fault: { message: /\S/ } })
  for (const call of ['complete', 'complete?field=zyzzyfield', 'check?where=zyzzyfield+%3D+1'])
    for (const [name, status] of [
      [null, 401],
      ['reader', 403],
      ['seer', 200],
    ] as const) {
      const answer = await get(`/explore/dataset/${HIDDEN}/${call}`, name)
      t.equal(answer.statusCode, status, `${name} ${call}`)
      if (status !== 200) t.notMatch(answer.body, /Zyzzylabel|zyzzyfacet|zyzzyvalue/)
    }
})

t.test('the filter bar', async t => {
  const table = async (query: string) => (await get(`/explore/dataset/${OPEN}/table/${query}`, null)).body
  const select = /<select id="order_by"[\s\S]*?<\/select>/
  const plain = (await table(''))?.match(select)?.[0] ?? ''
  t.match(plain, /<option value="amount desc">/)
  t.notMatch(plain, /selected|value="place/)
  t.match(await table('?order_by=amount+desc'), /<option value="amount desc" selected>/)
  t.match(await table('?order_by=name,amount'), /<option value="name,amount" selected>/)
  t.match(await table(''), /<form class="filter"[^>]* autocomplete="off"/, 'its state is the address')
  const wrong = await table('?where=amount+%3E+1+and+nme+%3D+2')
  t.match(wrong, /amount &gt; 1 and nme = 2\n {15}\^/, 'a caret below the place')
  t.match(wrong, /aria-invalid="true"/)
})

t.test('examples of conditions are of the fields', async t => {
  const base = { nulls: 0, min: null, max: null, present: 100 }
  const dataset = {
    id: 'trees',
    uid: 'da_000000',
    metas: {},
    visibility: 'public',
    attachments: [],
    fields: [
      field('tree_id', 'int'),
      field('label', 'text'),
      field('kind', 'text', { annotations: { facet: [] } }),
      field('min', 'double'),
      field('planted', 'date'),
    ],
  } as const
  const numbers = Array.from({ length: 101 }, (_, n) => n * 3.21)
  const fields = {
    tree_id: { ...base, distinct: 100, quantiles: numbers },
    label: { ...base, distinct: 100, quantiles: ['Old oak'] },
    kind: { ...base, distinct: 2, quantiles: ['a "b"'] },
    min: { ...base, distinct: 100, quantiles: numbers },
    planted: { ...base, distinct: 3, years: [1999, 2001, 2010] },
  }
  t.same(filterExamples({ dataset, statistics: { records: 100, fields } }), [
    '`min` > 300',
    'kind = "a \\"b\\""',
    'year(planted) = 2001',
  ])
  t.same(filterExamples({ dataset, statistics: { records: 0, fields: {} } }), [])
})
