import t from 'tap'
import { negotiateFormat } from '../src/api/odata/negotiate.ts'
import { type RequestHeaders, readPreferences, readVersions } from '../src/api/odata/protocol-version.ts'
import { Fault } from '../src/errors/errors.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** The OData service over HTTP: versions, formats, options, resources, pages, conditional requests, faults. */
const BASE = 'http://portal.example'
const ROOT = '/api/odata'

const TREES = [
  { name: 'Oak', height: 12.5, rings: 300, tags: ['old', 'big'], place: { lat: 45.5, lon: 7.25 } },
  { name: 'Elm', height: 7, rings: null, tags: null, place: null },
  { name: "O'Ash", height: null, rings: 9, tags: ['old'], place: { lat: -1, lon: 2 } },
  { name: 'Yew', height: 3, rings: 2000, tags: ['slow'], place: null },
  { name: 'Fir', height: 40, rings: 50, tags: [], place: null },
]

const YAML = `
source: { path: trees.json }
fields:
  - { name: name, type: text }
  - { name: height, type: double }
  - { name: rings, type: int }
  - { name: tags, type: text, annotations: { multivalued: [] } }
  - { name: place, type: geo_point_2d }
metas: { default: { title: Trees } }
`

/** Moments whose fraction of a second a double would round up. */
const LATE = [
  { name: 'seven digits', at: '2023-12-31T23:59:59.9999999Z', place: { lat: -16.5, lon: 179.5 } },
  { name: 'nine digits', at: '2023-12-31T23:59:59.123999999Z', place: { lat: -16.5, lon: -179.5 } },
  { name: 'far away', at: '9999-12-31T23:59:59.999999Z' },
  { name: 'long ago', at: '0099-12-31T07:30:59.999999Z' },
]

const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Test\n',
  data: {
    'old-trees': { 'trees.json': JSON.stringify(TREES), 'dataset.yaml': YAML },
    long: {
      'a.json':
        '[{"n":9007199254740993,"of":"a"},{"n":-9223372036854775808,"of":"a"},{"n":5,"of":"b"},{"n":9007199254740992,"of":"b"}]',
      'dataset.yaml': 'source: { path: a.json }\n',
    },
    late: { 'a.json': JSON.stringify(LATE), 'dataset.yaml': 'source: { path: a.json }\n' },
    wide: {
      'a.json': '[{"n":9223372036854775807,"of":"a"},{"n":9223372036854775806,"of":"a"},{"n":5,"of":null}]',
      'dataset.yaml': 'source: { path: a.json }\n',
    },
    '2020-rain': {
      'a.json': '[{"2019":1,"_x":2,"x_x":3,"place":{"lat":1,"lon":2}}]',
      'dataset.yaml': `source: { path: a.json }
fields: [{ name: '2019', type: int }, { name: _x, type: int }, { name: x_x, type: int }]`,
    },
    rain_now: { 'a.json': '[{"rain_now":1,"null":3,"not":4,"true":"yes"}]' },
    'dry-land': { 'a.json': '[{"a":1}]' },
    dry_land: { 'a.json': '[{"a":2}]', 'dataset.yaml': 'source: { path: a.json }\nvisibility: restricted\n' },
    secret: { 'a.json': '[{"a":1}]', 'dataset.yaml': 'source: { path: a.json }\nvisibility: restricted\n' },
  },
})
const { app } = await servePortal(t, { portal, base: BASE, now: '2026-01-02T03:04:05.670Z' })

type Headers = Readonly<Record<string, string>>
const V3 = { maxdataserviceversion: '3.0' }

const get = (url: string, headers: Headers = {}, method: 'GET' | 'HEAD' | 'POST' | 'OPTIONS' = 'GET') =>
  app.http.inject({ url: ROOT + url, headers: { ...headers }, method })

const json = async (url: string, headers: Headers = {}) => (await get(url, headers)).json()

const YEW = (await json("/old-trees?$filter=name eq 'Yew'&$select=name")).value[0].recordid as string
const OAK = (await json('/old-trees?$top=1')).value[0].recordid as string

/** Names that every plain object has. */
const NAMES_OF_OBJECTS = ['__proto__', 'constructor', 'valueOf', 'hasOwnProperty']

t.test('versions and formats are agreed on', async t => {
  const rows: readonly (readonly [
    headers: RequestHeaders,
    format: string | undefined,
    answer: string | number,
  ])[] = [
    [{}, undefined, '4.0 application/json;odata.metadata=minimal'],
    [{ accept: '*/*' }, undefined, '4.0 application/json;odata.metadata=minimal'],
    [{ accept: 'text/html' }, undefined, 406],
    [{ accept: 'text/html, */*;q=0.1' }, undefined, '4.0 application/json;odata.metadata=minimal'],
    [{ accept: 'application/json;q=0, */*' }, undefined, '4.0 application/atom+xml;type=feed'],
    [
      { accept: 'application/json;q=0.5, application/atom+xml' },
      undefined,
      '4.0 application/atom+xml;type=feed',
    ],
    [
      { accept: 'application/atom+xml, application/json' },
      undefined,
      '4.0 application/json;odata.metadata=minimal',
    ],
    [
      { accept: 'application/json;odata.metadata=full' },
      undefined,
      '4.0 application/json;odata.metadata=full',
    ],
    [
      {
        accept: 'application/json;odata.metadata=minimal;IEEE754Compatible=true',
        'odata-maxversion': '4.0',
      },
      undefined,
      '4.0 application/json;odata.metadata=minimal;IEEE754Compatible=true',
    ],
    [{}, 'application/json;metadata=none', '4.0 application/json;odata.metadata=minimal'],
    [
      {},
      'application/json;streaming=true;charset=UTF-8',
      '4.0 application/json;odata.metadata=minimal;odata.streaming=true;charset=utf-8',
    ],
    [{}, 'application/json;foo=bar', 406],
    [{}, 'application/json;odata.metadata=all', 406],
    [{}, 'application/json;charset=latin1', 406],
    [{}, 'JSON', '4.0 application/json;odata.metadata=minimal'],
    [{}, 'atom', '4.0 application/atom+xml;type=feed'],
    [{}, 'application/atom+xml', '4.0 application/atom+xml;type=feed'],
    [{}, 'application/atom%2Bxml;type=entry', 406],
    [{}, 'xml', '4.0 application/xml'],
    [{}, 'foo', 415],
    ...NAMES_OF_OBJECTS.map(name => [{}, name, 415] as const),
    ...NAMES_OF_OBJECTS.map(name => [{}, `application/json;odata.metadata=${name}`, 406] as const),
    ...NAMES_OF_OBJECTS.map(name => [{ accept: `application/json;odata=${name}` }, undefined, 406] as const),
    [{}, 'text/html', 415],
    [{}, '', 400],
    [{}, 'verbosejson', '3.0 application/json;odata=verbose'],
    [{}, 'json;odata.metadata=full', '4.0 application/json;odata.metadata=full'],
    [{}, 'JSON ; odata=nometadata', '3.0 application/json;odata=minimalmetadata'],
    [{}, 'json;odata=verbose', '3.0 application/json;odata=verbose'],
    [{}, 'json;foo=bar', 406],
    [{}, 'atom;type=entry', 406],
    [{}, 'foo;odata.metadata=full', 415],
    [{ accept: 'application/json;odata=fullmetadata' }, undefined, '3.0 application/json;odata=fullmetadata'],
    [{ accept: 'application/json;odata=fullmetadata', 'odata-maxversion': '4.0' }, undefined, 406],
    [V3, undefined, '3.0 application/json;odata=minimalmetadata'],
    [V3, 'application/json;odata=light', '3.0 application/json;odata=minimalmetadata'],
    [V3, 'application/json;odata=nometadata', '3.0 application/json;odata=minimalmetadata'],
    [V3, 'application/json;odata.metadata=full', 406],
    [{ ...V3, 'odata-maxversion': '4.0' }, undefined, '4.0 application/json;odata.metadata=minimal'],
    [{ dataserviceversion: '3.0;NetFx' }, undefined, '3.0 application/json;odata=minimalmetadata'],
    [{ dataserviceversion: '2.0' }, undefined, '2.0 application/atom+xml;type=feed'],
    [{ maxdataserviceversion: '2.0', accept: 'application/json' }, undefined, '2.0 application/json'],
    [{ maxdataserviceversion: '2.0' }, 'json', '2.0 application/json'],
    [{ maxdataserviceversion: '2.0' }, 'application/json;odata=minimalmetadata', 406],
    [{ 'odata-maxversion': '3.0' }, undefined, '3.0 application/json;odata=minimalmetadata'],
    [{ 'odata-version': '4.01' }, undefined, '4.0 application/json;odata.metadata=minimal'],
    [{ maxdataserviceversion: '2.0' }, undefined, '2.0 application/atom+xml;type=feed'],
    [
      {
        maxdataserviceversion: '2.0',
        accept: 'application/atomsvc+xml;q=0.8, application/json;odata=verbose;q=0.5, */*;q=0.1',
      },
      undefined,
      '2.0 application/json;odata=verbose',
    ],
    [{ maxdataserviceversion: '1.0' }, undefined, 400],
    [{ 'odata-maxversion': '2.0' }, undefined, 400],
    [{ 'odata-maxversion': 'four' }, undefined, 400],
    [{ 'odata-version': '5.0' }, undefined, 400],
    [{ mindataserviceversion: '4.0' }, undefined, 400],
  ]
  for (const [headers, format, answer] of rows)
    t.equal(
      outcome(() => {
        const wish = readVersions(headers)
        const { version, contentType } = negotiateFormat(wish, headers.accept, format, 'feed')
        return `${version} ${contentType}`
      }),
      answer,
      `${JSON.stringify(headers)} ${format}`,
    )
})

t.test('formats and ranges with thousands of parameters take no time', async t => {
  const parameters = Array.from({ length: 20_000 }, (_, each) => `;${each.toString(36)}`).join('')
  const begun = process.cpuUsage()
  const format = () => negotiateFormat(readVersions({}), undefined, `json${parameters}`, 'feed')
  t.throws(format, /is no format of this service/)
  for (let each = 0; each < 20; each++)
    negotiateFormat(readVersions({}), `*/*,text/html${parameters}`, undefined, 'feed')
  const { user, system } = process.cpuUsage(begun)
  t.ok(user + system < 1_500_000, `${user + system} µs`)
})

t.test('documents have media types of their own', async t => {
  const power =
    'application/json;odata.metadata=minimal;q=1.0,application/json;odata=minimalmetadata;q=0.9,application/xml;q=0.7'
  const rows: readonly [url: string, headers: Headers, status: number, type: string][] = [
    ['', {}, 200, 'application/json;odata.metadata=minimal'],
    ['/', { accept: 'application/atom+xml' }, 200, 'application/xml'],
    ['/?$format=atom', {}, 200, 'application/atomsvc+xml'],
    ['/$metadata', {}, 200, 'application/xml'],
    ['/$metadata/', { accept: power }, 200, 'application/xml'],
    ['/$metadata', { accept: 'application/json;q=0.9, */*;q=0.1' }, 200, 'application/xml'],
    ['/$metadata', { accept: 'application/json' }, 200, 'application/json'],
    ['/$metadata', { ...V3, accept: 'application/json' }, 200, 'application/xml'],
    ['/$metadata?$format=json', {}, 200, 'application/json'],
    ['/$metadata?$format=json', V3, 406, 'application/json;odata=minimalmetadata'],
    [`/old-trees('${OAK}')?$format=atom`, {}, 200, 'application/atom+xml;type=entry'],
    [`/old-trees('${OAK}')/name?$format=atom`, {}, 200, 'application/xml'],
    [`/old-trees('${OAK}')/name/$value`, { accept: 'application/json' }, 200, 'text/plain;charset=utf-8'],
    ['/old-trees/$count', { accept: 'x/y' }, 200, 'text/plain;charset=utf-8'],
    ['/nothing?$format=xml', {}, 404, 'application/xml'],
    ['/nothing', { accept: 'application/atom+xml' }, 404, 'application/xml'],
    ['/nothing?$format=foo', {}, 404, 'application/json;odata.metadata=minimal'],
  ]
  for (const [url, headers, status, type] of rows) {
    const answer = await get(url, headers)
    t.equal(answer.statusCode, status, url)
    t.equal(answer.headers['content-type'], type, `${url} ${JSON.stringify(headers)}`)
    const { 'odata-version': version, dataserviceversion: old } = answer.headers
    t.same([version, old], 'maxdataserviceversion' in headers ? [undefined, '3.0;'] : ['4.0', undefined], url)
  }
})

t.test('paths and options name what there is', async t => {
  const oak = `/old-trees('${OAK}')`
  const yew = `/old-trees('${YEW}')`
  const rows: readonly [url: string, status: number, body?: string | RegExp][] = [
    ['//', 200],
    ['/old-trees//$count', 200, '5'],
    ['/old_trees/$count', 200, '5'],
    ['/old-trees/$count?$filter=height gt 5', 200, '3'],
    ['/old-trees/$count?$top=1', 400],
    ['/old-trees/$count?$format=json', 400],
    ['/old-trees/$count/x', 404, /segment 'x'/],
    ['/Old-trees', 404, /segment 'Old-trees'/],
    ['/secret', 401, /secret is not public/],
    ['/old-trees/$filter(height gt 5)/$filter(rings gt 60)/$count', 200, '1'],
    // What the path selects is what $apply transforms; $filter stands behind it.
    ['/old-trees/$filter(height gt 5)?$apply=aggregate($count as n)', 200, /"n":3\}/],
    [
      '/old-trees/$filter(height gt 5)?$apply=aggregate($count as height)&$filter=height lt 4',
      200,
      /"height":3\}/,
    ],
    [
      '/old-trees/$filter(n gt 5)?$compute=height as n',
      400,
      /\$filter, position 1: old-trees has no property n/,
    ],
    ['/old-trees/$each', 501],
    [`${oak}/tags?$filter=$this eq 'old'`, 501],
    [`${oak}/tags?$top=1`, 501],
    [`${oak}/tags/$count?$filter=true`, 501],
    [`${oak}/name?$top=1`, 400],
    [`${oak}/place?$expand=*`, 200, /"latitude":45.5/],
    [`${oak}/place?$expand=nope`, 400],
    [`${oak}/place?$compute=latitude add 1 as x`, 501],
    [`/$entity/example.portal.old_trees.old_trees?$id=old-trees('${OAK}')`, 200, /"name":"Oak"/],
    [`/$entity/example.portal.other?$id=old-trees('${OAK}')`, 404, /segment 'example.portal.other'/],
    ['/old-trees?$filter=example.portal.old_trees.old_trees/height eq 7', 200, /"name":"Elm"/],
    ['/old-trees?$filter=name/@Core.Description eq null', 501],
    ['/old-trees?$select=@Core.Description', 501],
    ['/old-trees?$filter=$it eq $it', 501],
    ['/old-trees?$filter=place eq place', 501],
    ['/old-trees?$filter=place eq 5', 400],
    ['/old-trees?$filter=length(tags) gt 1', 501],
    ["/old-trees?$filter=startswith(tags,['old'])", 501],
    ['/old-trees?$filter=length(height) gt 1', 400],
    ["/old-trees?$filter=matchesPattern(name,'(O)%5C1')", 501],
    ["/old-trees?$filter=matchesPattern(name,'(?=O)')", 501],
    ["/old-trees?$filter=matchesPattern(name,'(O')", 400],
    ["/old-trees?$filter=substring(name,0,-1) eq 'a'", 400, /position 18: A length is not negative/],
    ["/old-trees?$filter=substring(name,1,1 sub 3) eq 'a'", 400],
    ["/old-trees?$filter=substring(name,0,@n) eq 'a'&@n=-2", 400],
    ["/old-trees?$filter=substring(name,-2,2) eq 'ak'", 200, /"name":"Oak"/],
    ['/old-trees?$apply=groupby((rollup($all,name)))', 501],
    ['/old-trees?$apply=expand(tags)', 501],
    ['/$vocabularies', 404],
    ['/$vocabularies/Org.OData.Core.V1.txt', 404],
    ['/$vocabularies/Org.OData.Core.V1.xml/x', 404],
    ['/old-trees/example.portal.old_trees.old_trees?$top=1', 200],
    [`/old-trees(${OAK})`, 200, /#old-trees\/\$entity"/],
    [`/old-trees(recordid='${OAK}')`, 200],
    [`/old-trees(recordid=@k)?@k='${OAK}'`, 200],
    [`/old-trees(@k)?@k=5`, 400],
    [`/old-trees%28%27${OAK}%27%29`, 200],
    [`/old-trees(id='${OAK}')`, 400],
    ['/old-trees(5)', 404],
    ["/old-trees('a%2Fb')", 404],
    ["/old-trees('a/b')", 400],
    ['/old-trees()', 400],
    [`${oak}?$select=name, height`, 200, /#old-trees\(name,height\)\/\$entity"/],
    [`${oak}?$filter=true`, 400],
    [`${oak}?$top=1`, 400],
    [`${oak}/$value`, 400],
    [`${oak}/$count`, 404],
    [`${oak}/$ref`, 200, /"@odata.id":"http:\/\/portal.example\/api\/odata\/old-trees\('/],
    [`${oak}/$links/x`, 404, /segment '\$links'/],
    [`${oak}/name`, 200, /"value":"Oak"/],
    [`${oak}/name/$value`, 200, 'Oak'],
    [`${oak}/nope`, 404, /segment 'nope'/],
    [`${oak}/name/nope`, 404, /segment 'nope'/],
    [`${oak}/place`, 200, /"latitude":45.5,"longitude":7.25/],
    [`${oak}/place?$select=latitude`, 200, /"latitude":45.5\}/],
    [`${oak}/name?$select=latitude`, 400],
    [`${oak}/place/$value`, 400],
    [`${oak}/place/latitude`, 200, /"value":45.5/],
    [`${oak}/place/longitude/$value`, 200, '7.25'],
    [`${oak}/place/height`, 404, /segment 'height'/],
    [`${oak}/tags`, 200, /"value":\["old","big"\]/],
    [`${oak}/tags/$count`, 200, '2'],
    [`${oak}/tags/$value`, 400],
    [`${yew}/place`, 204, ''],
    [`${yew}/place/latitude/$value`, 204, ''],
    ["/old-trees('nope')/name", 404],
    [`/$entity?$id=${BASE}${ROOT}/old-trees('${OAK}')&$select=name`, 200, /"name":"Oak"/],
    [`/$entity?$id=old-trees('${OAK}')`, 200],
    ['/$entity?$id=old-trees', 400],
    ['/$entity', 400],
    ['/$all', 501],
    ['/$crossjoin(a,b)', 501],
    ['/$batch', 501],
    ['/old-trees?$top=1&$orderby=name&%24SELECT=name', 200, /"name":"Elm"/],
    ['/old-trees?$top=1&Top=1', 400, /must not be there twice/],
    ['/old-trees?@p=1&@p=2', 400],
    ['/old-trees?$filter=rings gt @p&@p=1000&count=true', 200, /"@odata.count":1,/],
    ['/old-trees?$foo=1', 400],
    ['/old-trees?foo=1&foo=2&id=3', 200],
    ['/old-trees?$filter', 400],
    ['/old-trees?$filter=%25ZZ', 400],
    ['/old-trees?$filter=%ZZ', 400],
    ['/old-trees%ZZ', 400],
    ['/old-trees?$top=-1', 400],
    ['/old-trees?$top=99999999999999999999', 400],
    ['/old-trees?$skip=9007199254740991&$filter=height gt 5', 200, /"value":\[\]/],
    ['/old-trees?$skiptoken=abc', 400],
    ['/old-trees?$count=1', 400],
    ['/old-trees?$inlinecount=allpages', 400],
    ['/old-trees?$expand=*', 200],
    ['/old-trees?$expand=name', 400],
    ['/old-trees?$levels=1', 400],
    ['/old-trees?$deltatoken=1', 501],
    ['/old-trees?$schemaversion=*', 200],
    ['/old-trees?$schemaversion=2', 404],
    ["/old-trees?$filter=name eq 'a' and x;y", 400],
    ['/old-trees?$filter=startswith(name,+%27O%27)+and+height+gt+1&$count=true', 200, /"@odata.count":1,/],
    ['/old-trees?$apply=aggregate($count as n)', 200, /#old-trees\(n\)","value":\[\{[^}]*"n":5\}\]/],
    ['/?$top=1', 400],
  ]
  for (const [url, status, body] of rows) {
    const answer = await get(url)
    t.equal(answer.statusCode, status, `${url} ${answer.body.slice(0, 200)}`)
    if (body !== undefined) t.match(answer.body, body, url)
    if (status >= 400) t.equal(answer.json().error.code, status, url)
    t.equal(answer.headers['odata-version'], '4.0', url)
  }
})

t.test('parts of collections, branches, infinity, and parts of the records that are transformed', async t => {
  const rows: [query: string, values: readonly unknown[]][] = [
    [
      "$select=tags($filter=startswith($this,'b');$count=true)&$top=2",
      [
        { 'tags@odata.count': 1, tags: ['big'] },
        { 'tags@odata.count': 0, tags: [] },
      ],
    ],
    ['$select=tags($orderby=$this;$top=1)&$top=1', [{ tags: ['big'] }]],
    ["$filter=tags/$count($filter=$this ne 'old') gt 0&$select=name", [{ name: 'Oak' }, { name: 'Yew' }]],
    ["$filter=tags/$filter($this ne 'old')/$count eq 0 and height gt 7&$select=name", [{ name: 'Fir' }]],
    ["$compute=tags/$count($filter=contains($this,'o')) as n&$select=n&$top=2", [{ n: 1 }, { n: 0 }]],
    ["$compute=tags/any(t:t eq 'old') as a&$select=a&$top=2", [{ a: true }, { a: false }]],
    ["$compute=case(tags/all(t:t ne 'old'):0,true:1) as n&$select=n&$top=2", [{ n: 1 }, { n: 0 }]],
    [
      '$compute=height div 0 as i,-height div 0 as j&$select=i,j&$skip=1&$top=2',
      [
        { i: 'INF', j: '-INF' },
        { i: null, j: null },
      ],
    ],
    ['$compute=(height sub height) div 0 as i&$select=i&$top=1', [{ i: 'NaN' }]],
    ['$compute=height mul 1e308 as i,-height mul 1e308 as j&$select=i,j&$top=1', [{ i: 'INF', j: '-INF' }]],
    ['$apply=filter(height mul 1e308 eq INF and height mul 1e308 ge INF)/aggregate($count as n)', [{ n: 4 }]],
    ...['10 divby (rings sub 9)', '10.5 div (rings sub 9)', '10.5 mod (rings sub 9)'].flatMap(
      (value): [query: string, values: readonly unknown[]][] => [
        [`$compute=${value} as i&$select=i&$filter=rings eq 9`, [{ i: null }]],
        [`$filter=${value} eq null&$select=name`, [{ name: 'Elm' }, { name: "O'Ash" }]],
        [`$apply=groupby((rings))/compute(${value} as i)/filter(rings le 9)`, [{ rings: 9, i: null }]],
      ],
    ),
    [
      '$compute=cast(height div 0e0,Edm.String) as i,cast(-INF,Edm.String) as j&$select=i,j&$top=1',
      [{ i: 'INF', j: '-INF' }],
    ],
    [
      "$apply=groupby((height))/compute(cast(height div 0e0,Edm.String) as i)/filter(i eq 'INF')/aggregate($count as n)",
      [{ n: 4 }],
    ],
    [
      '$apply=compute(height div 0e0 as i)/groupby((i),aggregate($count as n,i with max as m))&$orderby=i',
      [
        { i: null, n: 1, m: null },
        { i: 'INF', n: 4, m: 'INF' },
      ],
    ],
    ...['i eq INF', 'i gt 1', 'not (i lt INF) and i ne null'].map((test): [string, readonly unknown[]] => [
      `$apply=compute(height div 0e0 as i)/groupby((i))/filter(${test})`,
      [{ i: 'INF' }],
    ]),
    [
      '$apply=groupby((height))/compute(height div 0e0 as i)/filter(i eq INF)/aggregate($count as n)',
      [{ n: 4 }],
    ],
    [
      "$compute=case(height gt 10:'high',height gt 5:'middle',rings gt 10:name) as size&$select=size",
      ['high', 'middle', null, 'Yew', 'high'].map(size => ({ size })),
    ],
    [
      '$filter=case(height gt 10:rings,true:1.5) eq 1.5&$select=name',
      [{ name: 'Elm' }, { name: "O'Ash" }, { name: 'Yew' }],
    ],
    [
      '$filter=case(height gt 10:rings gt 100,rings gt 10:true)&$select=name',
      [{ name: 'Oak' }, { name: 'Yew' }],
    ],
    [
      '$apply=compute(height gt 10 as high)/groupby((high),aggregate($count as n))',
      [
        { high: false, n: 3 },
        { high: true, n: 2 },
      ],
    ],
    [
      '$apply=compute(round((height sub 7) div 10) as t)/groupby((t),aggregate($count as n))',
      [
        { t: null, n: 1 },
        { t: 0, n: 2 },
        { t: 1, n: 1 },
        { t: 3, n: 1 },
      ],
    ],
    ['$apply=aggregate(round((height sub 7) div 10) with countdistinct as n)', [{ n: 3 }]],
    ['$apply=topcount(2,height)/filter(rings gt 100)&$select=name', [{ name: 'Oak' }]],
    [
      '$apply=topcount(3,height)&$filter=rings ne null&$orderby=name&$select=name',
      [{ name: 'Fir' }, { name: 'Oak' }],
    ],
    [
      '$apply=concat(aggregate(height with max as h),groupby((name),aggregate(height with max as h))/topcount(1,h))',
      [{ h: 40 }, { h: 40, name: 'Fir' }],
    ],
    ['$apply=filter(height gt 99)/top(2)/filter(rings gt 0)', []],
    ['$apply=top(2)/aggregate(height with sum as h,$count as n)', [{ h: 19.5, n: 2 }]],
    ['$apply=topcount(4,height)/skip(1)/topcount(2,rings)/aggregate(rings with max as r)', [{ r: 2000 }]],
  ]
  const cast = (text: string, type: string) => `cast(concat('${text}',substring(name,0,0)),Edm.${type})`
  const days = `${cast('2020-02-29', 'DateTimeOffset')} as b,${cast('2020-02-29Z', 'Date')} as c`
  const dates = `${cast('2020-02-29T10:00:00', 'DateTimeOffset')} as a,${days}`
  for (const query of [`$compute=${dates}`, `$apply=groupby((name))/compute(${dates})`])
    rows.push([`${query}&$select=a,b,c&$top=1`, [{ a: '2020-02-29T10:00:00Z', b: null, c: null }]])
  for (const [query, values] of rows) {
    const body = await json(`/old-trees?${query}`)
    const found = body.value?.map((row: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(
        Object.entries(row).filter(([name]) => name !== 'recordid' && !/@odata\.(?:type|id)$/.test(name)),
      ),
    )
    t.same(found, values, `${query} ${JSON.stringify(body.error ?? '')}`)
  }
})

t.test('integers of 64 bits are what they were in the source, everywhere', async t => {
  const home = '/api/explore/v2.1/catalog/datasets/long'
  const ALL = ['9007199254740993', '-9223372036854775808', '5', '9007199254740992']
  const [first = '', least = ''] = ALL
  const where = (text: string) => `${home}/records?select=n&where=${encodeURIComponent(text)}`
  const filter = (text: string) => `${ROOT}/long?$select=n&$filter=${encodeURIComponent(text)}`
  const rows: readonly (readonly [url: string, numbers: readonly string[]])[] = [
    [`${home}/records?select=n`, ALL],
    [`${home}/exports/json?select=n`, ALL],
    [`${home}/exports/jsonl?select=n`, ALL],
    [`${home}/exports/csv?select=n`, ALL],
    ['/api/v2/catalog/datasets/long/records?select=n', ALL],
    [`${home}/records?select=n&order_by=n`, [least, '5', '9007199254740992', first]],
    [where(`n = ${first}`), [first]],
    [where(`n != ${first}`), ALL.slice(1)],
    [where(`n = ${least}`), [least]],
    [where(`n in (${first}, 5)`), [first, '5']],
    [where('n > 9007199254740992'), [first]],
    [where(`n = ${first}.0`), [first]],
    [where('n = 9007199254740992.5'), []],
    [where('n != 9007199254740992.5'), ALL],
    [where('n > 9007199254740992.5'), [first]],
    [where('n < 9007199254740992.5 and n > -9223372036854775807.5'), ['5', '9007199254740992']],
    [where('n <= -9223372036854775807.5'), [least]],
    [where('n in [9007199254740992.5..9007199254740993.5]'), [first]],
    [where('n in (5, 9007199254740992.5)'), ['5']],
    [where('n = 9.007199254740992e15'), ['9007199254740992']],
    [where(`n > ${least} and n < 9223372036854775808`), [first, '5', '9007199254740992']],
    [where('n in [-9223372036854775809..9223372036854775808]'), ALL],
    [where('n != 9223372036854775808'), ALL],
    [`${home}/records?select=n&refine=n:${first}`, [first]],
    [`${home}/records?select=max(n) as n&group_by=of&order_by=of`, [first, '9007199254740992']],
    [`${home}/records?select=count(*) as c&group_by=n&where=n%3E6`, ['9007199254740992', first]],
    [`${ROOT}/long?$select=n`, ALL],
    [`${ROOT}/long?$select=n&$format=atom`, ALL],
    [`${ROOT}/long?$select=n&$format=verbosejson`, ALL],
    [filter(`n eq ${first}`), [first]],
    [filter(`n eq ${least}`), [least]],
    [filter(`n in (${first},5)`), [first, '5']],
    [filter(`n eq ${first}.0`), [first]],
    [filter('n eq 9007199254740992.5'), []],
    [filter('n ne 9007199254740992.5'), ALL],
    [filter('n ge 9007199254740992.5'), [first]],
    [filter('9007199254740992.5 gt n and n gt -9223372036854775807.5'), ['5', '9007199254740992']],
    [filter('n lt -9223372036854775807.5'), [least]],
    [filter('n add 1 gt 9007199254740993.5'), [first]],
    [filter('n in (5,9007199254740992.5)'), ['5']],
    [filter('n gt -9223372036854775809 and n lt 9223372036854775808'), ALL],
    [filter('n mul n gt 85070591730234615865843651857942052863'), [least]],
    [filter('n gt 9007199254740992 and n lt 9007199254740994'), [first]],
    [`${ROOT}/long?$apply=groupby((n))&$filter=n gt 6&$orderby=n desc`, [first, '9007199254740992']],
    [`${ROOT}/long?$apply=aggregate(n with min as n)`, [least]],
    [`${ROOT}/long?$apply=groupby((n))/filter(n gt 9007199254740992)`, [first]],
    [
      `${ROOT}/long?$apply=groupby((n))/filter(n gt 6)/compute(n sub 1 as m)&$select=m`,
      ['9007199254740991', '9007199254740992'],
    ],
    ...(
      [
        ['n add 1 eq 9007199254740994', [first]],
        ['n mul 1 eq 9007199254740993', [first]],
        ['-n eq -9007199254740993', [first]],
        ['n div 1 eq 9007199254740993', [first]],
        ['n mod 10 eq 3', [first]],
        ['n mul 3 eq 27021597764222979', [first]],
        ['n sub 1 lt -9223372036854775808', [least]],
        ['n mod -9223372036854775807 eq -1', [least]],
        ['n div 9007199254740992 mul 9007199254740993 eq 9007199254740993', [first, '9007199254740992']],
        ['n gt 9007199254740991 mul 1', ['9007199254740992', first]],
      ] as const
    ).map(([text, numbers]) => [filter(text), numbers] as const),
    [
      `${ROOT}/long?$compute=n mul 3 as m,n mod 10000000000000000 as r&$select=m,r&$filter=n eq ${first}`,
      ['27021597764222979', first],
    ],
    [
      `${home}/records?select=count(*) as c&group_by=${encodeURIComponent(`range(n, ${first}, 9007199254740994, *) as r`)}`,
      [first, first, '9007199254740994'],
    ],
    [
      `${home}/records?select=count(*) as c&group_by=range(n, 1)&where=n%3E6`,
      ['9007199254740992', '9007199254740992', first, first],
    ],
    [`${home}/records?select=max(n) %2B 2 as n&where=n%3E6`, ['9007199254740995']],
    [`${ROOT}/long?$select=n&$filter=cast(n,Edm.Int16) eq 5`, ['5']],
    [`${ROOT}/long?$select=n&$filter=cast(n,Edm.Int16) ne null`, ['5']],
  ]
  for (const [url, numbers] of rows) {
    const { body } = await app.http.inject({ url })
    const found = [...body.matchAll(/(?<=[":>\n [])-?(?:\d{16,}|5)(?=["},<\r\n\]])/g)].map(([text]) => text)
    t.same([...found].sort(), [...numbers].sort(), `${url} ${body.slice(0, 300)}`)
  }
  const facets = (await app.http.inject({ url: `${home}/facets?facet=n` })).json().facets[0].facets
  t.same(facets.map(({ name }: { name: string }) => name).sort(), [...ALL].sort())
})

t.test('polygons go on behind the meridian of 180 degrees', async t => {
  const ring = (west: number, east: number) =>
    `POLYGON((${west} -17,${east} -17,${east} -16,${west} -16,${west} -17))`
  const home = '/api/explore/v2.1/catalog/datasets/late'
  const rows: readonly (readonly [shape: string, count: number])[] = [
    [ring(179, 181), 2],
    [ring(-181, -179), 2],
    [ring(179, 179.9), 1],
    [ring(180.1, 181), 1],
    [ring(-200, 200), 2],
    [ring(170, 175), 0],
  ]
  for (const [shape, count] of rows) {
    for (const where of [`intersects(place, geom'${shape}')`, `within(place, geom'${shape}')`]) {
      const { body } = await app.http.inject({ url: `${home}/records`, query: { where, limit: '0' } })
      t.equal(JSON.parse(body).total_count, count, `${where} ${body}`)
    }
    const filter = `geo.intersects(place,geography'SRID=4326;${shape}')`
    t.equal((await get(`/late/$count?$filter=${encodeURIComponent(filter)}`)).body, String(count), filter)
  }
  const concat = '$apply=concat(aggregate($count as n),groupby((place/latitude),aggregate($count as n)))'
  t.notOk('place' in (await json(`/late?${concat}`)).value[0])
  // The context names what all rows have.
  const contexts: readonly (readonly [apply: string, names: string])[] = [
    ['concat(aggregate($count as n),groupby((place/latitude),aggregate($count as n)))', '(n)'],
    ['concat(aggregate($count as n),groupby((place/latitude)))', '(@Core.AnyStructure)'],
    ['concat(groupby((place/latitude)),aggregate($count as n))/groupby((n))', '(n)'],
    ['groupby((place/latitude))/concat(identity,aggregate($count as n))/compute(1 as m)', '(m)'],
  ]
  for (const [apply, names] of contexts)
    t.ok((await json(`/late?$apply=${apply}`))['@odata.context'].endsWith(`#late${names}`), apply)
})

t.test('results beyond the type Int64 are not sent as Int64', async t => {
  const rows: readonly (readonly [query: string, expected: readonly string[], headers?: Headers])[] = [
    [
      '$apply=groupby((of),aggregate(n with sum as s))',
      ['"s@odata.type":"#Decimal","s":5', '"s@odata.type":"#Decimal","s":18446744073709551613'],
    ],
    ['$apply=groupby((of),aggregate(n with max as s))', ['"s@odata.type":"#Int64","s":9223372036854775807']],
    [
      '$apply=groupby((n))/aggregate(n with sum as s)',
      ['"s@odata.type":"#Decimal","s":18446744073709551618'],
    ],
    [
      '$apply=aggregate(n with sum as s)&$format=application/json;IEEE754Compatible=true',
      ['"s@odata.type":"#Decimal","s":"18446744073709551618"'],
    ],
    ['$apply=aggregate(n with sum as s)&$format=atom', ['<d:s m:type="Decimal">18446744073709551618</d:s>']],
    [
      '$apply=concat(aggregate($count as s),groupby((of),aggregate($count as s)))',
      [
        '{"@odata.id":null,"s@odata.type":"#Int64","s":3}',
        '"s":1,"of":null}',
        '{"@odata.id":null,"s@odata.type":"#Int64","s":2,"of":"a"}',
      ],
    ],
    ['$apply=aggregate(n with sum as s)', ['"s@odata.type":"Edm.Decimal","s":"18446744073709551618"'], V3],
    ['$compute=n mul 2 as s&$select=s', ['"s@odata.type":"#Decimal","s":18446744073709551614}', '"s":10}']],
    ['$compute=n mul 2 as s&$select=s&$filter=n lt 6', ['"s@odata.type":"#Int64","s":10']],
    ['$compute=n mul 2 as s&$select=s&$format=atom', ['<d:s m:type="Decimal">18446744073709551614</d:s>']],
    ['$compute=cast(n mul 2e0,Edm.Int64) as s&$select=s&$filter=n gt 6', ['"s":null']],
    ['$compute=cast(n mul 2e0,Edm.Int64) as s&$select=s&$filter=n lt 6', ['"s@odata.type":"#Int64","s":10']],
    ["$compute=cast('9223372036854775808',Edm.Int64) as s&$select=s&$top=1", ['"s":null']],
    ['$apply=groupby((n))/compute(cast(n mul 2e0,Edm.Int64) as s)/filter(n gt 6)', ['"s":null']],
  ]
  for (const [query, expected, headers = {}] of rows) {
    const { body } = await get(`/wide?${query}`, headers)
    for (const text of expected) t.ok(body.includes(text), `${query} ${text} ${body}`)
    t.equal(
      /Int64/.test(body),
      expected.some(text => text.includes('Int64')),
      query,
    )
  }
})

t.test('parts of moments are those of the exact value', async t => {
  const home = '/api/explore/v2.1/catalog/datasets/late'
  const grouped = (key: string) => `${home}/records?select=count(*) as c&group_by=${encodeURIComponent(key)}`
  const odata = (query: string) => `${ROOT}/late?${query}`
  const rows: readonly (readonly [url: string, expected: readonly unknown[]])[] = [
    [`${home}/records?select=year(at) as v`, [2023, 2023, 9999, 99]],
    [`${home}/records?select=minute(at) as v`, [59, 59, 59, 30]],
    [`${home}/records?select=millisecond(at) as v`, [999, 123, 999, 999]],
    [
      `${home}/records?select=date_format(at,"yyyy-MM-dd HH:mm:ss.SSSSSSSSS") as v`,
      [
        '2023-12-31 23:59:59.999999900',
        '2023-12-31 23:59:59.123999999',
        '9999-12-31 23:59:59.999999000',
        '0099-12-31 07:30:59.999999000',
      ],
    ],
    [grouped('year(at) as v'), [99, 2023, 9999]],
    [
      grouped('range(at, 1 day) as v'),
      [
        '[0099-12-31T00:00:00.000Z, 0100-01-01T00:00:00.000Z[',
        '[2023-12-31T00:00:00.000Z, 2024-01-01T00:00:00.000Z[',
        '[9999-12-31T00:00:00.000Z, 10000-01-01T00:00:00.000Z[',
      ],
    ],
    [
      `${grouped('range(at, 1 day) as v')}&timezone=Asia/Tokyo&where=name="far away"`,
      ['[10000-01-01T00:00:00+09:00, 10000-01-02T00:00:00+09:00['],
    ],
    [`${home}/records?select=name as v&refine=at:2023`, ['seven digits', 'nine digits']],
    [odata('$compute=year(at) as v&$select=v'), [2023, 2023, 9999, 99]],
    [odata('$compute=second(at) as v&$select=v'), [59, 59, 59, 59]],
    [odata('$compute=date(at) as v&$select=v'), ['2023-12-31', '2023-12-31', '9999-12-31', '0099-12-31']],
    [
      odata('$compute=time(at) as v&$select=v'),
      ['23:59:59.9999999', '23:59:59.123999999', '23:59:59.999999', '07:30:59.999999'],
    ],
    [odata('$compute=fractionalseconds(at) as v&$select=v'), [0.9999999, 0.123999999, 0.999999, 0.999999]],
  ]
  for (const [url, expected] of rows) {
    const answer = (await app.http.inject({ url })).json()
    const records = (answer.results ?? answer.value) as readonly { readonly v: unknown }[]
    t.same(
      records?.map(({ v }) => v),
      expected,
      `${url} ${JSON.stringify(answer).slice(0, 500)}`,
    )
  }
  const time = await get('/late?$compute=time(at) as v&$select=v&$format=atom', V3)
  t.match(time.body, /PT23H59M59\.9999999S/)
})

t.test('3.0 has its own names for the same', async t => {
  const rows: readonly [url: string, status: number, body: RegExp][] = [
    ['/old-trees()?$top=1', 200, /"odata.metadata":/],
    ['/old-trees?$inlinecount=allpages&$top=0', 200, /"odata.count":"5"/],
    ['/old-trees?$inlinecount=foo', 400, /"odata.error"/],
    ["/old-trees?$filter=substringof('Oa',name)&$select=name", 200, /"name":"Oak"/],
    ['/old-trees?$format=verbosejson&$top=1', 200, /^\{"d":\{"results":\[/],
  ]
  for (const [url, status, body] of rows) {
    const answer = await get(url, { ...V3, dataserviceversion: '3.0' })
    t.equal(answer.statusCode, status, url)
    t.match(answer.body, body, url)
    t.equal(answer.headers.dataserviceversion, '3.0;', url)
    t.equal(answer.headers['odata-version'], undefined, url)
  }
})

/** A key of a new user. */
async function makeKey(): Promise<string> {
  const { name } = await app.accounts.users.add(`user${makings++}`, 'correct horse battery')
  return (await app.accounts.keys.create(name, 'test')).key
}
let makings = 0

/** A key as a client may write it, with its first letter escaped, after the percent sign. */
function hex(key: string): string {
  return key.charCodeAt(0).toString(16) + key.slice(1)
}

t.test('pages follow one another by absolute links', async t => {
  const key = await makeKey()
  const rows: readonly [query: string, size: number, pages: readonly string[]][] = [
    ['', 2, ['Oak,Elm', "O'Ash,Yew", 'Fir']],
    ['', 5, ["Oak,Elm,O'Ash,Yew,Fir"]],
    ['$top=3', 2, ['Oak,Elm', "O'Ash"]],
    ['$top=2', 2, ['Oak,Elm']],
    ['$skip=1&$top=3', 2, ["Elm,O'Ash", 'Yew']],
    ['$skip=4', 2, ['Fir']],
    ['$orderby=height desc', 3, ['Fir,Oak,Elm', "Yew,O'Ash"]],
    ['$filter=rings gt 10&$orderby=name', 1, ['Fir', 'Oak', 'Yew']],
    ['$filter=rings gt 9000', 1, ['']],
    ['$top=0', 2, ['']],
    ['$apply=groupby((name))&$orderby=name', 2, ['Elm,Fir', "O'Ash,Oak", 'Yew']],
  ]
  for (const [query, size, pages] of rows) {
    const found: string[] = []
    let url = `/old-trees?${query}&$count=true&apikey=%${hex(key)}`
    for (let link: string | undefined = ''; link !== undefined; ) {
      const body = await json(url, { prefer: `odata.maxpagesize=${size}` })
      found.push(body.value.map(({ name }: { name: string }) => name).join())
      link = body['@odata.nextLink']
      url = link?.slice(BASE.length + ROOT.length) ?? ''
      if (link === undefined) break
      t.ok(link.startsWith(`${BASE}${ROOT}/old-trees?`))
      t.match(link, `&apikey=%${hex(key)}&snapshot=`)
      t.match(link, /&\$skiptoken=\d+$/)
    }
    t.same(found, pages, `${query} by ${size}`)
  }
  const { '@odata.nextLink': next } = await json('/old-trees?%24skiptoken=1&$filter=rings+gt+1&;=x', {
    prefer: 'maxpagesize=1',
  })
  t.equal(
    next.replace(/(snapshot=)[\w-]+/, '$1'),
    `${BASE}${ROOT}/old-trees?$filter=rings+gt+1&;=x&snapshot=&$skiptoken=2`,
  )
})

t.test('preferences are followed and told', async t => {
  const rows: readonly [prefer: string, told: string | undefined, size: number][] = [
    ['odata.maxpagesize=2, omit-values=nulls', 'odata.maxpagesize=2, omit-values=nulls', 2],
    ['MaxPageSize="7"; a=b', 'maxpagesize=7', 7],
    ['maxpagesize=99999', 'maxpagesize=10000', 10_000],
    ['maxpagesize=0, return=minimal', undefined, 1000],
    ['maxpagesize=a', undefined, 1000],
    ['', undefined, 1000],
  ]
  for (const [prefer, described, size] of rows) {
    t.equal(readPreferences({ prefer }).pageSize, size, prefer)
    t.equal((await get('/old-trees', { prefer })).headers['preference-applied'], described, prefer)
  }
  const omitted = await json('/old-trees?$select=name,height', { prefer: 'omit-values=nulls' })
  t.notOk('height' in omitted.value[2])
  t.equal((await json('/old-trees?$select=name,height')).value[2].height, null)
  t.equal(
    (await get('/old-trees', { ...V3, prefer: 'omit-values=nulls' })).headers['preference-applied'],
    undefined,
  )
})

t.test('answers are conditional, and say what they depend on', async t => {
  for (const url of [
    '/',
    '/$metadata',
    '/old-trees?$top=1',
    '/old-trees/$count',
    `/old-trees('${OAK}')/name`,
  ]) {
    const first = await get(url)
    const { etag, vary } = first.headers
    t.type(etag, 'string', url)
    t.match(
      vary,
      /^Accept-Encoding, Accept, (?:Accept-Datetime, )?Prefer, OData-MaxVersion, MaxDataServiceVersion/,
    )
    const again = await get(url, { 'if-none-match': String(etag) })
    t.equal(again.statusCode, 304, url)
    t.equal(again.headers['odata-version'], '4.0')
    t.equal(again.body, '')
    const head = await get(url, {}, 'HEAD')
    t.equal(head.statusCode, 200)
    t.equal(head.headers['content-length'], first.headers['content-length'])
  }
  const { etag } = (await get('/old-trees?$top=1')).headers
  for (const headers of [V3, { accept: 'application/xml' }, { prefer: 'maxpagesize=3' }])
    t.equal((await get('/old-trees?$top=1', { ...headers, 'if-none-match': String(etag) })).statusCode, 200)
  for (const url of [
    '/old-trees?$filter=now() gt 2020-01-01T00:00:00Z',
    '/old-trees/$filter(now()%20gt%202020-01-01T00:00:00Z)',
  ])
    t.equal((await get(url)).headers.etag, undefined, url)
  const keyed = await get(`/old-trees?apikey=${await makeKey()}`)
  t.equal(keyed.headers['cache-control'], 'private, no-store')
  t.equal(keyed.headers.etag, undefined)
})

t.test('clients of 2.0 get its model: identifiers as names, and lists as texts', async t => {
  const V2 = { maxdataserviceversion: '2.0' }
  const model = (await get('/$metadata', V2)).body
  t.match(model, 'm:DataServiceVersion="2.0">')
  t.match(
    model,
    '<Schema xmlns="http://schemas.microsoft.com/ado/2008/09/edm" Namespace="example.portal.odata.types"',
  )
  t.match(model, '<EntitySet Name="old_trees" EntityType="example.portal.old_trees.old_trees"/>')
  t.match(model, '<Property Name="tags" Type="Edm.String"/>')
  t.match(model, '<Property Name="place" Type="example.portal.odata.types.GeoPoint2D"/>')
  t.notMatch(model, /Collection|Annotation|Documentation|2009\/11|"Ods\./)
  t.match(model, '<EntitySet Name="x_2020_rain" EntityType="example.portal.x_2020_rain.x_2020_rain"/>')
  const names = [...model.matchAll(/ (?:Name|Namespace)="([^"]+)"/g)].flatMap(([, name = '']) =>
    name.split('.'),
  )
  t.same(
    names.filter(name => !/^\p{L}[\p{L}\p{N}_]*$/u.test(name)),
    [],
  )
  const [rain] = (
    await json('/x_2020_rain?$filter=x_2019 eq 1&$select=x_2019,xx_x,x_x', {
      ...V2,
      accept: 'application/json',
    })
  ).d.results
  t.match(rain, { x_2019: '1', xx_x: '2', x_x: '3' })
  const page = (await json('/old_trees?$orderby=name', { ...V2, accept: 'application/json' })).d.results
  t.same(
    page.map((tree: Readonly<Record<string, unknown>>) => tree.tags),
    ['[]', '[]', '["old"]', '["old","big"]', '["slow"]'],
  )
  t.match(page[0].__metadata.uri, `${BASE}${ROOT}/old_trees('`)
  const rows: readonly [url: string, accept: string, status: number, body: string | RegExp][] = [
    [
      '/',
      'application/json',
      200,
      '{"d":{"EntitySets":["x_2020_rain","dry_land_2","late","long","old_trees","rain_now","wide"]}}',
    ],
    ['/', 'application/atomsvc+xml', 200, '<collection href="old_trees">'],
    ['/old_trees', 'application/atom+xml', 200, '<d:tags>["old","big"]</d:tags>'],
    ['/old-trees?$top=1', 'application/atom+xml', 200, 'href="old_trees'],
    [`/old_trees('${OAK}')/tags`, 'application/json', 200, '{"d":{"tags":"[\\"old\\",\\"big\\"]"}}'],
    [`/old_trees('${OAK}')/tags/$value`, '*/*', 200, '["old","big"]'],
    ['/nope', 'application/json', 404, '{"error":{"code":"404","message":{"lang":"en-US"'],
    ['/old_trees', 'application/json;odata=minimalmetadata', 406, ''],
  ]
  for (const [url, accept, status, body] of rows) {
    const answer = await get(url, { ...V2, accept })
    t.equal(answer.statusCode, status, url)
    if (body !== '') t.match(answer.body, body, url)
    t.notMatch(answer.body, /Collection\(|<d:element/, url)
    t.equal(answer.headers.dataserviceversion, '2.0;', url)
  }
  const first = await json('/old-trees', { ...V2, accept: 'application/json', prefer: 'maxpagesize=2' })
  t.match(first.d.__next, '$skiptoken=2')
})

t.test('links to entities of a version hold where the set is not named by the id of its dataset', async t => {
  const { versions } = (await app.http.inject('/api/versions/old-trees')).json()
  const headers = { maxdataserviceversion: '2.0', accept: 'application/json' }
  for (const set of ['old-trees', 'old_trees']) {
    const page = await json(`/${set}?$top=1&version=${versions[0].version}`, headers)
    const { uri } = page.d.results[0].__metadata
    t.match(uri, `/old_trees('${OAK}')?version=`)
    t.equal((await get(uri.slice(BASE.length + ROOT.length), headers)).statusCode, 200)
  }
  t.match((await get('/dry_land?version=x')).body, /dry_land is not public/)
})

t.test('no set has the name of a dataset that the caller does not see', async t => {
  const key = await makeKey()
  const rows: readonly [url: string, headers: Headers, status: number, body: string | RegExp][] = [
    ['/dry_land?$select=a', {}, 401, /dry_land is not public/],
    ['/dry_land?$select=a', { maxdataserviceversion: '2.0' }, 401, /dry_land is not public/],
    ['/dry-land?$select=a', {}, 200, /"a":1/],
    ['/dry_land_2?$select=a', {}, 200, /"a":1/],
    ['/dry_land_2?$select=a', { maxdataserviceversion: '2.0', accept: 'application/json' }, 200, /"a":"1"/],
    [`/dry_land?$select=a&apikey=${key}`, {}, 403, /permission/],
    [`/dry_land_2?$select=a&apikey=${key}`, {}, 200, /"a":1/],
    ['/$metadata', {}, 200, 'Name="dry-land" EntityType="example.portal.dry_land_2.dry_land_2"'],
  ]
  for (const [url, headers, status, body] of rows) {
    const answer = await get(url, headers)
    t.equal(answer.statusCode, status, url)
    t.match(answer.body, body, url)
  }
})

t.test('no property is named as its type, or as a word of expressions', async t => {
  for (const version of ['4.0', '3.0', '2.0'] as const) {
    const headers = version === '4.0' ? {} : { maxdataserviceversion: version }
    const model = (await get('/$metadata', headers)).body
    t.match(model, 'Name="rain_now" EntityType="example.portal.rain_now.rain_now_"', version)
    const letter = version === '2.0' ? 'x' : ''
    for (const [, type = '', body = ''] of model.matchAll(
      /<EntityType Name="([^"]+)">(.*?)<\/EntityType>/gs,
    )) {
      t.notMatch(body, `<Property Name="${type}"`, version)
      if (type === 'rain_now_') t.match(body, `<Property Name="${letter}_not" Type="Edm.Int64"`, version)
    }
    const filter = ['null eq 3', 'not eq 4', "true eq 'yes'"].map(term => `${letter}_${term}`).join(' and ')
    t.match(
      (await get(`/rain_now?$filter=not (${filter} and rain_now gt 1)`, headers)).body,
      'rain_now',
      version,
    )
    t.equal((await get(`/rain_now/$count?$filter=${filter}`, headers)).body, '1', version)
  }
  const full = await json('/rain_now?$format=application/json;odata.metadata=full')
  t.equal(full.value[0]['@odata.type'], '#example.portal.rain_now.rain_now_')
  t.equal((await get('/rain_now/example.portal.rain_now.rain_now_/$count')).body, '1')
})

t.test('the vocabularies of the metadata document are served with it', async t => {
  const model = (await get('/$metadata')).body
  const references = [
    ...model.matchAll(/<edmx:Reference Uri="([^"]+)"><edmx:Include Namespace="([^"]+)" Alias="(\w+)"/g),
  ]
  const terms = [...model.matchAll(/Term="(Core|Capabilities|Aggregation)\.(\w+)"/g)]
  t.ok(terms.length > 5)
  for (const [, uri = '', namespace, alias] of references) {
    t.ok(uri.startsWith(`${BASE}${ROOT}/`), uri)
    const path = uri.slice(BASE.length + ROOT.length)
    const answer = await get(path, { accept: 'application/json' })
    t.equal(answer.headers['content-type'], 'application/xml', uri)
    t.match(answer.body, `Namespace="${namespace}" Alias="${alias}"`)
    const { [String(namespace)]: schema } = await json(path.replace(/xml$/, 'json'))
    for (const [, , term = ''] of terms.filter(([, of]) => of === alias)) {
      t.match(answer.body, `<Term Name="${term}" Type="`, term)
      t.equal(schema[term].$Kind, 'Term', term)
    }
  }
  t.equal(references.length, 3)
  const { $Reference } = await json('/$metadata?$format=json')
  for (const uri of Object.keys($Reference))
    t.equal((await get(uri.slice(BASE.length + ROOT.length))).statusCode, 200, uri)
})

t.test('conditions of requests that are not met', async t => {
  const { etag } = (await get('/old-trees?$top=1')).headers
  const tag = String(etag)
  const coded = tag.replace(/"$/, '-gzip"')
  const rows: readonly [url: string, headers: Headers, status: number][] = [
    ['/old-trees?$top=1', { 'odata-isolation': 'snapshot' }, 412],
    ['/', { isolation: 'Snapshot' }, 412],
    ['/$metadata', { 'odata-isolation': 'snapshot', ...V3 }, 412],
    ['/old-trees?$top=1', { 'if-match': '"other"' }, 412],
    ['/old-trees?$top=1', { 'if-match': `"other", ${tag}` }, 200],
    ['/old-trees?$top=1', { 'if-match': `W/${tag}` }, 200],
    ['/old-trees?$top=1', { 'if-match': coded }, 200],
    ['/old-trees?$top=1', { 'if-match': '*' }, 200],
    ['/old-trees?$top=1', { 'if-match': tag, 'if-none-match': tag }, 304],
    ['/old-trees?$top=1', { 'if-match': '"other"', 'if-none-match': tag }, 412],
    ['/old-trees?$top=2', { 'if-match': tag }, 412],
    ['/$metadata', { 'if-match': tag }, 412],
    [`/old-trees('${YEW}')/place`, { 'if-match': tag }, 412],
    ["/old-trees('nope')", { 'if-match': tag }, 404],
    ['/old-trees?$top=x', { 'if-match': tag }, 400],
  ]
  for (const [url, headers, status] of rows)
    for (const _ of ['first', 'again']) {
      const answer = await get(url, headers)
      t.equal(answer.statusCode, status, `${url} ${JSON.stringify(headers)}`)
      if (status === 412) t.equal(answer.headers.etag, undefined)
    }
})

t.test('only GET is served, and browsers may ask', async t => {
  for (const url of ['/$batch', '/%24batch', '/$batch?x=1', '/old-trees/$query'])
    for (const type of ['application/json', 'multipart/mixed; boundary=b', 'text/plain']) {
      const batch = await get(url, { 'content-type': type }, 'POST')
      t.equal(batch.statusCode, 501, `${url} ${type}`)
      t.equal(batch.json().error.code, 501)
      t.equal(batch.headers['odata-version'], '4.0')
    }
  const posted = await get('/old-trees', { 'content-type': 'application/json' }, 'POST')
  t.equal(posted.statusCode, 405)
  t.equal(posted.headers.allow, 'GET, HEAD, OPTIONS')
  t.equal(posted.json().error.code, 405)
  t.equal((await get('/old-trees', { 'content-type': 'application/json' })).statusCode, 200)
  const requested = await get('/old-trees', {}, 'OPTIONS')
  t.equal(requested.statusCode, 204)
  t.match(requested.headers['access-control-allow-headers'], /OData-MaxVersion/)
  t.match((await get('/')).headers['access-control-expose-headers'], /OData-Version, DataServiceVersion/)
})

t.test('calls are counted for their datasets', async t => {
  const count = async () => {
    const url = '/api/explore/v2.0/catalog/datasets/old-trees?include_app_metas=true'
    return (await app.http.inject({ url })).json().dataset.metas.explore.api_call_count as number
  }
  const before = await count()
  for (const url of ['/old-trees', '/old_trees/$count', '/$metadata', '/nothing']) await get(url)
  const after = await count()
  t.equal(after - before, 3, 'the two of OData, and the first question')
})

/** What a function gives, or the status of its fault. */
function outcome<Result>(run: () => Result): Result | number {
  try {
    return run()
  } catch (error) {
    if (error instanceof Fault) return error.status
    throw error
  }
}
