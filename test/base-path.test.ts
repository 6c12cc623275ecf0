import t from 'tap'
import { openAccountsOf } from '../src/accounts/open.ts'
import { loadConfig } from '../src/config/load.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** A base address with a path, behind a proxy that removes the path: all addresses that answers name are below it. */
const ORIGIN = 'https://data.example'
const ROOT = '/open/portal'
const BASE = ORIGIN + ROOT
const PASSWORD = 'correct horse battery'
const ROWS = Array.from({ length: 130 }, (_, at) => `${at},tree ${at},k${at % 3},"48.${at},11.5"\n`)

const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Path\nmetrics: public\n',
  data: {
    trees: {
      'dataset.yaml':
        'source: { path: trees.csv }\nid: [nr]\nmetas: { default: { title: Trees, license: CC BY, publisher: Town } }\n',
      'trees.csv': `nr,name,kind,place\n${ROWS.join('')}`,
    },
  },
})
const accounts = await openAccountsOf(loadConfig({ portal, base: BASE }, {}), { now: Date.now })
await accounts.users.add('ada', PASSWORD)
await accounts.users.grant('ada', 'publish:*')
await accounts.close()
const { app } = await servePortal(t, { portal, base: BASE })
const cookies = new Map<string, string>()

interface Fetched {
  readonly status: number
  readonly url: string
  readonly type: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** Requests an address as the proxy passes it on; the path of the base address is removed. */
async function fetched(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  form?: Readonly<Record<string, string>>,
): Promise<Fetched> {
  if (!isBelow(url)) throw new Error(`${url} is not below ${BASE}`)
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const answer = await app.http.inject({
    url: url.slice(BASE.length) || '/',
    method: form === undefined ? 'GET' : 'POST',
    headers: {
      ...(cookie === '' ? {} : { cookie }),
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded', origin: ORIGIN }),
      ...headers,
    },
    ...(form === undefined ? {} : { payload: new URLSearchParams(form).toString() }),
  })
  for (const { name, value, path, maxAge } of answer.cookies) {
    t.equal(path, ROOT, `path of the cookie ${name}`)
    t.match(name, /^__Secure-lodestone-/)
    if (maxAge === 0) cookies.delete(name)
    else cookies.set(name, value)
  }
  return {
    status: answer.statusCode,
    url,
    type: String(answer.headers['content-type'] ?? ''),
    headers: answer.headers,
    body: answer.body,
  }
}

function isBelow(address: string): boolean {
  return address === BASE || /^[/?#]/.test(address.slice(BASE.length)) === address.startsWith(BASE)
}

/** The targets of the links of a page, and of a redirection. */
function linksOf({ url, type, headers, body }: Fetched): readonly string[] {
  const inPage = type.includes('html') ? [...body.matchAll(/\s(?:href|src|action)="([^"{}]*)"/g)] : []
  return [...inPage.map(([, link]) => link?.replaceAll('&amp;', '&')), headers.location]
    .flatMap(link => (typeof link === 'string' && URL.canParse(link, url) ? [new URL(link, url).href] : []))
    .filter(address => address.startsWith(ORIGIN))
}

/** What an answer names that belongs to this host, but not to the portal. */
function strayOf(answer: Fetched): readonly string[] {
  const named = ['link', 'location', 'content-location'].map(name => answer.headers[name] ?? '')
  const absolute = `${named.join('\n')}\n${answer.body}`.match(/https:\/\/data\.example[^\s"'<>]*/g) ?? []
  return [...absolute, ...linksOf(answer)].filter(address => !isBelow(address))
}

const PAGES: readonly (readonly [path: string, accept?: string])[] = [
  ['/', 'text/html'],
  ['/explore/', 'text/html'],
  ...['information', 'table', 'analyze', 'export', 'api', 'versions'].map(
    tab => [`/explore/dataset/trees/${tab}/`, 'text/html'] as const,
  ),
  ['/sparql/', 'text/html'],
  ['/developers/', 'text/html'],
  ['/robots.txt'],
  ['/sitemap.xml'],
  ['/sitemap/1.xml'],
  ['/opensearch.xml'],
  ['/explore/suggestions?q=tre'],
  ['/.well-known/void', 'text/turtle'],
  ['/.well-known/oauth-authorization-server'],
  ['/.well-known/openid-configuration'],
  ['/api/void/trees', 'text/turtle'],
  ['/api/shapes/trees', 'text/turtle'],
  ['/api/explore/v2.1/'],
  ['/api/explore/v2.1/catalog/datasets'],
  ['/api/explore/v2.1/catalog/datasets/trees'],
  ['/api/explore/v2.1/catalog/datasets/trees/records'],
  ['/api/explore/v2.1/catalog/exports/ttl'],
  ['/api/explore/v2.1/catalog/exports/rss'],
  ['/api/explore/v2.1/catalog/exports/data.json'],
  ['/api/explore/v2.1/swagger.json'],
  ['/api/explore/v2.1/console', 'text/html'],
  ['/api/v2/catalog/datasets'],
  ['/api/v2/catalog/datasets/trees/records'],
  ['/api/odata/'],
  ['/api/odata/$metadata'],
  ['/api/odata/trees?$top=2', 'application/json;odata.metadata=full'],
  ['/api/odata/trees', 'application/atom+xml'],
  ['/api/sparql', 'text/turtle'],
  ['/api/sparql/trees', 'text/turtle'],
  ['/api/versions/trees'],
  ['/api/versions/trees/feed'],
  ['/api/versions/trees/ldes', 'text/turtle'],
  ['/api/versions/trees/timemap'],
  ['/api/tpf', 'text/turtle'],
  ['/api/tpf', 'text/html'],
  ...['text/turtle', 'application/trig', 'application/n-quads', 'application/ld+json', 'text/html'].flatMap(
    type => [['/api/tpf/trees', type] as const],
  ),
  ['/api/qpf/trees?page=2', 'application/trig'],
  ['/api/qpf', 'text/html'],
  ['/api/qpf', 'application/trig'],
  ['/ld/resources/trees', 'text/turtle'],
  ['/ld/data/trees', 'text/html'],
  ['/ld/data/trees', 'text/turtle'],
  ['/ld/vocabulary/trees/name', 'text/turtle'],
  ['/no-such-page', 'text/html'],
  ['/api/no-such'],
  ['/account/', 'text/html'],
  ['/account/login/', 'text/html'],
  ['/desk/', 'text/html'],
]

t.test('all addresses of answers are below the base address, and links of pages lead somewhere', async t => {
  const links = new Map<string, string>()
  for (const [path, accept = '*/*'] of PAGES) {
    const answer = await fetched(BASE + path, { accept })
    t.equal(answer.status >= 400, path.includes('no-such'), `${path}: ${answer.status}`)
    t.same(strayOf(answer), [], `${path} as ${accept}`)
    if (answer.status < 400)
      for (const address of linksOf(answer))
        if (!/[?&]lang=/.test(address)) links.set(address.replace(/#.*/, ''), path)
  }
  t.ok(links.size > 100, `${links.size} links`)
  const broken: string[] = []
  for (const [address, page] of links) {
    const answer = await fetched(address, { accept: 'text/html, */*;q=0.5' })
    const isForBrowsersAlone = answer.status === 401 || answer.status === 405
    if (answer.status >= 400 && !isForBrowsersAlone) broken.push(`${answer.status} ${address} of ${page}`)
    t.same(strayOf(answer), [], address)
  }
  t.same(broken, [])
})

t.test('fragments are paged, and their metadata are told from their data', async t => {
  let address: string | undefined = `${BASE}/api/tpf/trees`
  let [pages, records] = [0, 0]
  while (address !== undefined && pages < 20) {
    const { status, body } = await fetched(address, { accept: 'application/trig' })
    t.equal(status, 200)
    t.match(body, `<${address}>`, 'the page has the requested address')
    records += body.match(/"tree \d+"/g)?.length ?? 0
    const [, next] = /hydra:next>?\s+<([^>]*)>|hydra#next>\s+<([^>]*)>/.exec(body) ?? []
    address = next
    pages += 1
  }
  t.equal(records, 130)
  t.ok(pages > 1)
})

t.test('Memento', async t => {
  const records = `${BASE}/api/explore/v2.1/catalog/datasets/trees/records`
  const sent = await fetched(records, { 'accept-datetime': 'Tue, 20 Jan 2026 09:30:00 GMT' })
  t.equal(sent.status, 302)
  const target = new URL(String(sent.headers.location), records).href
  t.ok(target.startsWith(`${records}?version=`), target)
  const memento = await fetched(target)
  t.equal(memento.status, 200)
  t.match(memento.headers.link, `<${records}>; rel="original timegate"`)
  t.same([sent, memento].flatMap(strayOf), [])
  const [, timeMap = ''] = /<([^>]*)>; rel="timemap"/.exec(String(memento.headers.link)) ?? []
  t.equal((await fetched(timeMap)).status, 200)
  // Clients of Node read headers of 16 KiB.
  const version = new URL(target).searchParams.get('version')
  for (const [length, link] of [
    [3000, /rel="original timegate"/],
    [9000, /^undefined$/],
  ] as const) {
    const query = encodeURIComponent(`ASK {} # ${'x'.repeat(length)}`)
    const long = await fetched(`${BASE}/api/sparql/trees?query=${query}&version=${version}`)
    t.equal(long.status, 200)
    t.match(String(long.headers.link), link)
    t.ok(long.headers['memento-datetime'])
  }
})

t.test('signing in, authorizing an application and signing out', async t => {
  const authorization = new URL(`${BASE}/oauth2/authorize/`)
  const client = await app.accounts.clients.register({
    owner: 'ada',
    name: 'App',
    type: 'public',
    redirectUris: ['http://127.0.0.1/back'],
  })
  const asked = { response_type: 'code', client_id: client.client.id, redirect_uri: 'http://127.0.0.1/back' }
  const proof = {
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }
  authorization.search = String(new URLSearchParams({ ...asked, ...proof, state: 'x' }))
  const toLogin = await fetched(authorization.href)
  t.equal(toLogin.status, 303)
  const login = await fetched(linksOf(toLogin)[0] ?? '')
  t.match(login.headers['content-security-policy'], /form-action 'self' http:/)
  const hidden = (page: Fetched) =>
    Object.fromEntries(
      [
        ...(page.body.split('</form>')[0] ?? '').matchAll(
          /<input type="hidden" name="([^"]*)" value="([^"]*)"/g,
        ),
      ].map(([, name, value]) => [name, value?.replaceAll('&amp;', '&') ?? '']),
    )
  const sent = { ...hidden(login), username: 'ada', password: PASSWORD }
  const signedIn = await fetched(`${BASE}/account/login/`, {}, sent)
  t.equal(signedIn.status, 303)
  t.match(linksOf(signedIn)[0], authorization.href.split('?')[0], 'the user comes back to the application')
  t.ok(cookies.has('__Secure-lodestone-session'))
  const consent = await fetched(authorization.href)
  t.equal(consent.status, 200)
  t.same(strayOf(consent), [])
  for (const path of ['/account/', '/account/sessions/', '/desk/', '/account/my-api-keys/', '/']) {
    const page = await fetched(BASE + path, { accept: 'text/html' })
    t.equal(page.status, 200, path)
    t.same(strayOf(page), [], path)
  }
  const account = await fetched(`${BASE}/account/`)
  const out = await fetched(`${BASE}/account/logout/`, {}, hidden(account))
  t.equal(out.status, 303)
  t.equal(linksOf(out)[0], `${BASE}/account/login/?out=1`)
  t.notOk(cookies.has('__Secure-lodestone-session'))
})
