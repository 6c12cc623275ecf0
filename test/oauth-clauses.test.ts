import { createHash } from 'node:crypto'
import t from 'tap'
import { accountServer, Browser, PASSWORD } from './support/account-server.ts'

/**
 * Clauses of RFC 6749, 7636, 9700, 8414 and 9207 that oauth.test.ts has no row for: what answers carry besides their error
 * codes, and what must not be offered at all.
 */
const BASE = 'https://portal.test'
const CALLBACK = 'https://app.example/cb'
/** The example of RFC 7636, appendix B. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

t.test('clauses of the OAuth recommendations hold', async t => {
  const server = await accountServer(BASE, { place: null })
  t.teardown(() => server.close())
  const { accounts, http } = server
  const ada = await accounts.users.add('ada', PASSWORD)
  const register = (type: 'public' | 'confidential') =>
    accounts.clients.register({ name: type, owner: 'ada', type, redirectUris: [CALLBACK] })
  const [app, map] = [await register('confidential'), await register('public')]
  const ada1 = new Browser(http)
  await ada1.logIn('ada')
  const authorize = (more: Record<string, string>, browser = ada1) =>
    browser.get(
      `/oauth2/authorize/?${new URLSearchParams({ response_type: 'code', client_id: map.client.id, redirect_uri: CALLBACK, code_challenge: CHALLENGE, code_challenge_method: 'S256', ...more })}`,
    )
  const token = (fields: Record<string, string>, headers = {}) =>
    new Browser(http).post('/oauth2/token/', fields, headers)
  const issue = (client: string, challenge: string | null) =>
    accounts.tokens.issueCode({ client, user: ada.id, redirectUri: '', scope: 'all', challenge })
  const page = await authorize({ state: 's' })
  const decided = await ada1.submit(page, { decision: 'allow' })
  const denied = await ada1.submit(await authorize({ state: 's' }), { decision: 'deny' })
  const [at, not] = [decided, denied].map(({ headers }) => new URL(String(headers.location)).searchParams)
  const metadata = (await http.inject({ url: '/.well-known/oauth-authorization-server' })).json()
  const grant = { grant_type: 'authorization_code' }
  const mine = { client_id: app.client.id, client_secret: app.secret }
  const given = await token({ ...grant, ...mine, code: await issue(app.client.id, null) })
  const refused = await token({ ...grant, code: 'x' }, { authorization: `Basic ${btoa('a:b')}` })
  const used = { ...grant, client_id: map.client.id, code_verifier: VERIFIER, redirect_uri: CALLBACK }
  const redeemed = await token({ ...used, code: at?.get('code') ?? '' })
  const rotated = await token({
    grant_type: 'refresh_token',
    ...mine,
    refresh_token: given.json().refresh_token,
  })
  const get = await http.inject({ url: '/oauth2/token/?grant_type=authorization_code' })
  const signedOut = await authorize({}, new Browser(http))
  const crossed = await ada1.post(
    '/oauth2/authorize/',
    { decision: 'allow' },
    { origin: 'https://evil.example' },
  )
  const plain = await authorize({ code_challenge: VERIFIER, code_challenge_method: 'plain' })
  const policy = String(page.headers['content-security-policy'])
  const raw = await http.inject({ method: 'POST', url: '/oauth2/token/', payload: '' })

  const cases: readonly (readonly [clause: string, holds: boolean, what?: unknown])[] = [
    ['RFC 6749, 3.1: the query of the endpoint is answered by GET', page.statusCode === 200],
    [
      'RFC 6749, 3.1: a parameter without a value is omitted',
      (await authorize({ scope: '' })).statusCode === 200,
    ],
    ['RFC 6749, 3.1: unknown parameters are ignored', (await authorize({ odd: '1' })).statusCode === 200],
    ['RFC 6749, 3.2: the token endpoint takes POST alone', get.statusCode === 405, get.statusCode],
    ['RFC 6749, 4.1.2: the code comes with the state', at?.get('state') === 's' && at.has('code')],
    ['RFC 6749, 4.1.2: no token comes with it', at?.has('access_token') === false],
    [
      'RFC 6749, 4.1.2.1: who denies is told so, with the state',
      not?.get('error') === 'access_denied' && not.get('state') === 's',
    ],
    ['RFC 6749, 5.1: a token type, in JSON', given.json().token_type === 'Bearer'],
    [
      'RFC 6749, 5.1: no-store and no-cache',
      given.headers['cache-control'] === 'no-store' && given.headers.pragma === 'no-cache',
    ],
    [
      'RFC 6749, 5.2: 401 with the scheme that was used',
      refused.statusCode === 401 && /^Basic/.test(String(refused.headers['www-authenticate'])),
    ],
    ['RFC 6749, 5.2: errors are not kept either', refused.headers['cache-control'] === 'no-store'],
    [
      'RFC 6749, 5.2: an empty body is an error, no failure',
      raw.statusCode >= 400 && raw.statusCode < 500,
      raw.statusCode,
    ],
    ['RFC 6749, 10.10: codes have 160 bits and more', (at?.get('code') ?? '').length >= 27],
    [
      'RFC 6749, 10.12: a form of another site decides nothing',
      crossed.statusCode === 403,
      crossed.statusCode,
    ],
    [
      'RFC 6749, 10.13: the page is framed by nobody',
      page.headers['x-frame-options'] === 'DENY' && policy.includes("frame-ancestors 'none'"),
    ],
    ['RFC 6749, 10.13: and runs no script', !policy.includes('script-src')],
    [
      'RFC 6749, 4.1.1: who is not signed in signs in first',
      signedOut.statusCode === 303 && String(signedOut.headers.location).startsWith('/account/login/'),
    ],
    [
      'RFC 7636, 4.2: the challenge of appendix B',
      createHash('sha256').update(VERIFIER).digest('base64url') === CHALLENGE,
    ],
    ['RFC 7636, 4.6: its verifier redeems the code', redeemed.statusCode === 200, redeemed.body],
    [
      'RFC 7636, 4.4.1: plain is refused',
      new URL(String(plain.headers.location)).searchParams.get('error') === 'invalid_request',
    ],
    [
      'RFC 9700, 2.1.1: S256 is told, and no other',
      JSON.stringify(metadata.code_challenge_methods_supported) === '["S256"]',
    ],
    ['RFC 9700, 2.1.2: no implicit grant', JSON.stringify(metadata.response_types_supported) === '["code"]'],
    [
      'RFC 9700, 2.4: no grant by password',
      JSON.stringify([...metadata.grant_types_supported].sort()) === '["authorization_code","refresh_token"]',
    ],
    ['RFC 9700, 2.6: metadata name their issuer', metadata.issuer === BASE],
    ['RFC 9700, 4.2.4: nothing leaks by Referer', page.headers['referrer-policy'] === 'same-origin'],
    ['RFC 9700, 4.2.4: nothing of it is kept', String(page.headers['cache-control']).includes('no-store')],
    [
      'RFC 9700, 4.4.2.1, and RFC 9207: the answer names who gives it',
      at?.get('iss') === BASE && not?.get('iss') === BASE,
    ],
    [
      'RFC 9207, 3: which the metadata tell',
      metadata.authorization_response_iss_parameter_supported === true,
    ],
    [
      'RFC 9700, 4.12: no redirect that sends the form again',
      [302, 303].includes(decided.statusCode),
      decided.statusCode,
    ],
    ['RFC 9700, 4.14.2: refresh tokens rotate', rotated.json().refresh_token !== given.json().refresh_token],
    [
      'RFC 8414, 2: endpoints are below the issuer',
      [metadata.authorization_endpoint, metadata.token_endpoint].every(each =>
        String(each).startsWith(`${BASE}/`),
      ),
    ],
    [
      'RFC 8414, 2: methods of clients',
      ['client_secret_basic', 'client_secret_post', 'none'].every(each =>
        metadata.token_endpoint_auth_methods_supported.includes(each),
      ),
    ],
  ]
  for (const [clause, holds, what] of cases) t.ok(holds, clause, { what })
})
