import path from 'node:path'
import t, { type Test } from 'tap'
import type { App } from '../../src/app/app.ts'
import { cookieScope, setCookie } from '../../src/http/session-cookie.ts'
import {
  ask,
  basic,
  byHeader,
  byKey,
  byToken,
  HIDDEN,
  keepLog,
  LINKED,
  makePeople,
  OPEN,
  portalFiles,
  type Shown,
  serveLogged,
  textOf,
  WORD,
} from '../support/access.ts'
import { temporaryFolder } from '../support/folder.ts'
import { BASE, publishPortal } from '../support/portal.ts'

/** Who may see what: every endpoint by every principal. */
const portal = temporaryFolder(t, portalFiles())
await publishPortal(portal)
const { accounts, secrets } = await makePeople(portal)
t.teardown(() => accounts.close())
keepLog(t, path.join(portal, 'log.txt'))
const open = await serveLogged(t, portal)
const closed = await serveLogged(t, portal, { access: 'private' })

/** Who asks: what is shown, and what that one may see beside what is public. */
interface Person {
  readonly name: string
  readonly shown: Shown
  readonly sees: 'nothing' | 'hidden' | 'calls' | 'everything'
  readonly isKnown: boolean
  /** True for a credential that is no more, or never was. */
  readonly isRefused?: boolean
}

const cookie = (value: string): Shown => ({
  headers: { cookie: setCookie('session', value, { scope: cookieScope(BASE) }).replace(/;.*/, '') },
})
const known = { isKnown: true } as const
const refused = { sees: 'nothing', isKnown: false, isRefused: true } as const
const PEOPLE: readonly Person[] = [
  { name: 'anonymous', shown: {}, sees: 'nothing', isKnown: false },
  { name: 'without grant', shown: byKey(secrets.noneKey), sees: 'nothing', ...known },
  { name: 'with grant', shown: byKey(secrets.someKey), sees: 'hidden', ...known },
  { name: 'with *', shown: byKey(secrets.allKey), sees: 'everything', ...known },
  { name: 'with calls', shown: byKey(secrets.monitorKey), sees: 'calls', ...known },
  { name: 'token', shown: byToken(secrets.someToken), sees: 'hidden', ...known },
  { name: 'revoked key', shown: byKey(secrets.revokedKey), ...refused },
  { name: 'expired token', shown: byToken(secrets.expiredToken), ...refused },
]
/** Every other way in, tried at fewer addresses. */
const FORMS: readonly Person[] = [
  ...['Apikey', 'ApiKey', 'apikey', 'APIKEY'].map(
    (scheme): Person => ({ ...granted(scheme), shown: byHeader(`${scheme} ${secrets.someKey}`) }),
  ),
  { ...granted('Basic'), shown: byHeader(basic('some', secrets.someKey)) },
  { ...granted('Basic of anybody'), shown: byHeader(basic('', secrets.someKey)) },
  { ...granted('apikey='), shown: { query: `apikey=${secrets.someKey}` } },
  { ...granted('access_token='), shown: { query: `access_token=${secrets.someToken}` } },
  { ...granted('bearer'), shown: byHeader(`bearer ${secrets.someToken}`) },
  { ...granted('form'), shown: { form: `access_token=${secrets.someToken}` } },
  { ...granted('session'), shown: cookie(secrets.someSession) },
  {
    name: 'form of another',
    shown: { form: `access_token=${secrets.noneToken}` },
    sees: 'nothing',
    ...known,
  },
  { name: 'session of another', shown: cookie(secrets.noneSession), sees: 'nothing', ...known },
  { name: 'ended session', shown: cookie(secrets.endedSession), sees: 'nothing', isKnown: false },
  { name: 'empty apikey=', shown: { query: 'apikey=' }, sees: 'nothing', isKnown: false },
  { name: 'revoked apikey=', shown: { query: `apikey=${secrets.revokedKey}` }, ...refused },
  { name: 'revoked Basic', shown: byHeader(basic('some', secrets.revokedKey)), ...refused },
  { name: 'key of a removed user', shown: byKey(secrets.goneKey), ...refused },
  { name: 'revoked token', shown: byToken(secrets.revokedToken), ...refused },
  { name: 'expired access_token=', shown: { query: `access_token=${secrets.expiredToken}` }, ...refused },
  { name: 'expired form', shown: { form: `access_token=${secrets.expiredToken}` }, ...refused },
  { name: 'key as a token', shown: byToken(secrets.someKey), ...refused },
  { name: 'token as a key', shown: byKey(secrets.someToken), ...refused },
  { name: 'password as a key', shown: byHeader(basic('some', 'correct horse battery staple')), ...refused },
  { name: 'another scheme', shown: byHeader(`Digest ${secrets.someKey}`), ...refused },
  { name: 'nothing behind the scheme', shown: byHeader('Apikey'), ...refused },
]

function granted(name: string): Omit<Person, 'shown'> {
  return { name, sees: 'hidden', isKnown: true }
}

/** What is at an address. */
type Kind =
  /** Something of the restricted dataset alone. */
  | 'hidden'
  /** The calls, one by one. */
  | 'calls'
  /** Something that has the restricted dataset among others. */
  | 'list'
  /** Something that never has it. */
  | 'public'
  /** Nothing, for anybody. */
  | 'absent'

interface Address {
  readonly url: string
  readonly kind: Kind
  /** False where who may see the restricted dataset reads none of its words there. */
  readonly tells: boolean
  readonly headers?: Readonly<Record<string, string>>
}

const V2_FORMATS =
  'json csv xls rss ttl rdf data.json dcat dcat_ap_ch dcat_ap_de dcat_ap_se dcat_ap_sp dcat_ap_it dcat_ap_vl dcat_ap_benap'
const TABLES = 'json jsonl csv geojson shp kml gpx fgb parquet'
/** Whose words are not to be read in the bytes of the file. */
const BINARY = new Set(['shp', 'fgb', 'parquet'])

/** The addresses of a route, with all that it tells of the two datasets; none for a route that is in no row. */
function addressesOf(pattern: string, ids: Readonly<Record<string, string>>): readonly Address[] {
  const [, api = '', rest = ''] = /^(\/api\/(?:v2|explore\/v2\.[01]))(.*)$/.exec(pattern) ?? []
  if (api !== '') return ofApi(api, rest, ids)
  const fixed = FIXED[pattern]
  return fixed === undefined ? [] : fixed
}

const at = (url: string, kind: Kind, reports = true, accept?: string): Address => ({
  url,
  kind,
  tells: reports,
  ...(accept === undefined ? {} : { headers: { accept } }),
})
const silent = (url: string, kind: Kind) => at(url, kind, false)

/** Lists and queries of the catalog, which look for the restricted dataset in every way. */
const CATALOG_QUERIES: Readonly<Record<string, readonly Address[]>> = {
  '/datasets': [
    at('?limit=100', 'list'),
    at('?include_links=true&include_app_metas=true', 'list'),
    silent(`?where=search(%22zyzzytitle%22)&select=records_count`, 'list'),
    silent(`?where=datasetid%3D%22${HIDDEN}%22&select=records_count`, 'list'),
    silent('?select=count(*)%20as%20n', 'list'),
    silent('?refine=keyword:common&select=records_count', 'list'),
    silent('?order_by=explore.api_call_count&select=records_count,explore.api_call_count', 'list'),
  ],
  '/facets': [at('', 'list'), at('?facet=keyword&facet=theme&facet=publisher', 'list')],
  '/query': [at('', 'list'), silent('?qv1=zyzzytitle&select=records_count', 'list')],
  '/aggregates': [
    at('?select=keyword,count(*)&group_by=keyword', 'list'),
    silent('?select=count(*)', 'list'),
  ],
}
const RECORD_QUERIES: Readonly<Record<string, readonly Address[]>> = {
  '/records': [
    at('', 'hidden'),
    silent('?select=sum(amount)', 'hidden'),
    silent('?where=nonsense', 'hidden'),
  ],
  '/query': [at('', 'hidden'), silent('?qv1=nonsense', 'hidden')],
  '/aggregates': [
    at('?select=name,count(*)&group_by=name', 'hidden'),
    silent('?select=avg(amount)', 'hidden'),
  ],
}

function ofApi(api: string, rest: string, ids: Readonly<Record<string, string>>): readonly Address[] {
  const isFlat = api.endsWith('2.1')
  const [, source = '', tail = ''] = /^\/(catalog|monitoring|network|opendatasoft)(.*)$/.exec(rest) ?? []
  const gone = isFlat && isOlder(tail)
  if (source === '') {
    if (['', '/console'].includes(rest)) return [at(api + rest, 'public')]
    return ['/swagger.json', '/openapi.json'].includes(rest) ? [at(api + rest, 'list')] : []
  }
  const home = `${api}/${source}`
  if (tail.startsWith('/metadata_templates'))
    return [at(`${home}${tail.replace(':type', 'basic').replace(':template', 'default')}`, 'public')]
  if (tail === '' || tail === '/exports') return [at(home + tail, 'public')]
  if (!tail.includes(':dataset')) {
    if (gone) return [at(home + tail, 'absent')]
    const isNetworkOrMonitoring = source !== 'catalog'
    if (tail === '/exports/:format') {
      const formats = isNetworkOrMonitoring
        ? ['json']
        : V2_FORMATS.replace('xls', isFlat ? 'xlsx' : 'xls').split(' ')
      return formats.map(name => at(`${home}/exports/${name}`, isNetworkOrMonitoring ? 'public' : 'list'))
    }
    return (CATALOG_QUERIES[tail] ?? []).flatMap(({ url, kind, tells: reports }) =>
      isNetworkOrMonitoring && url.includes('explore')
        ? []
        : [at(home + tail + url, isNetworkOrMonitoring ? 'public' : kind, reports)],
    )
  }
  return [...datasets(source)].flatMap(([dataset, kind]) => ofDataset(home, tail, dataset, kind, isFlat, ids))
}

/** True for what only the older generations have. */
function isOlder(tail: string): boolean {
  return tail.endsWith('/aggregates') || tail.endsWith('/query')
}

/** The datasets of a source, and what they are to who asks. */
function datasets(source: string): readonly (readonly [string, Kind])[] {
  switch (source) {
    case 'monitoring':
      return [
        ['ods-api-monitoring', 'calls'],
        ['ods-datasets-monitoring', 'public'],
        [HIDDEN, 'absent'],
      ]
    case 'network':
    case 'opendatasoft':
      return [
        [`${HIDDEN}@portal.example`, 'absent'],
        [HIDDEN, 'absent'],
        [`${OPEN}@portal.example`, 'public'],
      ]
    default:
      return [
        [HIDDEN, 'hidden'],
        [OPEN, 'public'],
        ['nowhere', 'absent'],
      ]
  }
}

function ofDataset(
  home: string,
  tail: string,
  dataset: string,
  kind: Kind,
  isFlat: boolean,
  ids: Readonly<Record<string, string>>,
): readonly Address[] {
  const isHidden = kind === 'hidden'
  const place = home + tail.replace(':dataset', dataset)
  if (isOlder(tail) && isFlat) return [at(place, 'absent')]
  const end = tail.replace(/^.*:dataset/, '')
  if (end === '/records' || end === '/query' || end === '/aggregates') {
    if (isHidden) return (RECORD_QUERIES[end] ?? []).map(each => at(place + each.url, kind, each.tells))
    return [at(end !== '/aggregates' ? place : `${place}?select=count(*)`, kind, false)]
  }
  if (end === '/records/:record') {
    const record = ids[dataset.replace(/@.*/, '')]
    return record === undefined || home.endsWith('monitoring')
      ? [at(place.replace(':record', '0'.repeat(40)), kind === 'calls' ? 'calls' : 'absent', false)]
      : [at(place.replace(':record', record), kind)]
  }
  if (end === '/attachments/:attachment')
    return [
      at(place.replace(':attachment', isHidden ? 'zyzzyfile_txt' : 'note_txt'), kind),
      ...(kind === 'public' ? attachmentTricks(place.replace('/:attachment', '')) : []),
    ]
  if (end === '/exports/:format')
    return [...TABLES.split(' '), isFlat ? 'xlsx' : 'xls'].flatMap(name => {
      const hasGeo = home.endsWith('catalog') || !['geojson', 'shp', 'kml', 'gpx', 'fgb'].includes(name)
      return hasGeo ? [at(place.replace(':format', name), kind, isHidden && !BINARY.has(name))] : []
    })
  if (end === '/exports' || end === '/console') return [at(place, kind, false)]
  if (end === '/attachments' && !home.endsWith('catalog')) return [at(place, kind, false)]
  return [at(place, kind, isHidden)]
}

function attachmentTricks(place: string): readonly Address[] {
  const files = [
    `../../${HIDDEN}/zyzzyfile.txt`,
    `../${HIDDEN}/zyzzyfile_txt`,
    '../dataset.yaml',
    'zyzzyfile_txt',
  ]
  const spellings = [
    (file: string) => file,
    encodeURIComponent,
    (file: string) => file.replaceAll('.', '%2e').replaceAll('/', '%2f'),
    (file: string) => file.replaceAll('/', '%5c'),
    (file: string) => file.replaceAll('/', '%252f'),
    (file: string) => `${encodeURIComponent(file)}%00`,
  ]
  return files.flatMap(file => spellings.map(spell => at(`${place}/${spell(file)}`, 'absent')))
}

const encoded = encodeURIComponent
const PAGE = 'text/html'
const TABS = ['information', 'table', 'analyze', 'export', 'api', 'linked-data'] as const
const FIXED: Readonly<Record<string, readonly Address[]>> = {
  '/': [silent('/', 'list')],
  '/assets/:file': [at('/assets/nothing.ABCDEFGH.css', 'absent')],
  '/explore': [at('/explore/', 'list'), silent('/explore/?q=zyzzytitle', 'list')],
  '/explore/dataset/:dataset': [
    at(`/explore/dataset/${HIDDEN}/`, 'hidden'),
    at(`/explore/dataset/${HIDDEN}/download/?format=csv&q=zyzzy*`, 'hidden', false),
    at(`/explore/dataset/${HIDDEN}/download/`, 'hidden'),
    silent(`/explore/dataset/${OPEN}/download/?format=json`, 'public'),
    silent(`/explore/dataset/${OPEN}/`, 'public'),
    at('/explore/dataset/nowhere/', 'absent'),
  ],
  '/developers': [silent('/developers/', 'public')],
  '/sparql': [silent('/sparql/', 'list'), silent(`/sparql/?source=${HIDDEN}`, 'hidden')],
  '/odsql': [silent('/odsql/', 'list'), silent(`/odsql/?dataset=${OPEN}`, 'list')],
  '/robots.txt': [silent('/robots.txt', 'public')],
  '/sitemap.xml': [silent('/sitemap.xml', 'public')],
  '/sitemap/:part': [at('/sitemap/9.xml', 'absent')],
  '/opensearch.xml': [silent('/opensearch.xml', 'public')],
  '/explore/suggestions': [silent('/explore/suggestions?q=zyzzy', 'list')],
  '/explore/dataset/:dataset/complete': [
    silent(`/explore/dataset/${HIDDEN}/complete`, 'hidden'),
    silent(`/explore/dataset/${HIDDEN}/complete?field=name&prefix=`, 'hidden'),
    silent(`/explore/dataset/${OPEN}/complete?field=name&prefix=z`, 'public'),
  ],
  '/explore/dataset/:dataset/check': [
    silent(`/explore/dataset/${HIDDEN}/check?where=nam%3D1`, 'hidden'),
    silent(`/explore/dataset/${OPEN}/check?where=nam%3D1`, 'public'),
  ],
  '/explore/dataset/:dataset/map/shapes': [
    at(`/explore/dataset/${HIDDEN}/map/shapes?geo=place&zoom=1`, 'absent'),
    at(`/explore/dataset/${OPEN}/map/shapes?geo=place&zoom=1`, 'absent'),
  ],
  '/explore/dataset/:dataset/mapping': [
    at(`/explore/dataset/${HIDDEN}/mapping/`, 'absent'),
    at(`/explore/dataset/${OPEN}/mapping/`, 'absent'),
  ],
  '/explore/dataset/:dataset/mapping/state': [
    at(`/explore/dataset/${HIDDEN}/mapping/state`, 'absent'),
    at(`/explore/dataset/${OPEN}/mapping/state`, 'absent'),
  ],
  '/explore/dataset/:dataset/:tab': TABS.flatMap(tab => [
    at(`/explore/dataset/${HIDDEN}/${tab}/`, 'hidden'),
    silent(`/explore/dataset/${OPEN}/${tab}/`, 'public'),
  ]),
  ...Object.fromEntries(
    ['', '/feed', '/timemap', '/ldes'].map(tail => [
      `/api/versions/:dataset${tail}`,
      [
        silent(`/api/versions/${HIDDEN}${tail}`, 'hidden'),
        silent(`/api/versions/${OPEN}${tail}`, 'public'),
        at(`/api/versions/nowhere${tail}`, 'absent'),
      ],
    ]),
  ),
  '/api/versions/:dataset/changes': [
    at(`/api/versions/${HIDDEN}/changes?from=1&to=2`, 'absent'),
    at(`/api/versions/${OPEN}/changes?from=1&to=2`, 'absent'),
  ],
  '/api/versions/:dataset/ldes/:part/:page': [
    at(`/api/versions/${HIDDEN}/ldes/nothing/1`, 'absent'),
    at(`/api/versions/${OPEN}/ldes/nothing/1`, 'absent'),
  ],
  '/healthz': [at('/healthz', 'public')],
  '/readyz': [at('/readyz', 'public')],
  '/api/sparql': [
    ...['text/html', 'text/turtle', 'application/ld+json', 'application/rdf+xml'].map(accept =>
      at('/api/sparql', 'list', accept === PAGE, accept),
    ),
    at(`/api/sparql?query=${encoded('SELECT * { ?s ?p ?o }')}`, 'list'),
    at(`/api/sparql?query=${encoded('SELECT * { ?s ?p ?o }')}`, 'list', true, PAGE),
    at('/api/sparql?default', 'list', true, 'text/turtle'),
    at('/api/sparql?default', 'list', true, 'application/n-quads'),
  ],
  '/api/sparql/:dataset': [
    ...['text/html', 'text/turtle'].flatMap(accept => [
      at(`/api/sparql/${HIDDEN}`, 'hidden', true, accept),
      at(`/api/sparql/${OPEN}`, 'public', false, accept),
    ]),
    at(`/api/sparql/${HIDDEN}?query=${encoded('SELECT * { ?s ?p ?o }')}`, 'hidden'),
    at(`/api/sparql/${HIDDEN}?default`, 'hidden', true, 'text/turtle'),
    at(`/api/sparql/${OPEN}?query=${encoded('SELECT * { ?s ?p ?o }')}`, 'public'),
    at('/api/sparql/nowhere?query=ASK%7B%7D', 'absent'),
  ],
  '/api/sparql/:dataset/data': [
    at(`/api/sparql/${HIDDEN}/data?default`, 'hidden'),
    at(`/api/sparql/${OPEN}/data?default`, 'public'),
    at(`/api/sparql/${OPEN}/data?graph=${encoded(`${BASE}/ld/resources/${HIDDEN}`)}`, 'absent'),
  ],
  '/api/odata': [
    at('/api/odata', 'list', false),
    ...['application/json', 'application/atomsvc+xml'].map(accept =>
      at('/api/odata/', 'list', false, accept),
    ),
  ],
  '/api/odata/*': [
    at('/api/odata/$metadata', 'list'),
    at('/api/odata/$metadata?$format=json', 'list'),
    { ...at('/api/odata/$metadata', 'list'), headers: { maxdataserviceversion: '3.0' } },
    at(`/api/odata/${HIDDEN}`, 'hidden'),
    {
      ...at(`/api/odata/${HIDDEN}`, 'hidden'),
      headers: { maxdataserviceversion: '3.0', accept: 'application/atom+xml' },
    },
    silent(`/api/odata/${HIDDEN}/$count`, 'hidden'),
    at(`/api/odata/${HIDDEN}?$apply=groupby((name))`, 'hidden'),
    silent(`/api/odata/${HIDDEN}?$filter=nonsense`, 'hidden'),
    at(`/api/odata/${OPEN}`, 'public'),
    silent(`/api/odata/${OPEN}/$count`, 'public'),
    at('/api/odata/nowhere', 'absent'),
    at('/api/odata/xki', 'absent'),
    at('/api/odata/$batch', 'absent'),
    at(`/api/odata/${OPEN}/../${HIDDEN}`, 'hidden'),
  ],
  '/api/tpf': ['text/html', 'text/turtle', 'application/trig'].map(accept =>
    at('/api/tpf', 'list', true, accept),
  ),
  '/api/tpf/:dataset': [
    ...['text/html', 'application/trig', 'application/n-quads'].flatMap(accept => [
      at(`/api/tpf/${HIDDEN}`, 'hidden', true, accept),
      at(`/api/tpf/${OPEN}`, 'public', false, accept),
      at(`/api/tpf/${OPEN}?subject=${encoded(LINKED)}`, 'public', false, accept),
    ]),
    at('/api/tpf/nowhere', 'absent'),
  ],
  '/api/qpf': ['application/trig', 'application/n-quads'].map(accept => at('/api/qpf', 'list', true, accept)),
  '/api/qpf/:dataset': [
    ...['application/trig', 'application/ld+json'].flatMap(accept => [
      at(`/api/qpf/${HIDDEN}`, 'hidden', true, accept),
      at(`/api/qpf/${OPEN}`, 'public', false, accept),
    ]),
    at('/api/qpf/nowhere', 'absent'),
  ],
  '/.well-known/void': [
    at('/.well-known/void', 'list'),
    at('/.well-known/void', 'list', true, 'application/ld+json'),
  ],
  '/api/shapes/:dataset': [
    at(`/api/shapes/${HIDDEN}`, 'hidden'),
    at(`/api/shapes/${OPEN}`, 'public'),
    at('/api/shapes/nowhere', 'absent'),
  ],
  '/api/void': [at('/api/void', 'list')],
  '/api/void/:dataset': [
    at(`/api/void/${HIDDEN}`, 'hidden'),
    at(`/api/void/${OPEN}`, 'public'),
    at('/api/void/nowhere', 'absent'),
  ],
  '/api/void/:dataset/queries': [
    at(`/api/void/${HIDDEN}/queries`, 'hidden'),
    at(`/api/void/${OPEN}/queries`, 'public'),
  ],
  '/api/void/:dataset/queries/:name': [
    at(`/api/void/${HIDDEN}/queries/zyzzyquery`, 'hidden'),
    at(`/api/void/${OPEN}/queries/things`, 'public'),
    at(`/api/void/${OPEN}/queries/${encoded(`../${HIDDEN}/zyzzyquery`)}`, 'absent'),
  ],
  '/.well-known/genid/:dataset': [at(`/.well-known/genid/${HIDDEN}`, 'absent')],
  '/.well-known/genid/:dataset/*': [at(`/.well-known/genid/${OPEN}/x`, 'absent')],
  '/ld/nodes/:dataset': [at(`/ld/nodes/${OPEN}`, 'absent')],
  '/ld/nodes/:dataset/*': [at(`/ld/nodes/${OPEN}/x`, 'absent')],
  '/ld/resources/:dataset': [
    silent(`/ld/resources/${HIDDEN}`, 'hidden'),
    silent(`/ld/resources/${OPEN}`, 'public'),
  ],
  '/ld/resources/:dataset/*': [
    silent(`/ld/resources/${HIDDEN}/thing/1`, 'hidden'),
    silent(`/ld/resources/${HIDDEN}/thing/none`, 'hidden'),
    silent(`/ld/resources/${OPEN}/thing/1`, 'list'),
  ],
  '/ld/data/:dataset': ['text/html', 'text/turtle', 'application/ld+json'].flatMap(accept => [
    at(`/ld/data/${HIDDEN}`, 'hidden', true, accept),
    at(`/ld/data/${OPEN}`, 'public', false, accept),
  ]),
  '/ld/data/:dataset/*': [
    ...['text/html', 'text/turtle', 'application/rdf+xml', 'application/n-triples'].flatMap(accept => [
      at(`/ld/data/${HIDDEN}/thing/1`, 'hidden', true, accept),
      // The name of what it links to is there for who may see that.
      at(`/ld/data/${OPEN}/thing/1`, 'list', true, accept),
    ]),
    at(`/ld/data/${OPEN}/thing/1.ttl`, 'list'),
    // What links to it from there, too.
    at(`/ld/data/${OPEN}/thing/1?inverse=1`, 'list', true, PAGE),
  ],
  '/ld/ontologies/:dataset': [
    silent(`/ld/ontologies/${HIDDEN}`, 'hidden'),
    silent(`/ld/ontologies/${OPEN}`, 'public'),
  ],
  '/ld/ontologies/:dataset/*': [
    silent(`/ld/ontologies/${HIDDEN}/zyzzyfield`, 'hidden'),
    silent(`/ld/ontologies/${OPEN}/name`, 'public'),
  ],
  '/ld/vocabulary/:dataset': [
    at(`/ld/vocabulary/${HIDDEN}`, 'hidden', true, PAGE),
    at(`/ld/vocabulary/${OPEN}`, 'public', false, PAGE),
  ],
  '/ld/vocabulary/:dataset/*': [
    at(`/ld/vocabulary/${HIDDEN}/zyzzyfield`, 'hidden'),
    at(`/ld/vocabulary/${OPEN}/name`, 'public'),
  ],
}

/** Routes with pages and credentials of their own, which have tests of their own. */
const APART =
  /^\/(?:account|oauth2|desk|api\/management|\.well-known\/(?:oauth-authorization-server|openid-configuration))(?:\/|$)/

/** The patterns of all routes that answer GET. */
function routesOf({ http }: App): readonly string[] {
  const parts: string[] = []
  return http
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap(line => {
      const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (\S+)(?: \((.*)\))?/.exec(line) ?? []
      if (part === '') return []
      parts.length = indent.length / 4
      parts.push(part.replace(/^\*/, '/*').replace(/^\/\//, '/'))
      return methods.includes('GET') ? [parts.join('')] : []
    })
}

/** The status that somebody is to be given. */
function statusFor({ kind, url }: Address, person: Person, isPrivate: boolean): readonly number[] {
  const isHealth = url === '/healthz' || url === '/readyz'
  // Forms are for what has a body to read: queries, where the endpoint takes them.
  if (person.shown.form !== undefined && isHealth) return [405]
  if (person.isRefused) return [401]
  if (isPrivate && !person.isKnown && !isHealth && !url.startsWith('/assets/')) return [401]
  const isVisible =
    person.sees === 'everything' ||
    kind === 'public' ||
    kind === 'list' ||
    (kind === 'hidden' && person.sees === 'hidden') ||
    (kind === 'calls' && person.sees === 'calls')
  if (kind === 'absent')
    return [
      404,
      410,
      400,
      501,
      ...(person.isKnown ? [403] : [401]),
      ...(person.shown.form === undefined ? [] : [401, 405]),
    ]
  if (!isVisible) return [person.isKnown ? 403 : 401]
  return [200, 303, ...(/nonsense/.test(url) ? [400] : []), ...(/none$|0{40}$/.test(url) ? [404] : [])]
}

function isShown({ kind }: Address, { sees }: Person): boolean {
  return (sees === 'hidden' || sees === 'everything') && (kind === 'hidden' || kind === 'list')
}

/** What is wrong with an answer; null for nothing. */
async function problemOf(
  app: App,
  address: Address,
  person: Person,
  isPrivate: boolean,
): Promise<string | null> {
  const { url, headers } = address
  const answer = await ask(app, url, person.shown, headers === undefined ? {} : { headers })
  const statuses = statusFor(address, person, isPrivate)
  const what = `${person.name} ${url} ${headers?.accept ?? ''}: ${answer.statusCode}`
  if (!statuses.includes(answer.statusCode))
    return `${what} instead of ${statuses}: ${answer.body.slice(0, 200)}`
  const described = withoutEcho(textOf(answer), url)
  // Calls tell what others asked for.
  const has = described.includes(WORD) && address.kind !== 'calls'
  const isGood = answer.statusCode === 200
  const mayHave = isShown(address, person) && !person.isRefused
  if (has && !mayHave) return `${what} tells ${around(described, WORD)}`
  if (!has && mayHave && isGood && address.tells) return `${what} does not tell ${WORD}`
  if (!mayHave && described.includes(HIDDEN) && address.kind !== 'calls')
    return `${what} names ${around(described, HIDDEN)}`
  const caching = String(answer.headers['cache-control'] ?? '')
  const isOwn = person.isKnown && !person.isRefused && answer.statusCode !== 405
  if (isOwn && (!caching.includes('private') || caching.includes('public')))
    return `${what} is for ${caching}`
  if (answer.statusCode === 401 && answer.headers['www-authenticate'] === undefined)
    return `${what} asks for nothing`
  // Fragments lead on with what led to them, for clients that follow their controls.
  const isCarried = /^\/api\/[tq]pf/.test(url) && person.shown.query !== undefined
  for (const [name, secret] of isCarried ? [] : Object.entries(secrets))
    if (described.includes(secret.toLowerCase()))
      return `${what} tells ${name}: ${around(described, secret.toLowerCase())}`
  return null
}

/** A text without the words that the caller sent himself, and without what is public of the restricted dataset: links. */
function withoutEcho(text: string, url: string): string {
  const sent = decodeURIComponent(url.replace(/%00$|%25/g, '')).toLowerCase()
  const words = [HIDDEN, ...(sent.match(new RegExp(`${WORD}[\\w.]*`, 'g')) ?? [])].filter(word =>
    sent.includes(word),
  )
  const links = [`/ld/resources/${HIDDEN}`, `/ld/ontologies/${HIDDEN}/zfield`, `portal:${HIDDEN}`]
  return [...links, ...links.map(link => encodeURIComponent(link).toLowerCase()), ...words].reduce(
    (described, each) => described.replaceAll(each, ''),
    text,
  )
}

function around(text: string, word: string): string {
  const at = text.indexOf(word)
  return text.slice(Math.max(0, at - 150), at + 100).replaceAll('\n', ' ')
}

/** Ids of one record of each dataset. */
async function recordIds(): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {}
  for (const id of [OPEN, HIDDEN]) {
    const { records } = (
      await ask(open, `/api/v2/catalog/datasets/${id}/records?limit=1`, byKey(secrets.allKey))
    ).json()
    found[id] = records[0].record.id
  }
  return found
}

const ids = await recordIds()
const ADDRESSES = routesOf(open).flatMap(pattern => addressesOf(pattern, ids))

t.test('every GET route has an access case', async t => {
  const routes = routesOf(open).filter(pattern => !APART.test(pattern))
  t.ok(routes.length > 100, `${routes.length} routes`)
  const forgotten = routes.filter(pattern => addressesOf(pattern, ids).length === 0)
  t.same(forgotten, [])
})

for (const [name, app, isPrivate] of [
  ['public', open, false],
  ['private', closed, true],
] as const)
  for (const person of PEOPLE)
    t.test(`${person.name} on a ${name} portal`, t => everywhere(t, app, person, isPrivate, ADDRESSES))

/** Every tenth address or so, and those that tell most. */
const SOME = ADDRESSES.filter(
  ({ url }, index) =>
    index % 12 === 0 ||
    /v2\.1\/catalog\/datasets\?limit|\$metadata|well-known\/void$|^\/api\/(?:v2|odata|explore\/v2\.1)$/.test(
      url,
    ),
)

for (const person of FORMS)
  t.test(`credentials as ${person.name}`, async t => {
    // The SPARQL endpoints take forms of their own, which have a query; pages for people, and what is no route, take none.
    const takesForm = (url: string) =>
      /^\/(?:api|ld|healthz)/.test(url) && !/^\/api\/sparql(?!.*query=)|\/\.\.\//.test(url)
    const some = SOME.filter(({ url }) => person.shown.form === undefined || takesForm(url))
    await everywhere(t, open, person, false, some)
    await everywhere(t, closed, person, true, some)
  })

async function everywhere(
  t: Test,
  app: App,
  person: Person,
  isPrivate: boolean,
  addresses: readonly Address[],
): Promise<void> {
  const problems: string[] = []
  for (const address of addresses) {
    const problem = await problemOf(app, address, person, isPrivate)
    if (problem !== null) problems.push(problem)
  }
  t.same(problems, [], `${addresses.length} addresses`)
}
