import {
  accept,
  cross,
  form,
  type GoldenRequest,
  get,
  KNOWN,
  key,
  methods,
  page,
  post,
  session,
} from './request.ts'
import { table, words } from './tables.ts'

const PEOPLE = ['', 'nobody', 'editor']
const TABS = words('table map analyze export information api linked-data versions mapping nope')
const ACCOUNT = [
  '/account',
  ...words(
    'login logout my-api-keys my-applications authorizations password passkeys second-factor sessions',
  ).map(name => `/account/${name}`),
]
const DESK = [
  ...words('/desk /desk/~harvest /desk/things /desk/none /desk/secret/fields'),
  ...words('fields source steps description mapping report history nope').map(name => `/desk/things/${name}`),
  // Forms of texts, which other addresses redirect to with the digest of the text of the day.
  ...words('~harvest things things/source things/steps things/description things/mapping secret/fields').map(
    name => `/desk/${name}?opened=before`,
  ),
]
const MANAGEMENT = '/api/management/v1'
const MANAGED = [
  ...words(
    '/openapi.json /nope /datasets /datasets/things /datasets/none /datasets/none/status /datasets/secret',
  ),
  ...words('metadata mapping fields preview check changes status versions nope').map(
    name => `/datasets/things/${name}`,
  ),
]

function pages(): readonly GoldenRequest[] {
  const analyses = words('?x=kind&y=amount&f=sum ?group=kind ?chart=line&x=day ?x=nope')
  const tab = (id: string, name: string) => `/explore/dataset/${id}/${name}`
  const some = words('/ /explore /robots.txt /healthz /explore/dataset/things/table /nope')
  const restricted = words(
    '/explore/dataset/secret/table /explore/dataset/secret/information /odsql?dataset=secret',
  )
  return [
    ...cross(table('pages'), words('en fr de'), (url, language) => get(url, '', page(language))),
    ...cross(words('/ /explore/dataset/things/table /account/login'), words('ar xx'), (url, language) =>
      get(url, '', page(language)),
    ),
    ...cross(words('things graph countries'), TABS, (id, name) =>
      get(tab(id, name), '', accept('text/html')),
    ),
    ...TABS.map(name => get(tab('things', name), 'lang=fr')),
    ...cross(TABS.slice(0, 4), table('filters of tabs'), (name, query) =>
      get(`${tab('things', name)}${query}`),
    ),
    ...analyses.map(query => get(`${tab('things', 'analyze')}${query}`)),
    ...cross(table('files'), [{}, accept('text/html')], (url, headers) => get(url, '', headers)),
    ...cross(some, [KNOWN, { 'accept-encoding': 'gzip' }, session('reader')], (url, headers) =>
      get(url, '', headers),
    ),
    ...some.flatMap(url => methods('HEAD OPTIONS POST DELETE', url)),
    ...restricted.map(url => get(url, '', session('reader'))),
  ]
}

function accounts(): readonly GoldenRequest[] {
  const mapping = '/datasets/none/mapping'
  const commands = ['', ...words('/none/publish /things/check /none/restore /none/discard')]
  return [
    ...cross([...ACCOUNT, ...DESK], PEOPLE, (url, name) => get(url, '', session(name))),
    ...ACCOUNT.map(url => get(url, '', { ...session('nobody'), 'accept-language': 'fr' })),
    ...words('mapping mapping/state information').map(name =>
      get(`/explore/dataset/things/${name}`, '', session('editor')),
    ),
    ...cross(MANAGED, PEOPLE, (path, name) => get(`${MANAGEMENT}${path}`, '', key(name))),
    ...PEOPLE.flatMap(name => methods('PUT DELETE PATCH OPTIONS HEAD', `${MANAGEMENT}${mapping}`, key(name))),
    ...cross(commands, PEOPLE.slice(1), (path, name) =>
      post(`${MANAGEMENT}/datasets${path}`, 'application/json', '{"bad":1}', key(name)),
    ),
    post(`${MANAGEMENT}/datasets`, 'application/json', '{', key('editor')),
    post(`${MANAGEMENT}/datasets`, 'text/plain', 'x', key('editor')),
    ...ACCOUNT.slice(3).map(url => form(url, 'form_token=wrong', session('nobody'))),
    ...ACCOUNT.slice(1).map(url => form(url, 'username=x')),
  ]
}

function oauth(): readonly GoldenRequest[] {
  const redirect = 'redirect_uri=https%3A%2F%2Fapplication.example%2Fback'
  const [client, secret] = [`client_id={client}&${redirect}`, 'client_id={client}&client_secret={secret}']
  const code = `${client}&response_type=code&state=s`
  const authorizations = [
    ...['', 'client_id=nope', 'client_id={client}&redirect_uri=https%3A%2F%2Felse.example%2F', client, code],
    ...[`${client}&response_type=token`, `${code}&scope=nope`, `${code}&scope=all`, `${code}&prompt=none`],
    `${code}&scope=all&code_challenge=short&code_challenge_method=plain`,
  ]
  const grants = [
    ...[
      'authorization_code',
      `authorization_code&code=x&${redirect}`,
      'refresh_token',
      'refresh_token&refresh_token=x',
    ],
    ...['client_credentials', 'password&username=reader&password=x', 'nope'],
  ]
  const endpoints = words('/oauth2/authorize /oauth2/token /oauth2/revoke /oauth2/introspect')
  return [
    ...cross(authorizations, ['', 'reader'], (query, name) =>
      get('/oauth2/authorize', query, { accept: 'text/html', ...session(name) }),
    ),
    ...cross(grants, [secret, 'client_id=nope&client_secret=x', ''], (grant, who) =>
      form('/oauth2/token', `grant_type=${grant}&${who}`),
    ),
    ...cross(endpoints.slice(2), ['', 'token=x', `token=x&${secret}`, 'token=x&client_id=nope'], form),
    ...endpoints.flatMap(url => methods('GET OPTIONS PUT HEAD', url)),
    post('/oauth2/token', 'application/json', '{}'),
    form('/oauth2/authorize', 'decision=allow', session('reader')),
  ]
}

/** Requests of pages, files for machines, accounts, the desk and OAuth. */
export function pageRequests(): readonly GoldenRequest[] {
  return [...pages(), ...accounts(), ...oauth()]
}
