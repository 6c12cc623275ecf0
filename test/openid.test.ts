import path from 'node:path'
import t, { type Test } from 'tap'
import { signInOf } from '../src/config/derived.ts'
import { accountServer, Browser, formsOf, hiddenFields, PASSWORD, plain } from './support/account-server.ts'
import { temporaryFolder } from './support/folder.ts'
import { type OpenIdAnswers, SmallOpenIdProvider } from './support/openid-provider.ts'

/** Sign-in at a provider of OpenID Connect. */
const BASE = 'https://portal.test'
const HTML = { accept: 'text/html' }

async function portal(t: Test, groups: Record<string, string[]> = {}) {
  const provider = new SmallOpenIdProvider()
  await provider.listen()
  t.teardown(() => provider.close())
  const settings = signInOf(
    { issuer: provider.issuer, client_id: 'lodestone', name: 'The office', groups },
    '/nowhere',
  )
  const server = await accountServer(BASE, { place: null, provider: settings })
  t.teardown(() => server.close())
  /** A sign-in up to the answer of the callback. */
  const signIn = async (answers: OpenIdAnswers = {}, browser = new Browser(server.http), next = '') => {
    provider.answers = answers
    const begun = await browser.get(
      `/account/openid/${next === '' ? '' : `?${new URLSearchParams({ next })}`}`,
    )
    if (begun.statusCode !== 303) return { browser, ended: begun }
    const parameters = provider.respond(String(begun.headers.location))
    const ended = await browser.get(`/account/openid/callback?${parameters}`, HTML)
    return { browser, ended }
  }
  const audit = async () => {
    const found: string[] = []
    for await (const { actor, action, subject } of server.accounts.audit.events(0))
      found.push(`${actor}: ${action} ${subject}`)
    return found
  }
  const grants = async () => (await server.accounts.users.find('ada')).grants
  return { server, provider, signIn, audit, grants }
}

t.test('a person signs in, and groups become grants', async t => {
  const { server, signIn, audit, grants } = await portal(t, {
    staff: ['reader'],
    press: ['publish:trees', 'ods-api-monitoring'],
  })
  const { ended, browser } = await signIn({ claims: { groups: ['staff', 'press'] } }, undefined, '/explore/')
  t.match(ended, { statusCode: 303, headers: { location: '/explore/' } })
  t.equal((await browser.get('/account/')).statusCode, 200)
  t.same(await grants(), ['*', 'ods-api-monitoring', 'publish:trees'])
  await server.accounts.users.grant('ada', 'elms')
  await server.accounts.users.grant('ada', '*')
  await signIn({ claims: { groups: [] } })
  t.same(await grants(), ['*', 'elms'], 'what was given by hand stays')
  t.ok((await audit()).includes('ada: signed in by The office'))
})

t.test('the language of the sign-in page comes back from the provider', async t => {
  const { server, signIn } = await portal(t)
  const pages = [
    ['?lang=fr', '/account/?lang=fr'],
    ['?lang=fr&next=/explore/', '/explore/'],
    ['', null],
  ] as const
  for (const [query, next] of pages) {
    const { body } = await new Browser(server.http).get(`/account/login/${query}`)
    const target = next === null ? '' : `?${new URLSearchParams({ next })}`
    t.match(body, `href="/account/openid/${target}"`, query)
  }
  t.equal((await signIn({}, undefined, '/account/?lang=fr')).ended.headers.location, '/account/?lang=fr')
})

t.test('a person signs in in two tabs at once', async t => {
  const { server, provider } = await portal(t)
  const browser = new Browser(server.http)
  const begin = async (next: string) => {
    const { headers } = await browser.get(`/account/openid/?${new URLSearchParams({ next })}`)
    return String(headers.location)
  }
  const [one, other] = [await begin('/explore/'), await begin('/explore/?q=elms')]
  const end = async (begun: string) =>
    (await browser.get(`/account/openid/callback?${provider.respond(begun)}`, HTML)).headers.location
  t.same([await end(one), await end(other)], ['/explore/', '/explore/?q=elms'])
  const stranger = new Browser(server.http)
  const url = `/account/openid/callback?${provider.respond(one)}`
  t.equal((await stranger.get(url, HTML)).statusCode, 403, 'another browser is not signed in')
  const evil = Buffer.from('//evil.example/').toString('base64url')
  const misled = await browser.get(`/account/openid/callback?code=x&state=x.${evil}`, HTML)
  t.equal(misled.headers.location, '/account/', 'nor led elsewhere')
})

t.test('an issuer is the same with a slash at its end, and without', async t => {
  const provider = new SmallOpenIdProvider()
  await provider.listen()
  t.teardown(() => provider.close())
  const issuer = `${provider.issuer}/realms/city`
  const place = path.join(temporaryFolder(t, {}), 'accounts.sqlite')
  for (const [configured, announced, groups, grants] of [
    [issuer, `${issuer}/`, { staff: ['reader'] }, ['*']],
    [`${issuer}/`, `${issuer}/`, { staff: ['elms'] }, ['elms']],
    [`${issuer}/`, issuer, {}, []],
  ] as const) {
    const settings = signInOf(
      { issuer: configured, client_id: 'lodestone', groups: groups as Record<string, string[]> },
      '/nowhere',
    )
    const server = await accountServer(BASE, { place, provider: settings })
    provider.answers = { metadata: { issuer: announced }, claims: { iss: announced, groups: ['staff'] } }
    const browser = new Browser(server.http)
    const begun = await browser.get('/account/openid/')
    t.equal(begun.statusCode, 303, `${configured} at ${announced}`)
    await browser.get(`/account/openid/callback?${provider.respond(String(begun.headers.location))}`)
    const users = await server.accounts.users.list()
    t.same(
      users.map(({ name, grants }) => [name, grants]),
      [['ada', grants]],
      'the same person, with the grants of today',
    )
    await server.close()
  }
})

t.test('a person who signs in elsewhere is offered nothing of passwords', async t => {
  const { server, signIn } = await portal(t)
  const { users, sessions } = server.accounts
  const { browser } = await signIn()
  const pages = ['/account/password/', '/account/second-factor/', '/account/passkeys/']
  const overview = await browser.get('/account/')
  for (const page of pages) {
    t.notMatch(overview.body, page)
    const shown = await browser.get(page)
    t.match(plain(shown.body), /You sign in at your organization and have no password here\./, page)
    t.notMatch(shown.body, 'type="password"', page)
    const form_token = hiddenFields(formsOf(shown.body)[0]?.body ?? '').form_token ?? ''
    t.equal((await browser.post(page, { form_token, action: 'begin', password: '' })).statusCode, 403, page)
  }
  for (const password of ['', ' ', 'scrypt$']) t.equal(await users.verify('ada', password), null)
  t.match((await new Browser(server.http).logIn('ada', 'anything at all')).statusCode, 401)
  // An operator gives her one.
  await users.setPassword('ada', PASSWORD)
  const later = new Browser(server.http)
  await later.logIn('ada')
  for (const page of pages) {
    t.match((await later.get('/account/')).body, page)
    t.match((await later.get(page)).body, 'type="password"', page)
  }
  const { token } = await sessions.begin((await users.add('eve', PASSWORD)).id)
  t.notMatch(await sessions.principal(token), { hasNoPassword: true })
})

t.test('who signs out is offered to end the session at the provider, where that is possible', async t => {
  const link = '/account/openid/logout'
  const leave = async (browser: Browser) => {
    const { headers } = await browser.submit(await browser.get('/account/'), {})
    const page = await browser.get(String(headers.location))
    t.match(page.body, /You are signed out\./)
    return {
      out: String(headers.location),
      isOffered: page.body.includes(`href="${link}">Sign out of The office`),
    }
  }
  for (const isPossible of [true, false]) {
    const { server, provider, signIn } = await portal(t)
    const metadata = isPossible ? { end_session_endpoint: `${provider.issuer}/end?tenant=1` } : {}
    const { browser } = await signIn({ metadata })
    const out = `/account/login/?out=${isPossible ? 'openid' : '1'}`
    t.same(await leave(browser), { out, isOffered: isPossible })
    const { statusCode, headers } = await browser.get(`${link}?post_logout_redirect_uri=https://evil.example`)
    t.equal(statusCode, 303)
    const query = new URLSearchParams({
      tenant: '1',
      post_logout_redirect_uri: `${BASE}/account/openid/callback`,
      client_id: 'lodestone',
    })
    t.equal(headers.location, isPossible ? `${provider.issuer}/end?${query}` : '/account/login/?out=1')
    const back = await browser.get('/account/openid/callback')
    t.match(back, { statusCode: 303, headers: { location: '/account/login/?out=1' } }, 'back again')
    await server.accounts.users.add('local', PASSWORD)
    const local = new Browser(server.http)
    await local.logIn('local')
    t.same(await leave(local), { out: '/account/login/?out=1', isOffered: false })
  }
})

/** Claims of a member of `staff`, with what is left of her grants, and whether the groups were left out. */
const LEFT_OUT: Readonly<Record<string, readonly [claims: object, grants: readonly string[], boolean]>> = {
  'more than 200 groups at Entra ID': [
    { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.example/' } } },
    ['*'],
    true,
  ],
  'too many groups for an address': [{ hasgroups: true }, ['*'], true],
  'too many groups, as text': [{ hasgroups: 'true' }, ['*'], true],
  'other claims elsewhere': [{ _claim_names: { address: 'src1' } }, [], false],
  'claims elsewhere that are none': [{ _claim_names: null, hasgroups: false }, [], false],
  'groups and the sign of too many': [{ groups: [], hasgroups: true }, [], false],
  'no groups': [{}, [], false],
  'one group as text': [{ groups: 'staff' }, ['*'], false],
}

t.test('groups that the provider left out change no grants', async t => {
  const { server, signIn, audit, grants } = await portal(t, { staff: ['reader'] })
  const logged: unknown[] = []
  server.http.addHook('onRequest', async request => {
    request.log.warn = (...given: unknown[]) => logged.push(given)
  })
  for (const [what, [claims, left, isLeftOut]] of Object.entries(LEFT_OUT)) {
    await signIn({ claims: { groups: ['staff'] } })
    t.same(await grants(), ['*'], what)
    logged.length = 0
    const { ended } = await signIn({ claims: claims as Record<string, unknown> })
    t.equal(ended.statusCode, 303, what)
    t.same(await grants(), left, what)
    t.equal(JSON.stringify(logged).includes('groups are not known'), isLeftOut, `${what}: log`)
    const noted = 'ada: groups not known ada: The office left them out'
    t.equal((await audit()).slice(-2).includes(noted), isLeftOut, `${what}: audit`)
  }
})

/** What goes wrong at a provider, with the status and what page, log and audit say. */
const FAILURES: Readonly<Record<string, readonly [OpenIdAnswers, RegExp]>> = {
  'a refusal': [
    { refusal: { error: 'access_denied', error_description: 'Not on my watch' } },
    /access_denied: Not on my watch/,
  ],
  'another audience': [{ claims: { aud: 'another' } }, /unexpected JWT "aud" \(audience\) claim value/],
  'an expired token': [{ claims: { exp: 1000 } }, /unexpected JWT "exp" \(expiration time\) claim value/],
  'another nonce': [{ claims: { nonce: 'another' } }, /unexpected ID Token "nonce" claim value/],
  'a wrong client secret': [{ token: [401, { error: 'invalid_client' }] }, /invalid_client/],
  'no JSON': [{ token: [200, 'nothing'] }, /"response" body must be a top level object/],
  'an error of the provider': [{ token: [500, {}] }, /unexpected HTTP response status code/],
}

t.test('a sign-in that failed says why, on the page, in the log and in the audit log', async t => {
  const { server, signIn, audit } = await portal(t)
  const logged: unknown[] = []
  server.http.addHook('onRequest', async request => {
    request.log.warn = (...given: unknown[]) => logged.push(given)
  })
  for (const [what, [answers, reason]] of Object.entries(FAILURES)) {
    const { browser, ended } = await signIn(answers, undefined, '/explore/?q=trees')
    t.equal(ended.statusCode, 401, what)
    t.match(plain(ended.body), /The office did not let you in, or what it answered cannot be trusted: /, what)
    t.match(plain(ended.body), reason, what)
    t.match(JSON.stringify(logged.at(-1)).replaceAll('\\"', '"'), reason, what)
    t.match((await audit()).at(-1), /^anonymous: sign-in failed by The office: /, what)
    t.match((await audit()).at(-1), reason, what)
    t.notMatch(JSON.stringify([logged, await audit(), ended.body]), /a-secret/, 'no secret is told')
    t.notOk([...browser.cookies.keys()].includes('openid'), 'nothing of it is left')
    const again = /href="(\/account\/openid\/[^"]*)">Sign in with The office/.exec(ended.body)?.[1]
    t.equal(plain(again ?? ''), '/account/openid/?next=%2Fexplore%2F%3Fq%3Dtrees', what)
    const later = await signIn({}, browser, '/explore/?q=trees')
    t.match(later.ended, { statusCode: 303, headers: { location: '/explore/?q=trees' } }, what)
  }
})

t.test('another secret and other metadata of the provider need no restart', async t => {
  const { provider, signIn } = await portal(t)
  t.equal((await signIn()).ended.statusCode, 303)
  provider.tokenPath = '/another'
  const ended = async () =>
    (await signIn({ metadata: { token_endpoint: `${provider.issuer}/another` } })).ended
  t.match(await ended(), { statusCode: 401, body: /unexpected HTTP response status code/ })
  t.equal((await ended()).statusCode, 303)
})
