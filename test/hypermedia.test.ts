import { statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { pageLinks } from '../src/api/explore/present.ts'
import { TEMPLATES } from '../src/model/templates.ts'
import { describeAttachments, openAttachment } from '../src/publishing/attachments.ts'
import type { Query } from '../src/query/plan.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** What leads from one address to the next: roots, metadata templates, attachments, lists of formats. */
const PAGE = '<script>parent.document.title = "mine"</script>'
const SECRET = 'TOP SECRET'
const LONG = 'a line of text\n'.repeat(500)

/** Attachments that must not be served: what follows the folder, and which file stands there. */
const ESCAPES = [
  '../a.txt',
  '../../portal.yaml',
  './../other/b.json',
  'sub/../../a.txt',
  '/etc/hostname',
  'link-out.txt',
  'chain.txt',
  'folder-out/b.txt',
  'loop.txt',
  'dangling.txt',
  'missing.txt',
  'page.html/..',
  'page.html/more.txt',
  'sub',
  '.',
  '..',
  `${'long'.repeat(100)}.txt`,
  'nul\0.txt',
]

const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Test\n',
  outside: { 'b.txt': SECRET },
  data: {
    'a.txt': SECRET,
    other: { 'b.json': '[{"b":1}]', 'dataset.yaml': 'source: { path: b.json }\n' },
    trees: {
      'a.json': '[{"a":1,"place":[11.5,48.1]}]',
      'page.html': PAGE,
      'empty.bin': '',
      'long.txt': LONG,
      'link-in.txt': t.fixture('symlink', 'long.txt'),
      sub: { 'Größe "x"; (1)\'.csv': 'a\n1\n' },
      'dataset.yaml': `
source: { path: a.json }
fields: [{ name: a, type: int }]
attachments:
  - { path: page.html, title: A page, mimetype: text/html }
  - { path: empty.bin }
  - { path: long.txt, mimetype: text/plain; charset=utf-8 }
  - { path: ./link-in.txt, mimetype: "text/plain\\r\\nx-injected: 1" }
  - { path: "sub/Größe \\"x\\"; (1)'.csv", mimetype: text/csv }
`,
    },
    escapes: {
      'a.json': '[{"a":1}]',
      'page.html': PAGE,
      'link-out.txt': t.fixture('symlink', '../a.txt'),
      'chain.txt': t.fixture('symlink', 'link-out.txt'),
      'folder-out': t.fixture('symlink', '../../outside'),
      'loop.txt': t.fixture('symlink', 'loop.txt'),
      'dangling.txt': t.fixture('symlink', 'nowhere.txt'),
      sub: { 'c.txt': 'c' },
      'dataset.yaml': `
source: { path: a.json }
attachments:
${ESCAPES.map(file => `  - { path: ${JSON.stringify(file)} }\n`).join('')}`,
    },
    hidden: {
      'a.json': '[{"a":1}]',
      'dataset.yaml': 'source: { path: a.json }\nvisibility: restricted\nattachments: [{ path: a.json }]\n',
    },
  },
})
const { app, base, get } = await servePortal(t, { portal, now: '2026-01-02T03:04:05.678Z' })

const SEARCH = '/api/v2'
const V20 = '/api/explore/v2.0'
const V21 = '/api/explore/v2.1'
const EVERY = [SEARCH, V20, V21] as const

interface Linked {
  readonly links: readonly { readonly rel: string; readonly href: string }[]
}

/** Relations and addresses of the links of a body, without the portal's own address. */
function linksOf(body: Linked): readonly (readonly [string, string])[] {
  return body.links.map(({ rel, href }) => [rel, href.replace(base, '')])
}

function attachment(id: string, dataset = 'trees', api: string = V20): string {
  return `${api}/catalog/datasets/${dataset}/attachments/${encodeURIComponent(id)}`
}

t.test('every address tells where it leads', async t => {
  const cases: readonly (readonly [url: string, links: readonly (readonly [string, string])[]])[] = [
    [
      SEARCH,
      [
        ['self', '/api/v2'],
        ['catalog', '/api/v2/catalog'],
        ['monitoring', '/api/v2/monitoring'],
        ['network', '/api/v2/network'],
      ],
    ],
    [
      `${SEARCH}/catalog`,
      [
        ['self', '/api/v2/catalog'],
        ['datasets', '/api/v2/catalog/datasets'],
        ['exports', '/api/v2/catalog/exports'],
        ['metadata_templates', '/api/v2/catalog/metadata_templates'],
      ],
    ],
    ...[V20, V21].flatMap((root): (typeof cases)[number][] => [
      [
        root,
        [
          ['self', root],
          ['catalog', `${root}/catalog`],
          ['monitoring', `${root}/monitoring`],
          ['opendatasoft', `${root}/opendatasoft`],
        ],
      ],
      [
        `${root}/catalog`,
        [
          ['self', `${root}/catalog`],
          ['datasets', `${root}/catalog/datasets`],
          ['exports', `${root}/catalog/exports`],
          ['facets', `${root}/catalog/facets`],
        ],
      ],
    ]),
    [
      `${SEARCH}/catalog/metadata_templates`,
      [
        ['self', '/api/v2/catalog/metadata_templates'],
        ['Interoperatibility', '/api/v2/catalog/metadata_templates/interop'],
        ['Basic', '/api/v2/catalog/metadata_templates/basic'],
        ['Extra', '/api/v2/catalog/metadata_templates/extra'],
        ['Admin', '/api/v2/catalog/metadata_templates/admin'],
      ],
    ],
    [
      `${SEARCH}/catalog/metadata_templates/basic`,
      [
        ['self', '/api/v2/catalog/metadata_templates/basic'],
        ['metadata_templates', '/api/v2/catalog/metadata_templates'],
      ],
    ],
    [
      `${SEARCH}/catalog/metadata_templates/interop/dcat`,
      [
        ['self', '/api/v2/catalog/metadata_templates/interop/dcat'],
        ['interop', '/api/v2/catalog/metadata_templates/interop'],
        ['metadata_templates', '/api/v2/catalog/metadata_templates'],
      ],
    ],
  ]
  for (const [url, links] of cases)
    for (const address of [url, `${url}/`]) {
      const response = await get(address)
      t.equal(response.statusCode, 200, address)
      t.match(response.headers['content-type'], 'application/json; charset=utf-8')
      t.same(linksOf(response.json()), links, address)
    }
})

t.test('metadata templates describe their entries', async t => {
  const home = `${SEARCH}/catalog/metadata_templates`
  const { metadata_template: basic } = (await get(`${home}/basic/default`)).json()
  t.same([basic.type, basic.name], ['basic', 'default'])
  t.same(basic.schema.slice(0, 3), [
    {
      widget: 'textinput',
      name: 'title',
      uri: 'http://purl.org/dc/terms/title',
      label: 'Title',
      values: null,
      self_suggest: false,
      allow_empty: false,
      help_text: null,
      hidden: true,
      type: 'text',
      values_domain_property: null,
    },
    {
      widget: 'richtextinput',
      name: 'description',
      uri: 'http://purl.org/dc/terms/description',
      label: 'Description',
      values: null,
      self_suggest: false,
      allow_empty: true,
      help_text: null,
      hidden: false,
      type: 'longstring',
      values_domain_property: null,
    },
    {
      widget: 'multidatalist',
      name: 'theme',
      uri: 'http://www.w3.org/ns/dcat#theme',
      label: 'Themes',
      values: null,
      self_suggest: false,
      allow_empty: true,
      help_text: null,
      hidden: false,
      type: 'list',
      values_domain_property: 'metadata.themes',
    },
  ])
  t.match(JSON.stringify(basic.schema[0]), /^{"widget":.*"values_domain_property":null}$/, 'keys in order')
  for (const [type, names] of [
    ['interop', ['dcat', 'dcat_ap_ch', 'dublin-core', 'inspire', 'semantic']],
    ['basic', ['default']],
    ['extra', ['custom', 'visualization']],
    ['admin', ['explore', 'internal']],
  ] as const) {
    const { metadata_templates: listed } = (await get(`${home}/${type}`)).json()
    t.same(
      listed.map((each: { matadata_template: { name: string } }) => each.matadata_template.name),
      names,
    )
    for (const each of listed as readonly (Linked & { readonly matadata_template: unknown })[]) {
      const { links, metadata_template: one } = (
        await get(each.links[0]?.href.replace(base, '') ?? '')
      ).json()
      t.same(each.links, links.slice(0, 1))
      t.same(each.matadata_template, one)
    }
  }
})

t.test('the list of known metadata is that of the templates', t => {
  const metas = TEMPLATES.flatMap(({ name: template, schema }) =>
    schema.map(({ name, type }): [string, string] => [`${template}.${name}`, type]),
  )
  const keys = metas.map(([key]) => key)
  t.equal(new Set(keys).size, keys.length, 'none is there twice')
  t.equal(keys[0], 'default.title')
  t.same(
    TEMPLATES.flatMap(({ schema }) => schema.filter(({ label }) => !/^[A-Z]/.test(label))),
    [],
  )
  const cases: readonly (readonly [key: string, type: string])[] = [
    ['default.title', 'text'],
    ['default.keyword', 'list'],
    ['default.modified', 'datetime'],
    ['default.records_count', 'int'],
    ['default.federated', 'boolean'],
    ['default.bbox', 'geo_shape'],
    ['dcat.issued', 'datetime'],
    ['semantic.rml_mapping', 'longstring'],
    ['explore.popularity_score', 'double'],
  ]
  for (const [key, type] of cases) t.equal(metas[keys.indexOf(key)]?.[1], type, key)
  t.end()
})

t.test('what is not there is told in the usual words', async t => {
  const cases: readonly (readonly [url: string, what: string])[] = [
    [`${SEARCH}/catalog/metadata_templates/nope`, 'metadata template type nope'],
    [`${SEARCH}/catalog/metadata_templates/nope/default`, 'metadata template type nope'],
    [`${SEARCH}/catalog/metadata_templates/basic/dcat`, 'metadata template dcat'],
    [`${SEARCH}/catalog/metadata_templates/basic/__proto__`, 'metadata template __proto__'],
    [`${SEARCH}/catalog/datasets/nope/attachments`, 'dataset nope'],
    [`${SEARCH}/catalog/datasets/nope/exports`, 'dataset nope'],
    [attachment('page_html', 'nope'), 'dataset nope'],
    [attachment('nope'), 'attachment nope'],
    [attachment('../page_html'), 'attachment ../page_html'],
    [attachment('page.html'), 'attachment page.html'],
    [`${V20}/catalog/metadata_templates`, `address ${V20}/catalog/metadata_templates`],
  ]
  for (const [url, what] of cases) {
    const response = await get(url)
    t.equal(response.statusCode, 404, url)
    const message = `The requested ${what} does not exist.`
    t.same(response.json(), { error_code: 'NotFoundResource', message })
  }
})

t.test('a restricted dataset hands out no attachments', async t => {
  for (const url of [`${SEARCH}/catalog/datasets/hidden/attachments`, attachment('a_json', 'hidden')]) {
    const response = await get(url)
    t.equal(response.statusCode, 401, url)
    t.match(response.json(), { error_code: 'Unauthorised', message: /^The dataset hidden is not public/ })
  }
})

t.test('attachments are listed alike in every generation', async t => {
  for (const api of EVERY) {
    const home = `${api}/catalog/datasets/trees`
    const body = (await get(`${home}/attachments`)).json()
    t.same(linksOf(body), [
      ['self', `${home}/attachments`],
      ['dataset', home],
    ])
    t.equal(body.attachments.length, 5)
    const href = `${base}${home}/attachments/page_html`
    t.same(body.attachments[0], {
      href,
      metas: { 'mime-type': 'text/html', title: 'A page', url: href, id: 'page_html' },
    })
    for (const each of body.attachments as readonly { readonly href: string }[])
      t.equal((await get(each.href.replace(base, ''))).statusCode, 200, each.href)
    t.same((await get(`${api}/catalog/datasets/other/attachments`)).json().attachments, [])
  }
})

t.test('an attachment is its file, and no page of the portal', async t => {
  const { body, headers, statusCode } = await get(attachment('page_html'))
  t.equal(statusCode, 200)
  t.equal(body, PAGE)
  t.match(headers, {
    'content-type': 'text/html',
    'content-disposition': `attachment; filename="page.html"; filename*=UTF-8''page.html`,
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=0, must-revalidate',
    etag: /^"[^"]+"$/,
  })
  const cases: readonly (readonly [id: string, type: string, content: string, name: string])[] = [
    ['empty_bin', 'application/octet-stream', '', `"empty.bin"; filename*=UTF-8''empty.bin`],
    ['long_txt', 'text/plain; charset=utf-8', LONG, `"long.txt"; filename*=UTF-8''long.txt`],
    ['link-in_txt', 'application/octet-stream', LONG, `"long.txt"; filename*=UTF-8''long.txt`],
    [
      `größe "x"; (1)'_csv`,
      'text/csv',
      'a\n1\n',
      `"Gr__e _x__ (1)_.csv"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%22x%22%3B%20%281%29%27.csv`,
    ],
  ]
  for (const [id, type, content, name] of cases) {
    // A body over 1 kB of a media type that is text is compressed for who asks for it, and for nobody else.
    const answer = await get(attachment(id))
    t.equal(answer.body, content, id)
    t.equal(answer.headers['content-type'], type)
    t.equal(answer.headers['content-disposition'], `attachment; filename=${name}`)
    t.equal(answer.headers['content-length'], String(Buffer.byteLength(content)))
    t.notOk('x-injected' in answer.headers)
  }
})

t.test('attachments have ids of their own, and media types by their endings', t => {
  const files = ['a/map.PDF', 'b/map.pdf', 'map.pdf_2', 'c/map.pdf', 'notes', 'x.constructor']
  const described = describeAttachments(files.map(file => ({ path: file })))
  t.same(
    described.map(({ id }) => id),
    ['map_pdf', 'map_pdf_2', 'map_pdf_2_2', 'map_pdf_3', 'notes', 'x_constructor'],
  )
  const [pdf, bytes] = ['application/pdf', 'application/octet-stream']
  t.same(
    described.map(({ mimetype }) => mimetype),
    [pdf, pdf, bytes, pdf, bytes, bytes],
  )
  t.equal(describeAttachments([{ path: 'a.pdf', mimetype: 'a/b' }])[0]?.mimetype, 'a/b')
  t.end()
})

t.test('who has an attachment already is told so', async t => {
  const url = attachment('long_txt')
  const first = await get(url)
  const etag = String(first.headers.etag)
  const again = await get(url, { 'if-none-match': etag })
  t.same([again.statusCode, again.body, again.headers.etag], [304, '', etag])
  const compressed = await get(url, { 'accept-encoding': 'gzip' })
  t.equal(compressed.headers['content-encoding'], 'gzip')
  t.notOk('content-length' in compressed.headers)
  t.not(compressed.headers.etag, etag, 'other bytes, another strong tag')
  const head = await app.http.inject({ method: 'HEAD', url })
  t.same([head.statusCode, head.body, head.headers.etag], [200, '', etag])
  t.equal(head.headers['content-length'], String(LONG.length))

  const file = path.join(portal, 'data/trees/long.txt')
  const before = statSync(file)
  writeFileSync(file, LONG.toUpperCase())
  utimesSync(file, before.atime, new Date(before.mtimeMs + 1))
  const changed = await get(url, { 'if-none-match': etag })
  t.same([changed.statusCode, changed.body], [200, LONG.toUpperCase()])
  t.not(changed.headers.etag, etag)
  writeFileSync(file, LONG)
})

t.test('no path leaves the folder of its dataset', async t => {
  const listed = (await get(`${V20}/catalog/datasets/escapes/attachments`)).json().attachments
  t.equal(listed.length, ESCAPES.length)
  for (const { href, metas } of listed as readonly {
    readonly href: string
    readonly metas: { readonly title: string }
  }[]) {
    const { statusCode, body, headers } = await get(href.replace(base, ''))
    t.equal(statusCode, 404, JSON.stringify(metas.title))
    t.notMatch(body, SECRET)
    t.notOk('etag' in headers)
  }
  t.equal(
    new Set(listed.map(({ href }: { readonly href: string }) => href)).size,
    ESCAPES.length,
    'no id twice',
  )
  const { dataset } = app.catalog.dataset('escapes')
  const fileOf = async (file: string) => {
    const opened = await openAttachment(portal, dataset, { id: 'a', title: 'a', mimetype: 'a/b', path: file })
    await opened?.close()
    return opened?.name ?? null
  }
  for (const file of ESCAPES) t.equal(await fileOf(file), null, JSON.stringify(file))
  t.equal(await fileOf(path.join(portal, 'data/escapes/page.html')), null, 'an absolute path')
  for (const file of ['page.html', 'sub/c.txt', './sub/../page.html'])
    t.equal(await fileOf(file), path.basename(file), file)
})

t.test('only formats that are served are listed', async t => {
  const cases: readonly (readonly [home: string, names: readonly string[]])[] = EVERY.flatMap(api => [
    [`${api}/catalog/datasets/trees/exports`, api === SEARCH ? ['json', 'turtle'] : ['json']],
    [`${api}/catalog/exports`, []],
  ])
  for (const [home, names] of cases) {
    const links = linksOf((await get(home)).json())
    t.same(links[0], ['self', home])
    const listed = links.slice(1)
    for (const name of names)
      t.ok(
        listed.some(([rel]) => rel === name),
        `${home}: ${name}`,
      )
    for (const [rel, href] of listed) {
      t.equal(href, `${home}/${rel}`)
      t.equal((await get(href)).statusCode, 200, href)
    }
  }
})

t.test('links of pages lead to rows that pages reach', async t => {
  const records = { type: 'records' } as Query
  const groups = { type: 'groups', keys: [{}] } as unknown as Query
  for (const [plan, page, links] of [
    [records, [100, 0, 250], { first: [100, 0], last: [100, 200], next: [100, 100] }],
    [records, [10, 0, 135_233], { first: [10, 0], last: [10, 9990], next: [10, 10] }],
    [records, [10, 9990, 135_233], { first: [10, 0], last: [10, 9990] }],
    [records, [100, 9850, 135_233], { first: [100, 0], last: [100, 9900], next: [50, 9950] }],
    [records, [30, 0, 10_000], { first: [30, 0], last: [10, 9990], next: [30, 30] }],
    [groups, [10_000, 9000, 119_080], { first: [10_000, 0], last: [10_000, 10_000], next: [1000, 19_000] }],
  ] as const) {
    const [limit, offset, total] = page
    const found = pageLinks('/', {}, plan, { limit, offset, total }).slice(1)
    const required = Object.entries(links).map(([rel, [rows, first]]) => ({
      rel,
      href: `/?limit=${rows}&offset=${first}`,
    }))
    t.same(found, required, `${plan.type} ${page.join(' ')}`)
  }
})
