import { accept, cross, type GoldenRequest, get, KNOWN, key, methods, post } from './request.ts'
import { table, words } from './tables.ts'

const HOME = '/api/odata'
const OLD = { maxdataserviceversion: '3.0' }

const TYPES = [
  ...words('application/json application/atom+xml application/xml text/plain image/png text/csv */*'),
  ...[
    'odata.metadata=full',
    'odata.metadata=none',
    'odata=verbose',
    'odata=fullmetadata',
    'odata.streaming=true',
  ].map(parameter => `application/json;${parameter}`),
  'application/json;odata.metadata=minimal;IEEE754Compatible=true',
]
const VERSIONS = [
  {},
  { 'odata-maxversion': '4.0' },
  { 'odata-version': '4.01' },
  OLD,
  { maxdataserviceversion: '2.0', dataserviceversion: '2.0' },
  { 'odata-maxversion': '3.0' },
  { 'odata-version': '9' },
  { prefer: 'odata.maxpagesize=2' },
  { prefer: 'odata.include-annotations="*"' },
]

const encoded = (text: string) => text.replaceAll(' ', '%20').replaceAll('"', '%22')

/** Requests of OData 4, 3 and 2. */
export function odataRequests(): readonly GoldenRequest[] {
  const [options, resources] = [table('OData options').map(encoded), table('OData resources').map(encoded)]
  const one = "/things('{record}')"
  const some = ['', '/$metadata', '/things?$top=2', one, '/things?$filter=bad']
  return [
    ...options.map(option => get(`${HOME}/things`, option)),
    ...options.slice(0, 36).map(option => get(`${HOME}/things`, option, OLD)),
    ...cross(resources, [{}, { ...OLD, ...accept('application/atom+xml') }], (path, headers) =>
      get(`${HOME}${path}`, '', headers),
    ),
    ...cross(
      [...some, '/things/$count', `${one}/name`, '/things?$apply=groupby((kind))'],
      TYPES,
      (path, type) => get(`${HOME}${path}`, '', accept(type)),
    ),
    ...cross([...some, '/things?$top=1&$count=true'], VERSIONS, (path, headers) =>
      get(`${HOME}${path}`, '', headers),
    ),
    ...cross(['/$metadata', '/things?$top=1'], words('json xml atom verbosejson nope'), (path, format) =>
      get(`${HOME}${path}`, `$format=${format}`),
    ),
    ...['/things?$top=1', '', '/$metadata'].flatMap(path => [
      ...methods('HEAD OPTIONS POST PUT', `${HOME}${path}`),
      get(`${HOME}${path}`, '', KNOWN),
      get(`${HOME}${path}`, '', { 'if-match': '"other"' }),
    ]),
    post(`${HOME}/$batch`, 'application/json', '{"requests":[]}'),
    post(`${HOME}/things/$query`, 'text/plain', '$top=1'),
    ...words('reader nobody').map(name => get(`${HOME}/secret`, '', key(name))),
    get(HOME, '', key('reader')),
  ]
}
