import { createHash } from 'node:crypto'
import * as openid from 'openid-client'
import t from 'tap'
import type { Client } from '../src/accounts/accounts.ts'
import { accountServer, Browser, PASSWORD } from './support/account-server.ts'
import { freePort } from './support/serving.ts'

const port = await freePort()
const base = `http://127.0.0.1:${port}`
const server = await accountServer(base, { listens: port })
const { http, accounts } = server
t.teardown(() => server.close())
const ada = await accounts.users.add('ada', PASSWORD)
await accounts.users.add('bob', PASSWORD)

const CALLBACK = 'https://app.example/cb?from=lodestone'
const register = (name: string, type: Client['type'], ...redirectUris: readonly string[]) =>
  accounts.clients.register({ name, owner: 'ada', type, redirectUris })
const confidential = await register('Field notes', 'confidential', CALLBACK)
const several = await register('Several', 'confidential', 'https://app.example/a', 'http://localhost:5000/b')
const open = await register('Open map', 'public', 'https://map.example/cb', 'org.example.map:/cb')

const VERIFIER = 'verifier-verifier-verifier-verifier-verifier-0'
const S256 = createHash('sha256').update(VERIFIER).digest('base64url')

const browser = new Browser(http)
await browser.logIn('ada')

type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>

function encoded(parameters: Parameters): string {
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    [value ?? []].flat().map(each => [name, each] as [string, string]),
  )
  return new URLSearchParams(pairs).toString()
}

/** A code of ada for an application, without the pages. */
function codeFor({ client }: { readonly client: Client }, more: Parameters = {}): Promise<string> {
  const { challenge, redirectUri = '' } = more
  return accounts.tokens.issueCode({
    client: client.id,
    user: ada.id,
    redirectUri: String(redirectUri),
    scope: 'all',
    challenge: challenge === undefined ? null : String(challenge),
  })
}

const token = (parameters: Parameters, headers: Record<string, string> = {}, path = '/oauth2/token/') =>
  new Browser(http).post(path, encoded(parameters), headers)

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
})

const own = { client_id: confidential.client.id, client_secret: confidential.secret }

t.test('an authorization that nobody can be trusted with leads nowhere', async t => {
  const good = { response_type: 'code', client_id: confidential.client.id, redirect_uri: CALLBACK }
  const redirects = [
    `${CALLBACK}&more=1`,
    `${CALLBACK}/`,
    `${CALLBACK}#fragment`,
    `${CALLBACK}x`,
    CALLBACK.slice(0, -1),
    'https://app.example/cb',
    'https://app.example/',
    'https://APP.example/cb?from=lodestone',
    'HTTPS://app.example/cb?from=lodestone',
    'https://app.example/CB?from=lodestone',
    'https://app.example/%63b?from=lodestone',
    'https://app.example/x/%2e%2e/cb?from=lodestone',
    'https://app.example/x/../cb?from=lodestone',
    'https://app.example//cb?from=lodestone',
    'https://app.example:443/cb?from=lodestone',
    'https://app.example:8443/cb?from=lodestone',
    'https://app.example.evil.example/cb?from=lodestone',
    'https://app.example@evil.example/cb?from=lodestone',
    'https://evil.example/cb?from=lodestone',
    'https://evil.example/https://app.example/cb?from=lodestone',
    'http://app.example/cb?from=lodestone',
    '//app.example/cb?from=lodestone',
    '/cb',
    'https://app.example/cb?from=lodestone\u0000',
    ' https://app.example/cb?from=lodestone',
    'https://app.example\\@evil.example/cb?from=lodestone',
    'javascript:alert(1)',
    'data:text/html,x',
  ]
  const rows: readonly (readonly [string, Parameters])[] = [
    ['no client', { ...good, client_id: undefined }],
    ['an empty client', { ...good, client_id: '' }],
    ['an unknown client', { ...good, client_id: 'nobody' }],
    ['two clients', { ...good, client_id: [confidential.client.id, 'other'] }],
    ['two addresses', { ...good, redirect_uri: [CALLBACK, 'https://evil.example'] }],
    ['an address of another', { ...good, redirect_uri: 'https://map.example/cb' }],
    ['no address of several', { response_type: 'code', client_id: several.client.id }],
    [
      'a wrong address and a wrong type',
      { ...good, redirect_uri: 'https://evil.example', response_type: 'x' },
    ],
    ...redirects.map(uri => [uri, { ...good, redirect_uri: uri }] as const),
  ]
  for (const [name, parameters] of rows)
    for (const who of [browser, new Browser(http)]) {
      const { statusCode, headers } = await who.get(`/oauth2/authorize/?${encoded(parameters)}`)
      t.match([statusCode, headers.location, headers['content-type']], [400, undefined, /^text\/html/], name)
    }
})

t.test('an application is told what is wrong with its request', async t => {
  const good = {
    response_type: 'code',
    client_id: confidential.client.id,
    redirect_uri: CALLBACK,
    state: 'a b&c',
  }
  const pub = {
    response_type: 'code',
    client_id: open.client.id,
    redirect_uri: 'https://map.example/cb',
    code_challenge: S256,
    code_challenge_method: 'S256',
  }
  const rows: readonly (readonly [string, Parameters, string])[] = [
    ['no response type', { ...good, response_type: undefined }, 'invalid_request'],
    ['an empty response type', { ...good, response_type: '' }, 'invalid_request'],
    ['a token at once', { ...good, response_type: 'token' }, 'unsupported_response_type'],
    ['a code and a token', { ...good, response_type: 'code token' }, 'unsupported_response_type'],
    ['CODE', { ...good, response_type: 'CODE' }, 'unsupported_response_type'],
    ['a property of objects', { ...good, response_type: 'constructor' }, 'unsupported_response_type'],
    ['two types', { ...good, response_type: ['code', 'code'] }, 'invalid_request'],
    ['two scopes', { ...good, scope: ['all', 'all'] }, 'invalid_request'],
    ['another scope', { ...good, scope: 'admin' }, 'invalid_scope'],
    ['one more scope', { ...good, scope: 'all admin' }, 'invalid_scope'],
    ['another scope by the other name', { ...good, scopes: 'read' }, 'invalid_scope'],
    ['two states', { ...good, state: ['a', 'b'] }, 'invalid_request'],
    ['a long state', { ...good, state: 'x'.repeat(5000) }, 'invalid_request'],
    ['a short challenge', { ...good, code_challenge: 'x'.repeat(42) }, 'invalid_request'],
    ['a long challenge', { ...good, code_challenge: 'x'.repeat(129) }, 'invalid_request'],
    ['a challenge of other letters', { ...good, code_challenge: `${'x'.repeat(43)}=` }, 'invalid_request'],
    ['another method', { ...good, code_challenge: S256, code_challenge_method: 'S512' }, 'invalid_request'],
    ['a plain method', { ...pub, code_challenge_method: 'plain' }, 'invalid_request'],
    ['a challenge without a method', { ...pub, code_challenge_method: undefined }, 'invalid_request'],
    ['s256', { ...good, code_challenge: S256, code_challenge_method: 's256' }, 'invalid_request'],
    ['a method alone', { ...good, code_challenge_method: 'S256' }, 'invalid_request'],
    ['two challenges', { ...good, code_challenge: [S256, S256] }, 'invalid_request'],
    [
      'a public client without PKCE',
      { ...pub, code_challenge: undefined, code_challenge_method: undefined },
      'invalid_request',
    ],
    ['a public client with an empty challenge', { ...pub, code_challenge: '' }, 'invalid_request'],
    ['a hash that is none', { ...pub, code_challenge: 'x'.repeat(50) }, 'invalid_request'],
  ]
  for (const [name, parameters, error] of rows) {
    const { statusCode, headers } = await browser.get(`/oauth2/authorize/?${encoded(parameters)}`)
    const { origin, searchParams } = new URL(String(headers.location))
    const expected = new URL(String(parameters.redirect_uri)).origin
    t.same([statusCode, origin, searchParams.get('error')], [302, expected, error], name)
    t.ok(searchParams.get('error_description'), name)
    const echoed = parameters.state === good.state ? good.state : null
    t.equal(searchParams.get('state'), echoed, `${name}: the state`)
    t.equal(searchParams.get('code'), null)
    t.equal(searchParams.get('iss'), base, `${name}: who says so (RFC 9207)`)
  }
  const quiet = {
    ...good,
    request: 'x.y.z',
    nonce: '1',
    prompt: 'none',
    max_age: '0',
    response_mode: 'fragment',
  }
  t.match(
    await browser.get(`/oauth2/authorize/?${encoded(quiet)}`),
    { statusCode: 200 },
    'others are passed over',
  )
})

t.test('a person decides, once for an application that can prove who it is', async t => {
  const person = new Browser(http)
  const parameters = {
    client_id: confidential.client.id,
    response_type: 'code',
    state: 'é "1"',
    scope: 'all',
  }
  const url = `/oauth2/authorize/?${encoded(parameters)}`
  const toLogin = await person.get(url)
  t.equal(toLogin.statusCode, 303)
  const login = await person.get(String(toLogin.headers.location))
  t.match(login.headers['content-security-policy'], /form-action 'self' https:; /, 'the sign-in may lead on')
  const back = await person.submit(login, { username: 'bob', password: PASSWORD })
  t.equal(back.statusCode, 303)
  const page = await person.get(String(back.headers.location))
  t.equal(page.statusCode, 200)
  t.match(page.headers, {
    'x-frame-options': 'DENY',
    'content-security-policy': /form-action 'self' https:; frame-ancestors 'none'/,
  })
  for (const text of [
    'Let Field notes act for you',
    '<dd>ada</dd>',
    'Confidential',
    'https://app.example/cb?from=lodestone',
  ])
    t.ok(page.body.includes(text), text)
  const denied = await person.submit(page, { decision: 'deny' })
  const refusal = new URL(String(denied.headers.location))
  t.same(
    [denied.statusCode, refusal.searchParams.get('error'), refusal.searchParams.get('state')],
    [302, 'access_denied', 'é "1"'],
  )
  t.equal(refusal.searchParams.get('iss'), base)
  const allowed = await person.submit(page, { decision: 'allow' })
  const location = String(allowed.headers.location)
  t.ok(location.startsWith(`${CALLBACK}&code=`), 'the address stays as it was registered')
  t.match([allowed.statusCode, new URL(location).searchParams.get('code')], [302, /^[A-Za-z0-9]{30}$/])
  t.equal(new URL(location).searchParams.get('state'), 'é "1"')
  t.equal(new URL(location).searchParams.get('iss'), base)
  const again = await person.get(url)
  t.match(
    [again.statusCode, again.headers.location],
    [302, /^https:\/\/app\.example\/cb\?from=lodestone&code=/],
  )
  const authorizations = await person.get('/account/authorizations/')
  t.match(authorizations.body, /Field notes/)
  t.equal((await person.submit(authorizations, { client: confidential.client.id })).statusCode, 303)
  t.equal((await person.get(url)).statusCode, 200, 'who withdrew is asked again')
  const pub = encoded({
    client_id: open.client.id,
    redirect_uri: 'https://map.example/cb',
    response_type: 'code',
    code_challenge: S256,
    code_challenge_method: 'S256',
  })
  for (const _ of [1, 2]) {
    const requested = await person.get(`/oauth2/authorize/?${pub}`)
    t.equal(requested.statusCode, 200, 'for a public client a person is asked each time')
    t.equal((await person.submit(requested, { decision: 'allow' })).statusCode, 302)
  }
})

t.test('an application on the own machine may listen on any port (RFC 8252, section 7.3)', async t => {
  const uris = [
    'http://127.0.0.1/cb?x=1',
    'http://[::1]:7000/cb',
    'http://localhost:7000',
    'https://app.example:444/cb',
  ]
  const native = await register('Native', 'public', ...uris)
  const person = new Browser(http)
  await person.logIn('bob')
  const rows: readonly (readonly [string, boolean])[] = [
    ['http://127.0.0.1/cb?x=1', true],
    ['http://127.0.0.1:1/cb?x=1', true],
    ['http://127.0.0.1:65535/cb?x=1', true],
    ['http://[::1]/cb', true],
    ['http://[::1]:51004/cb', true],
    ['http://localhost:51004', true],
    ['http://127.0.0.1:0/cb?x=1', false],
    ['http://127.0.0.1:65536/cb?x=1', false],
    ['http://127.0.0.1:8080/cb', false],
    ['http://127.0.0.1:8080/cb?x=1&y=2', false],
    ['http://127.0.0.1:8080/other?x=1', false],
    ['http://127.0.0.1:8080@evil.example/cb?x=1', false],
    ['http://127.0.0.1:8080.evil.example/cb?x=1', false],
    ['http://127.0.0.2:8080/cb?x=1', false],
    ['http://127.0.0.1.evil.example/cb?x=1', false],
    ['http://localhost:8080/cb', false],
    ['http://[::1]:/cb', false],
    ['https://127.0.0.1:8080/cb?x=1', false],
    ['https://app.example:445/cb', false],
    ['https://app.example/cb', false],
  ]
  for (const [redirect_uri, isTaken] of rows) {
    const verifier = openid.randomPKCECodeVerifier()
    const requested = await person.get(
      `/oauth2/authorize/?${encoded({
        client_id: native.client.id,
        redirect_uri,
        response_type: 'code',
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })}`,
    )
    t.equal(requested.statusCode, isTaken ? 200 : 400, redirect_uri)
    if (!isTaken) continue
    t.match(requested.headers['content-security-policy'], /form-action 'self' http:/)
    const allowed = await person.submit(requested, { decision: 'allow' })
    const location = String(allowed.headers.location)
    t.ok(location.startsWith(redirect_uri), `${redirect_uri}: ${location}`)
    const code = new URL(location).searchParams.get('code') ?? ''
    const grant = { grant_type: 'authorization_code', client_id: native.client.id, code_verifier: verifier }
    const answer = await token({ ...grant, code, redirect_uri })
    t.equal(answer.statusCode, 200, `${redirect_uri}: a token`)
    const other = await token({
      ...grant,
      code,
      redirect_uri: redirect_uri.replace(/(\]|1|t)(:\d+)?/, '$1:9'),
    })
    t.equal(other.statusCode, 400, 'for that port alone')
  }
})

t.test('nobody else decides for a person', async t => {
  const parameters = { client_id: confidential.client.id, response_type: 'code' }
  const page = await browser.get(`/oauth2/authorize/?${encoded(parameters)}`)
  const issued = async () => (await accounts.tokens.consents(ada.id)).length
  const before = await issued()
  const decide = { ...parameters, decision: 'allow' }
  const foreign = new Browser(http)
  await foreign.logIn('bob')
  const bobs =
    /name="form_token" value="([^"]*)"/.exec((await foreign.get('/account/password/')).body)?.[1] ?? ''
  for (const [name, response, status] of [
    ['without a token', await browser.post('/oauth2/authorize/', decide), 403],
    [
      'with the token of another',
      await browser.post('/oauth2/authorize/', { ...decide, form_token: bobs }),
      403,
    ],
    [
      'from elsewhere',
      await browser.submit(page, { decision: 'allow' }, { origin: 'https://evil.example' }),
      403,
    ],
    ['by GET', await browser.get(`/oauth2/authorize/?${encoded(decide)}`), 200],
    ['without a decision', await browser.submit(page, { decision: 'perhaps' }), 400],
    ['who is not signed in', await new Browser(http).post('/oauth2/authorize/', decide), 303],
  ] as const) {
    t.equal(response.statusCode, status, name)
    t.notMatch(String(response.headers.location), /code=/, name)
  }
  t.equal(await issued(), before)
  const form_token = /name="form_token" value="([^"]*)"/.exec(page.body)?.[1] ?? ''
  const moved = await browser.post('/oauth2/authorize/', {
    ...decide,
    form_token,
    redirect_uri: 'https://evil.example',
  })
  t.match([moved.statusCode, moved.headers.location], [400, undefined], 'the form is read anew')
})

type Refused = readonly [
  name: string,
  parameters: Parameters,
  headers: Record<string, string>,
  status: number,
  error: string,
]

/** What the token endpoint refuses (RFC 6749, section 5.2). */
async function refusedRequests(): Promise<readonly Refused[]> {
  const { client_id, client_secret } = own
  const code = () => codeFor(confidential)
  const grant = { grant_type: 'authorization_code' }
  const pub = { ...grant, client_id: open.client.id }
  const challenged = (more: Parameters = {}) => codeFor(open, { challenge: S256, ...more })
  const other = { client_id: several.client.id, client_secret: several.secret }
  const at = 'https://app.example/a'
  return [
    ['nothing', {}, {}, 401, 'invalid_client'],
    ['no credentials', { ...grant, code: await code() }, {}, 401, 'invalid_client'],
    ['no secret', { ...grant, client_id, code: await code() }, {}, 401, 'invalid_client'],
    [
      'an empty secret',
      { ...grant, client_id, client_secret: '', code: await code() },
      {},
      401,
      'invalid_client',
    ],
    [
      'a wrong secret',
      { ...grant, client_id, client_secret: 'wrong', code: await code() },
      {},
      401,
      'invalid_client',
    ],
    [
      'an unknown client',
      { ...grant, client_id: 'nobody', client_secret, code: await code() },
      {},
      401,
      'invalid_client',
    ],
    [
      'the secret of another',
      { ...grant, client_id, client_secret: several.secret, code: await code() },
      {},
      401,
      'invalid_client',
    ],
    [
      'a wrong secret by Basic',
      { ...grant, code: await code() },
      basic(client_id, 'wrong'),
      401,
      'invalid_client',
    ],
    ['no secret by Basic', { ...grant, code: await code() }, basic(client_id, ''), 401, 'invalid_client'],
    ['broken Basic', { ...grant, code: await code() }, { authorization: 'Basic !!' }, 401, 'invalid_client'],
    [
      'Basic without a colon',
      { ...grant, code: await code() },
      { authorization: `Basic ${btoa('abc')}` },
      401,
      'invalid_client',
    ],
    [
      'a bearer token',
      { ...grant, code: await code() },
      { authorization: 'Bearer x' },
      401,
      'invalid_client',
    ],
    [
      'both ways',
      { ...grant, ...own, code: await code() },
      basic(client_id, client_secret),
      400,
      'invalid_request',
    ],
    [
      'two names',
      { ...grant, client_id: 'x', code: await code() },
      basic(client_id, client_secret),
      400,
      'invalid_request',
    ],
    ['no grant type', { ...own, code: await code() }, {}, 400, 'invalid_request'],
    ['another grant type', { ...own, grant_type: 'implicit' }, {}, 400, 'unsupported_grant_type'],
    [
      'passwords',
      { ...own, grant_type: 'password', username: 'ada', password: PASSWORD },
      {},
      400,
      'unsupported_grant_type',
    ],
    ['client credentials', { ...own, grant_type: 'client_credentials' }, {}, 400, 'unsupported_grant_type'],
    ['a property of objects', { ...own, grant_type: 'constructor' }, {}, 400, 'unsupported_grant_type'],
    [
      'two grant types',
      { ...own, grant_type: ['authorization_code', 'refresh_token'], code: await code() },
      {},
      400,
      'invalid_request',
    ],
    ['two codes', { ...own, ...grant, code: [await code(), await code()] }, {}, 400, 'invalid_request'],
    [
      'two secrets',
      { ...grant, client_id, client_secret: [client_secret, client_secret], code: await code() },
      {},
      400,
      'invalid_request',
    ],
    ['anything twice', { ...own, ...grant, code: await code(), any: ['a', 'b'] }, {}, 400, 'invalid_request'],
    ['no code', { ...own, ...grant }, {}, 400, 'invalid_request'],
    ['an unknown code', { ...own, ...grant, code: 'x'.repeat(30) }, {}, 400, 'invalid_grant'],
    ['a long code', { ...own, ...grant, code: 'x'.repeat(3000) }, {}, 400, 'invalid_grant'],
    ['a code with odd letters', { ...own, ...grant, code: 'é\n' }, {}, 400, 'invalid_request'],
    ['a code of another', { ...other, ...grant, code: await code() }, {}, 400, 'invalid_grant'],
    ['another scope', { ...own, ...grant, code: await code(), scope: 'admin' }, {}, 400, 'invalid_scope'],
    [
      'another scope, plural',
      { ...own, ...grant, code: await code(), scopes: 'admin' },
      {},
      400,
      'invalid_scope',
    ],
    [
      'no redirect URI',
      { ...own, ...grant, code: await codeFor(confidential, { redirectUri: CALLBACK }) },
      {},
      400,
      'invalid_grant',
    ],
    [
      'another redirect URI',
      {
        ...own,
        ...grant,
        code: await codeFor(confidential, { redirectUri: CALLBACK }),
        redirect_uri: `${CALLBACK}&x`,
      },
      {},
      400,
      'invalid_grant',
    ],
    [
      'another of its redirect URIs',
      {
        ...other,
        ...grant,
        code: await codeFor(several, { redirectUri: at }),
        redirect_uri: 'http://localhost:5000/b',
      },
      {},
      400,
      'invalid_grant',
    ],
    [
      'a redirect URI out of nowhere',
      { ...own, ...grant, code: await code(), redirect_uri: 'https://evil.example' },
      {},
      400,
      'invalid_grant',
    ],
    [
      'a verifier without a challenge',
      { ...own, ...grant, code: await code(), code_verifier: VERIFIER },
      {},
      400,
      'invalid_grant',
    ],
    [
      'no verifier',
      { ...own, ...grant, code: await codeFor(confidential, { challenge: S256 }) },
      {},
      400,
      'invalid_grant',
    ],
    ['no verifier of a public client', { ...pub, code: await challenged() }, {}, 400, 'invalid_grant'],
    [
      'a wrong verifier',
      { ...pub, code: await challenged(), code_verifier: `${VERIFIER}x` },
      {},
      400,
      'invalid_grant',
    ],
    [
      'the challenge as verifier',
      { ...pub, code: await challenged(), code_verifier: S256 },
      {},
      400,
      'invalid_grant',
    ],
    [
      'the challenge, and the method once more',
      { ...pub, code: await challenged(), code_verifier: S256, code_challenge_method: 'plain' },
      {},
      400,
      'invalid_grant',
    ],
    [
      'a short verifier',
      { ...pub, code: await challenged(), code_verifier: 'short' },
      {},
      400,
      'invalid_grant',
    ],
    [
      'a long verifier',
      { ...pub, code: await challenged(), code_verifier: 'x'.repeat(129) },
      {},
      400,
      'invalid_grant',
    ],
    [
      'a wrong secret of a public client',
      { ...pub, client_secret: 'wrong', code: await challenged(), code_verifier: VERIFIER },
      {},
      401,
      'invalid_client',
    ],
    [
      'a public client with the code of another',
      { ...pub, code: await code(), code_verifier: VERIFIER },
      {},
      400,
      'invalid_grant',
    ],
    ['no refresh token', { ...own, grant_type: 'refresh_token' }, {}, 400, 'invalid_request'],
    [
      'an unknown refresh token',
      { ...own, grant_type: 'refresh_token', refresh_token: 'x' },
      {},
      400,
      'invalid_grant',
    ],
    [
      'a code as refresh token',
      { ...own, grant_type: 'refresh_token', refresh_token: await code() },
      {},
      400,
      'invalid_grant',
    ],
  ]
}

t.test('the token endpoint refuses as RFC 6749 says', async t => {
  const rows = await refusedRequests()
  t.ok(rows.length >= 40)
  for (const [name, parameters, headers, status, error] of rows) {
    const response = await token(parameters, headers)
    const { error: found, error_description: text } = response.json()
    t.same([response.statusCode, found], [status, error], name)
    t.match(text, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, `${name}: ${text}`)
    t.match(response.headers, {
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'access-control-allow-origin': '*',
    })
    t.equal(response.headers['www-authenticate'] !== undefined, status === 401, name)
    t.notOk(response.body.includes(own.client_secret))
  }
})

t.test('the token endpoint reads forms alone, and no address', async t => {
  const grant = { ...own, grant_type: 'authorization_code' }
  const code = () => codeFor(confidential)
  for (const [name, type, body] of [
    ['JSON', 'application/json', JSON.stringify({ ...grant, code: await code() })],
    ['text', 'text/plain', encoded({ ...grant, code: await code() })],
    ['broken', 'application/x-www-form-urlencoded', 'client_id=%zz'],
    ['long', 'application/x-www-form-urlencoded', `code=${'x'.repeat(17_000)}`],
  ] as const) {
    const response = await new Browser(http).post('/oauth2/token/', body, { 'content-type': type })
    t.match([response.statusCode, response.json().error], [400, 'invalid_request'], name)
  }
  const query = encoded({ ...grant, code: await code() })
  t.equal(
    (await http.inject({ method: 'POST', url: `/oauth2/token/?${query}` })).statusCode,
    401,
    'not in the address',
  )
  t.equal((await http.inject({ url: `/oauth2/token/?${query}` })).statusCode, 405)
})

t.test('tokens are given for a code, by the body and by Basic', async t => {
  const grant = { grant_type: 'authorization_code' }
  const pub = { ...grant, client_id: open.client.id, code_verifier: VERIFIER }
  const coded = basic(own.client_id, own.client_secret)
  for (const [name, parameters, headers] of [
    ['by the body', { ...own, ...grant, code: await codeFor(confidential), state: 'a b', scopes: 'all' }, {}],
    ['by Basic', { ...grant, code: await codeFor(confidential), state: 'a b' }, coded],
    [
      'by Basic and the name',
      { ...grant, client_id: own.client_id, code: await codeFor(confidential), state: 'a b' },
      { authorization: coded.authorization.replace('Basic', 'bAsIc') },
    ],
    [
      'with its redirect URI',
      {
        ...own,
        ...grant,
        code: await codeFor(confidential, { redirectUri: CALLBACK }),
        redirect_uri: CALLBACK,
        state: 'a b',
      },
      {},
    ],
    [
      'with PKCE',
      {
        ...own,
        ...grant,
        code: await codeFor(confidential, { challenge: S256 }),
        code_verifier: VERIFIER,
        state: 'a b',
      },
      {},
    ],
    ['a public client', { ...pub, code: await codeFor(open, { challenge: S256 }), state: 'a b' }, {}],
    [
      'a public client with its secret',
      { ...pub, client_secret: open.secret, code: await codeFor(open, { challenge: S256 }), state: 'a b' },
      {},
    ],
    ['without a slash', { ...own, ...grant, code: await codeFor(confidential), state: 'a b' }, {}],
  ] as const) {
    const response = await token(
      parameters,
      headers,
      name === 'without a slash' ? '/oauth2/token' : undefined,
    )
    const { access_token, refresh_token, ...rest } = response.json()
    t.same(
      [response.statusCode, rest],
      [200, { expires_in: 3600, token_type: 'Bearer', state: 'a b', scope: 'all' }],
      name,
    )
    t.match(await accounts.tokens.principal(access_token), { name: 'ada', by: 'token' }, name)
    t.type(refresh_token, 'string')
    t.match(response.headers, {
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'content-type': /^application\/json/,
    })
  }
  t.notHas((await token({ ...own, ...grant, code: await codeFor(confidential) })).json(), { state: String })
})

t.test('a code serves once, and what it gave ends when it comes again', async t => {
  const grant = { ...own, grant_type: 'authorization_code' }
  const code = await codeFor(confidential)
  const first = (await token({ ...grant, code })).json()
  t.ok(await accounts.tokens.principal(first.access_token))
  t.match(await token({ ...grant, code }), { statusCode: 400, body: /invalid_grant/ })
  t.equal(await accounts.tokens.principal(first.access_token), null)
  const refresh = { ...own, grant_type: 'refresh_token', refresh_token: first.refresh_token }
  t.match(await token(refresh), { statusCode: 400, body: /invalid_grant/ })
  const raced = await codeFor(confidential)
  const answers = await Promise.all(Array.from({ length: 20 }, () => token({ ...grant, code: raced })))
  t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1, 'one of twenty')
  const guessed = await codeFor(open, { challenge: S256 })
  const pub = { client_id: open.client.id, grant_type: 'authorization_code', code: guessed }
  t.equal((await token({ ...pub, code_verifier: 'y'.repeat(43) })).statusCode, 400)
  t.equal(
    (await token({ ...pub, code_verifier: VERIFIER })).statusCode,
    400,
    'a wrong verifier spends the code',
  )
  const stolen = await codeFor(confidential)
  t.equal(
    (await token({ ...grant, client_id: several.client.id, client_secret: several.secret, code: stolen }))
      .statusCode,
    400,
  )
  t.equal((await token({ ...grant, code: stolen })).statusCode, 200, 'another client cannot spend it')
})

t.test('a refresh token serves once', async t => {
  const refresh = (refresh_token: string, who: Parameters = own) =>
    token({ ...who, grant_type: 'refresh_token', refresh_token, scopes: 'all', state: 'z' })
  const first = (
    await token({ ...own, grant_type: 'authorization_code', code: await codeFor(confidential) })
  ).json()
  const second = await refresh(first.refresh_token)
  t.match(second.json(), { expires_in: 3600, token_type: 'Bearer', state: 'z', scope: 'all' })
  t.not(second.json().refresh_token, first.refresh_token)
  t.ok(await accounts.tokens.principal(second.json().access_token))
  const other = { client_id: several.client.id, client_secret: several.secret }
  t.equal((await refresh(second.json().refresh_token, other)).statusCode, 400, 'of another client')
  const third = await refresh(second.json().refresh_token)
  t.equal(third.statusCode, 200, 'which does not spend it')
  t.match(await refresh(first.refresh_token), { statusCode: 400, body: /invalid_grant/ }, 'reuse')
  for (const { access_token } of [first, second.json(), third.json()])
    t.equal(await accounts.tokens.principal(access_token), null, 'ends all of the family')
  t.equal((await refresh(third.json().refresh_token)).statusCode, 400)
  const raced = (
    await token({ ...own, grant_type: 'authorization_code', code: await codeFor(confidential) })
  ).json()
  const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(raced.refresh_token)))
  t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1, 'one of twenty')
  const wider = (
    await token({ ...own, grant_type: 'authorization_code', code: await codeFor(confidential) })
  ).json()
  const requested = { ...own, grant_type: 'refresh_token', refresh_token: wider.refresh_token }
  t.match(await token({ ...requested, scope: 'all admin' }), { statusCode: 400, body: /invalid_scope/ })
  t.equal((await token(requested)).statusCode, 200, 'a wrong scope does not spend it')
})

t.test('tokens are revoked', async t => {
  const give = async () =>
    (await token({ ...own, grant_type: 'authorization_code', code: await codeFor(confidential) })).json()
  const revoke = (parameters: Parameters) => token(parameters, {}, '/oauth2/revoke/')
  const [first, second] = [await give(), await give()]
  t.equal((await revoke({ ...own, token: first.access_token })).statusCode, 200)
  t.equal(await accounts.tokens.principal(first.access_token), null)
  t.equal((await revoke({ ...own, token: second.refresh_token, token_type_hint: 'odd' })).statusCode, 200)
  t.equal(await accounts.tokens.principal(second.access_token), null)
  t.equal((await revoke({ ...own, token: 'unknown' })).statusCode, 200)
  t.match(await revoke({ ...own }), { statusCode: 400, body: /invalid_request/ })
  t.match(await revoke({ ...own, client_secret: 'wrong', token: 'x' }), {
    statusCode: 401,
    body: /invalid_client/,
  })
  const third = await give()
  const other = { client_id: several.client.id, client_secret: several.secret }
  t.equal((await revoke({ ...other, token: third.access_token })).statusCode, 200)
  t.ok(await accounts.tokens.principal(third.access_token), 'not of another client')
})

t.test('a client is told what its tokens are worth', async t => {
  const give = async () =>
    (await token({ ...own, grant_type: 'authorization_code', code: await codeFor(confidential) })).json()
  const inspect = async (parameters: Parameters) => token(parameters, {}, '/oauth2/introspect/')
  const { access_token, refresh_token } = await give()
  const about = { active: true, client_id: own.client_id, scope: 'all', username: String, sub: /^\d+$/ }
  const access = await inspect({ ...own, token: access_token })
  t.match(access.json(), { ...about, token_type: 'Bearer', exp: Number })
  t.equal(access.headers['cache-control'], 'no-store')
  t.match((await inspect({ ...own, token: refresh_token, token_type_hint: 'access_token' })).json(), about)
  const other = { client_id: several.client.id, client_secret: several.secret }
  t.same((await inspect({ ...other, token: access_token })).json(), { active: false }, 'nothing of others')
  t.same((await inspect({ ...own, token: 'unknown' })).json(), { active: false })
  t.match(await inspect({ client_id: open.client.id, token: access_token }), { statusCode: 401 })
  t.match(await inspect({ token: access_token }), { statusCode: 401, body: /invalid_client/ })
  t.match(await inspect({ ...own }), { statusCode: 400, body: /invalid_request/ })
  await token({ ...own, token: access_token }, {}, '/oauth2/revoke/')
  for (const each of [access_token, refresh_token])
    t.same((await inspect({ ...own, token: each })).json(), { active: false }, 'revoked')
})

t.test('what is kept expires', async t => {
  const code = await codeFor(confidential)
  const given = (
    await token({ ...own, grant_type: 'authorization_code', code: await codeFor(confidential) })
  ).json()
  server.wait(3600_000 - 60_000)
  t.ok(await accounts.tokens.principal(given.access_token))
  server.wait(61_000)
  t.equal(await accounts.tokens.principal(given.access_token), null, 'a token after an hour')
  t.match(await token({ ...own, grant_type: 'authorization_code', code }), {
    statusCode: 400,
    body: /invalid_grant/,
  })
  t.equal(
    (await token({ ...own, grant_type: 'refresh_token', refresh_token: given.refresh_token })).statusCode,
    200,
  )
})

t.test('secrets of applications are not guessed', async t => {
  const { client, secret } = await register('Guessed', 'confidential', 'https://app.example/g')
  const from = { 'x-address': '203.0.113.9' }
  const guess = (client_secret: string, headers = from) =>
    token({ client_id: client.id, client_secret, grant_type: 'authorization_code', code: 'x' }, headers)
  const answers = []
  for (let each = 0; each < 100; each++) answers.push(await guess(`guess ${each}`))
  t.equal(answers.filter(({ statusCode }) => statusCode === 401).length, 20)
  t.match(answers.at(-1), { statusCode: 429, headers: { 'retry-after': /^\d+$/ }, body: /invalid_client/ })
  t.equal((await guess(secret)).statusCode, 429, 'not even the right one')
  t.match(await guess(secret, { 'x-address': '203.0.113.10' }), { statusCode: 400, body: /invalid_grant/ })
})

t.test('an OAuth library finds everything and gets its tokens', async t => {
  const visitor = new Browser(http)
  await visitor.logIn('bob')
  const insecure = { execute: [openid.allowInsecureRequests], algorithm: 'oauth2' as const }
  const library = await register('Library', 'confidential', 'https://lib.example/cb')
  const rows = [
    ['client_secret_basic', library, 'https://lib.example/cb', openid.ClientSecretBasic(library.secret)],
    ['client_secret_post', several, 'http://localhost:5000/b', openid.ClientSecretPost(several.secret)],
    ['none', open, 'https://map.example/cb', openid.None()],
  ] as const
  for (const [name, { client }, redirect_uri, authentication] of rows) {
    const config = await openid.discovery(new URL(base), client.id, {}, authentication, insecure)
    const verifier = openid.randomPKCECodeVerifier()
    const state = openid.randomState()
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri,
      scope: 'all',
      state,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    const requested = await visitor.get(url.pathname + url.search)
    const { headers } =
      requested.statusCode === 302 ? requested : await visitor.submit(requested, { decision: 'allow' })
    const callback = new URL(String(headers.location))
    const tokens = await openid.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    })
    t.match(tokens, { token_type: 'bearer', expires_in: 3600, scope: 'all' }, name)
    t.match(await accounts.tokens.principal(tokens.access_token), { name: 'bob' }, name)
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
    t.match(await accounts.tokens.principal(refreshed.access_token), { name: 'bob' }, name)
    await openid.tokenRevocation(config, refreshed.access_token)
    t.equal(await accounts.tokens.principal(refreshed.access_token), null, name)
    await t.rejects(
      openid.refreshTokenGrant(config, refreshed.refresh_token ?? ''),
      { name: 'ResponseBodyError' },
      name,
    )
  }
})
