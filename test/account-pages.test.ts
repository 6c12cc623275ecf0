import t from 'tap'
import { formToken, isFormToken, isOwnOrigin, localPath } from '../src/http/form.ts'
import { accountServer, Browser, formsOf, hiddenFields, PASSWORD } from './support/account-server.ts'
import { isLong, withMore } from './support/effort.ts'

t.runOnly = isLong

const server = await accountServer()
const { http, accounts } = server
t.teardown(() => server.close())
await accounts.users.add('ada', PASSWORD)
await accounts.users.add('bob', PASSWORD)
await accounts.users.grant('ada', 'trees')

const PAGES = [
  '',
  'my-api-keys/',
  'my-applications/',
  'authorizations/',
  'password/',
  'second-factor/',
  'sessions/',
].map(name => `/account/${name}`)

t.test('where a person is sent on to is a path of ours', async t => {
  const rows: readonly (readonly [string | undefined, string | null])[] = [
    ['/account/', '/account/'],
    ['/oauth2/authorize/?client_id=a&state=x%20y', '/oauth2/authorize/?client_id=a&state=x%20y'],
    ['/a?b=//evil.example', '/a?b=//evil.example'],
    ['/%2f%2fevil.example', '/%2f%2fevil.example'],
    ['/a#b', '/a'],
    ['//evil.example', null],
    ['///evil.example', null],
    ['/\\evil.example', null],
    ['/a\\b', null],
    ['\\\\evil.example', null],
    ['https://evil.example/', null],
    ['https:/evil.example', null],
    ['javascript:alert(1)', null],
    ['data:text/html,x', null],
    ['/\t/evil.example', null],
    ['/\n/evil.example', null],
    ['/ /evil.example', null],
    ['\u0001//evil.example', null],
    ['/..//evil.example', null],
    ['/.//evil.example', null],
    ['/a/..//evil.example', null],
    ['/%2e%2e//evil.example', null],
    ['@evil.example', null],
    ['.evil.example', null],
    ['account/', null],
    ['', null],
    [undefined, null],
    [`/${'a'.repeat(9000)}`, null],
  ]
  for (const [given, expected] of rows) t.equal(localPath(given), expected, String(given).slice(0, 50))
})

t.test('tokens of forms belong to one session and to our own pages', async t => {
  const [secret, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const token = formToken(secret, 'session a')
  t.ok(isFormToken(secret, 'session a', token))
  t.not(formToken(secret, 'session a'), token, 'each is another one')
  for (const [name, given, bound, key] of [
    ['of another session', token, 'session b', secret],
    ['of another portal', token, 'session a', other],
    ['cut', token.slice(0, -2), 'session a', secret],
    ['changed', `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`, 'session a', secret],
    ['empty', '', 'session a', secret],
    ['absent', undefined, 'session a', secret],
  ] as const)
    t.notOk(isFormToken(key, bound, given), name)
  const base = 'https://portal.example/data'
  for (const [headers, expected] of [
    [{}, true],
    [{ origin: 'https://portal.example' }, true],
    [{ origin: 'https://portal.example', 'sec-fetch-site': 'same-origin' }, true],
    [{ origin: 'http://localhost:81', host: 'localhost:81' }, true],
    [{ origin: 'https://portal.example', 'sec-fetch-site': 'cross-site' }, false],
    [{ origin: 'https://portal.example', 'sec-fetch-site': 'same-site' }, false],
    [{ origin: 'http://portal.example', host: 'inside:80' }, false],
    [{ origin: 'https://portal.example:8443' }, false],
    [{ origin: 'https://portal.example.evil.example' }, false],
    [{ origin: 'https://evil.example' }, false],
    [{ origin: 'null' }, false],
    [{ origin: '' }, false],
  ] as const)
    t.equal(isOwnOrigin(headers, base), expected, JSON.stringify(headers))
})

t.test('pages are for who is signed in, and for nobody else', async t => {
  const untrusted = new Browser(http)
  for (const url of [...PAGES, ...PAGES.map(page => page.slice(0, -1))]) {
    const { statusCode, headers } = await untrusted.get(url)
    t.equal(statusCode, 303, url)
    t.equal(headers.location, `/account/login/?next=${encodeURIComponent(url.replace(/\/?$/, '/'))}`, url)
    if (!/account\/?$/.test(url)) {
      const post = await untrusted.post(url, { action: 'create', label: 'x' })
      t.match([post.statusCode, post.headers.location], [303, /^\/account\/login\/\?next=/], url)
    }
  }
  const ada = new Browser(http)
  t.match((await ada.logIn('ada', PASSWORD, '/account/password/')).headers, {
    location: '/account/password/',
  })
  t.match((await ada.get('/account/login/?next=/account/')).headers, { location: '/account/' })
  for (const url of [...PAGES, '/account/login/', '/account/my-api-keys']) {
    const { statusCode, headers, body } = await (url.includes('login') ? untrusted : ada).get(url)
    t.equal(statusCode, 200, url)
    t.match(headers, {
      'cache-control': 'private, no-store',
      'referrer-policy': 'same-origin',
      vary: 'Cookie, Accept-Language',
      'x-frame-options': 'DENY',
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        /^default-src 'none'; style-src 'self'; (?!.*script-src).*form-action 'self'; frame-ancestors 'none'$/,
    })
    t.notOk(headers['access-control-allow-origin'], 'no other site reads it')
    t.equal(body.match(/<h1>/g)?.length, 1, `${url}: one heading`)
    t.match(body, /<html lang="en" dir="ltr">/)
    t.notMatch(body, /<script|style="|onclick=|<input(?![^>]*(type="hidden"|id="|hidden>))/)
    for (const [, id] of body.matchAll(/<(?:input|textarea)[^>]* id="([^"]+)"/g))
      t.ok(body.includes(`<label for="${id}">`), `${url}: ${id} has a label`)
  }
  const listed = async (heading: string) => {
    const { body } = await ada.get('/account/')
    const [, found = ''] = new RegExp(`<dt>${heading}</dt><dd>(.*?)</dd>`, 's').exec(body) ?? []
    return [...found.matchAll(/<code>([^<]*)<\/code>|^(All|None)$/g)].map(([, id, word]) => id ?? word)
  }
  const [see, edit] = [
    'Restricted datasets that you may see',
    'Datasets whose mappings you may edit',
  ] as const
  t.same(await listed(see), ['trees'])
  t.same(await listed(edit), ['None'])
  for (const grant of ['edit:trees', 'edit:airports']) await accounts.users.grant('ada', grant)
  t.same(await listed(see), ['trees'], 'grants of editing are not among them')
  t.same(await listed(edit), ['airports', 'trees'], 'but for themselves, without their code')
  await accounts.users.grant('ada', 'edit:*')
  t.same(await listed(edit), ['All'])
  t.same(await listed(see), ['trees'])
  for (const grant of ['edit:trees', 'edit:airports', 'edit:*']) await accounts.users.revoke('ada', grant)
})

t.test('moments of the portal have their time zone', async t => {
  const browser = new Browser(http)
  await browser.logIn('ada')
  t.match((await browser.get('/account/sessions/')).body, /<time datetime="[^"]+Z">[^<]+ UTC<\/time>/)
})

t.test('the cookie of a session is a new one at each login', async t => {
  const eve = new Browser(http)
  await eve.logIn('bob')
  const planted = eve.cookies.get('lodestone-session') ?? ''
  const victim = new Browser(http)
  victim.cookies.set('lodestone-session', planted)
  const page = await new Browser(http).get('/account/login/')
  victim.cookies.set('lodestone-login', String(page.cookies[0]?.value))
  const { headers } = await victim.submit(page, { username: 'ada', password: PASSWORD })
  const [session = ''] = [headers['set-cookie'] ?? []].flat()
  t.match(session, /^lodestone-session=[\w-]{30,}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/)
  t.not(victim.cookies.get('lodestone-session'), planted)
  t.equal(await accounts.sessions.principal(planted), null, 'the planted one is ended')
  t.match(await victim.get('/account/'), { statusCode: 200, body: /<dd>ada<\/dd>/ })
  const invented = new Browser(http)
  invented.cookies.set('lodestone-session', 'x'.repeat(43))
  await invented.logIn('ada')
  t.not(invented.cookies.get('lodestone-session'), 'x'.repeat(43))
  t.equal(await accounts.sessions.principal('x'.repeat(43)), null)
  const before = victim.cookies.get('lodestone-session') ?? ''
  const out = await victim.submit(await victim.get('/account/'), {})
  t.match(out, { statusCode: 303, headers: { location: '/account/login/?out=1' } })
  t.equal(await accounts.sessions.principal(before), null, 'signing out ends it')
  t.match((await victim.get('/account/login/?out=1')).body, /You are signed out/)
})

t.test('who is signed in by another tab goes on', async t => {
  const browser = new Browser(http)
  const [one, other, third] = [
    await browser.get('/account/login/?next=/explore/'),
    await browser.get('/account/login/?next=/desk/'),
    await browser.get('/account/login/'),
  ]
  const fields = { username: 'ada', password: PASSWORD }
  t.match(await browser.submit(one, fields), { statusCode: 303, headers: { location: '/explore/' } })
  const session = browser.cookies.get('lodestone-session')
  t.match(await browser.submit(other, fields), { statusCode: 303, headers: { location: '/desk/' } })
  t.equal(browser.cookies.get('lodestone-session'), session, 'with the same session')
  t.equal((await browser.submit(third, { ...fields, username: 'bob' })).statusCode, 403, 'nobody else does')
})

t.test('the pages of an account stay in the language of the address', async t => {
  const browser = new Browser(http, { 'accept-language': 'en' })
  const { headers } = await browser.get('/account/sessions/?lang=de')
  const login = String(headers.location)
  const wrong = await browser.submit(await browser.get(login), { username: 'ada', password: 'wrong' })
  t.match(wrong, { statusCode: 401, body: '<html lang="de"' })
  const { location } = (await browser.submit(wrong, { username: 'ada', password: PASSWORD })).headers
  t.equal(location, '/account/sessions/?lang=de')
  const made = await browser.submit(await browser.get('/account/my-api-keys/?lang=de'), { label: '' })
  t.match(made.body, '<html lang="de"')
  const out = await browser.submit(await browser.get('/account/?lang=de'), {})
  t.equal(out.headers.location, '/account/login/?out=1&lang=de')
  const passed = await browser.submit(await browser.get(String(out.headers.location)), {
    username: 'ada',
    password: PASSWORD,
  })
  t.equal(passed.headers.location, '/account/?lang=de')
})

t.test('behind TLS the cookies are those of one host', async t => {
  const secure = await accountServer('https://portal.example', { place: null })
  t.teardown(() => secure.close())
  await secure.accounts.users.add('ada', PASSWORD)
  const browser = new Browser(secure.http)
  const { headers } = await browser.logIn('ada')
  const cookies = [headers['set-cookie'] ?? []].flat()
  t.match(cookies, [
    /^__Host-lodestone-session=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    /^__Host-lodestone-login=/,
  ])
  t.equal((await browser.get('/account/')).statusCode, 200)
  const token = browser.cookies.get('__Host-lodestone-session') ?? ''
  const plain = await secure.http.inject({
    url: '/account/',
    headers: { cookie: `lodestone-session=${token}` },
  })
  t.equal(plain.statusCode, 303, 'a cookie that any host can set does not count')
})

t.test('forms of other sites do nothing', async t => {
  const ada = new Browser(http)
  await ada.logIn('ada')
  const eve = new Browser(http)
  await eve.logIn('bob')
  const url = '/account/my-api-keys/'
  const token = async (browser: Browser) =>
    hiddenFields(formsOf((await browser.get(url)).body).at(-1)?.body ?? '').form_token ?? ''
  const [own, foreign] = [await token(ada), await token(eve)]
  const create = { action: 'create', label: 'theirs' }
  const rows: readonly (readonly [
    string,
    Record<string, string> | string,
    Record<string, string>,
    number,
  ])[] = [
    ['no token', create, {}, 403],
    ['an empty token', { ...create, form_token: '' }, {}, 403],
    ['the token of another session', { ...create, form_token: foreign }, {}, 403],
    ['another origin', { ...create, form_token: own }, { origin: 'https://evil.example' }, 403],
    ['a hidden origin', { ...create, form_token: own }, { origin: 'null' }, 403],
    ['another site', { ...create, form_token: own }, { 'sec-fetch-site': 'cross-site' }, 403],
    ['a neighbouring site', { ...create, form_token: own }, { 'sec-fetch-site': 'same-site' }, 403],
    ['JSON', JSON.stringify({ ...create, form_token: own }), { 'content-type': 'application/json' }, 415],
    ['text', 'action=create', { 'content-type': 'text/plain' }, 415],
    ['parts', 'action=create', { 'content-type': 'multipart/form-data; boundary=x' }, 415],
    ['a field twice', `${new URLSearchParams({ ...create, form_token: own })}&label=b`, {}, 400],
    ['broken encoding', `form_token=${own}&action=create&label=%zz`, {}, 400],
    ['bytes that are no UTF-8', `form_token=${own}&action=create&label=%ff`, {}, 400],
    ['a long body', { ...create, form_token: own, label: 'x'.repeat(17_000) }, {}, 413],
    ['nothing to do', { form_token: own }, {}, 400],
    ['a key of another form', { form_token: own, action: 'revoke', id: '1 OR 1=1' }, {}, 400],
    ['a key of nobody', { form_token: own, action: 'revoke', id: '999' }, {}, 404],
  ]
  for (const [name, fields, headers, status] of rows) {
    const response = await ada.post(url, fields, headers)
    t.equal(response.statusCode, status, name)
    t.match(response.headers, { 'content-type': /^text\/html/, 'cache-control': 'private, no-store' })
  }
  for (const page of PAGES.slice(1))
    t.equal((await ada.post(page, create)).statusCode, 403, `${page} without a token`)
  t.equal((await ada.post('/account/logout/', {})).statusCode, 403, 'nobody is signed out')
  t.same(await accounts.keys.list('ada'), [], 'no key was made')
  t.equal((await ada.get('/account/')).statusCode, 200)

  const login = { username: 'bob', password: PASSWORD }
  const victim = new Browser(http)
  t.match(await victim.post('/account/login/', login), { statusCode: 403 }, 'sign-in without a cookie')
  const page = await eve.get('/account/password/')
  const elses = hiddenFields(formsOf(page.body).at(-1)?.body ?? '')
  t.match(await victim.post('/account/login/', { ...elses, ...login }), { statusCode: 403 })
  const ours = await victim.get('/account/login/')
  const fromElsewhere = await victim.submit(ours, login, { origin: 'https://evil.example' })
  t.match([fromElsewhere.statusCode, victim.cookies.has('lodestone-session')], [403, false])
})

t.test('a key is shown once, by its maker, to its owner', async t => {
  const ada = new Browser(http)
  await ada.logIn('ada')
  const url = '/account/my-api-keys/'
  const made = await ada.submit(await ada.get(url), { label: 'My <b>script</b> & "more"' })
  const key = /id="key">([A-Za-z0-9]+)</.exec(made.body)?.[1] ?? ''
  t.equal(made.statusCode, 201)
  t.match(await accounts.keys.principal(key), { name: 'ada', by: 'key' })
  const list = await ada.get(url)
  t.notOk(list.body.includes(key), 'never again')
  t.match(list.body, /My &lt;b&gt;script&lt;\/b&gt; &amp; &quot;more&quot;/)
  t.notMatch(list.body, /<b>script/)
  t.match(await ada.submit(list, { label: ' ' }), { statusCode: 400, body: /aria-invalid="true"/ })
  t.match(await ada.submit(list, { label: 'x'.repeat(500) }), { statusCode: 400, body: /role="alert">/ })
  const bob = new Browser(http)
  await bob.logIn('bob')
  const own = await bob.submit(await bob.get(url), { label: 'of bob' })
  const bobs = String((await accounts.keys.list('bob'))[0]?.id)
  t.match(await ada.submit(list, { action: 'revoke', id: bobs }), { statusCode: 404 }, 'not of others')
  t.equal((await accounts.keys.list('bob')).length, 1)
  t.match(await bob.submit(own, { action: 'revoke', id: bobs }), {
    statusCode: 303,
    headers: { location: url },
  })
  t.same(await accounts.keys.list('bob'), [])
})

t.test('applications are registered and removed by their owner', async t => {
  const ada = new Browser(http)
  await ada.logIn('ada')
  const url = '/account/my-applications/'
  const page = await ada.get(url)
  const good = {
    name: 'Notes',
    type: 'confidential',
    redirect_uris: 'https://a.example/cb\nhttp://localhost:5000/cb',
  }
  const made = await ada.submit(page, good)
  t.equal(made.statusCode, 201)
  const [id = '', secret = ''] = ['client-id', 'client-secret'].map(
    name => new RegExp(`id="${name}">([^<]+)<`).exec(made.body)?.[1],
  )
  t.ok(await accounts.clients.verifySecret(id, secret))
  t.same((await accounts.clients.find(id))?.redirectUris, [
    'https://a.example/cb',
    'http://localhost:5000/cb',
  ])
  t.notOk((await ada.get(url)).body.includes(secret), 'the secret is not shown again')
  for (const [name, more] of [
    ['no name', { name: ' ' }],
    ['no address', { redirect_uris: ' ' }],
    ['http', { redirect_uris: 'http://a.example/cb' }],
    ['a fragment', { redirect_uris: 'https://a.example/cb#x' }],
    ['relative', { redirect_uris: '/cb' }],
    ['a script', { redirect_uris: 'javascript:alert(1)' }],
    ['data', { redirect_uris: 'data:text/html,x' }],
    ['user info', { redirect_uris: 'https://a@b.example/cb' }],
    ['one of two', { redirect_uris: 'https://a.example/cb\nftp://a.example' }],
  ] as const)
    t.match(await ada.submit(page, { ...good, ...more }), { statusCode: 400, body: /role="alert"/ }, name)
  t.equal((await accounts.clients.list('ada')).length, 1)
  const bob = new Browser(http)
  await bob.logIn('bob')
  const { form_token = '' } = hiddenFields(formsOf((await bob.get(url)).body).at(-1)?.body ?? '')
  t.match(await bob.post(url, { form_token, action: 'remove', id }), { statusCode: 404 })
  t.match(await ada.submit(await ada.get(url), { action: 'remove', id }), { statusCode: 303 })
  t.equal(await accounts.clients.find(id), null)
})

t.test('a password is changed by who knows it, and ends other sessions', async t => {
  await accounts.users.add('cleo', PASSWORD)
  const [here, there] = [new Browser(http), new Browser(http)]
  for (const browser of [here, there]) await browser.logIn('cleo')
  const page = await here.get('/account/password/')
  const change = (old_password: string, new_password: string, new_password_again = new_password) =>
    here.submit(page, { old_password, new_password, new_password_again })
  t.equal((await change('wrong one', 'a better password')).statusCode, 403)
  t.equal((await change(PASSWORD, 'short')).statusCode, 400)
  t.match(await change(PASSWORD, 'Password2026'), { statusCode: 400, body: /too common/ })
  t.equal((await change(PASSWORD, 'a better password', 'another password')).statusCode, 400)
  const changed = await change(PASSWORD, 'a better password')
  t.match([changed.statusCode, changed.headers.location], [303, '/account/password/?done=1'])
  t.match(await here.get('/account/password/?done=1'), { statusCode: 200, body: /Your password is changed/ })
  t.equal((await there.get('/account/')).statusCode, 303)
  t.equal((await new Browser(http).logIn('cleo')).statusCode, 401)
  t.equal((await new Browser(http).logIn('cleo', 'a better password')).statusCode, 303)
  const { key } = await accounts.keys.create('cleo', 'script')
  const again = await here.get('/account/password/')
  const fields = { old_password: 'a better password', new_password: PASSWORD, new_password_again: PASSWORD }
  t.match(again.body, /<input type="checkbox" id="revoke_keys" name="revoke_keys" value="1">/)
  t.equal(
    (await here.submit(again, { ...fields, old_password: 'wrong one', revoke_keys: '1' })).statusCode,
    403,
  )
  t.ok(await accounts.keys.principal(key), 'keys stay')
  t.equal((await here.submit(again, { ...fields, revoke_keys: '1' })).statusCode, 303)
  t.equal(await accounts.keys.principal(key), null, 'unless they are to go as well')
})

t.test('many guesses at once are five', withMore, async t => {
  const count = isLong ? 1000 : 100
  await accounts.users.add('dora', PASSWORD)
  const guess = async (
    browser: Browser,
    page: Awaited<ReturnType<Browser['get']>>,
    name: string,
    password: string,
  ) => browser.submit(page, { username: name, password })
  for (const name of ['dora', 'nobody']) {
    const browser = new Browser(http, { 'x-address': `198.51.100.${name.length}` })
    const page = await browser.get('/account/login/')
    const before = server.verified()
    const guesses = Array.from({ length: count }, (_, index) =>
      guess(browser, page, name, index === count / 2 ? PASSWORD : `guess ${index}`),
    )
    const answers = await Promise.all(guesses)
    t.equal(server.verified() - before, 5, `${name}: passwords that were looked at`)
    t.equal(answers.filter(({ statusCode }) => statusCode === 401).length, 5, name)
    const blocked = answers.filter(({ statusCode }) => statusCode === 429)
    t.equal(blocked.length, count - 5, name)
    t.match(blocked[0]?.headers, { 'retry-after': /^(60|5\d)$/ })
    t.match(blocked[0]?.body, /Too many attempts failed. Try again after \d\d:\d\d UTC/)
    const texts = answers.slice(0, 1).map(({ body }) => body)
    t.match(texts[0], /The user name or the password is wrong/, name)
    const right = await browser.submit(page, { username: name, password: PASSWORD })
    t.equal(right.statusCode, 429, `${name}: not even the right one`)
  }
  const elsewhere = new Browser(http, { 'x-address': '198.51.100.99' })
  t.equal((await elsewhere.logIn('dora')).statusCode, 303, 'who asks from elsewhere is let in')
  for (let address = 0; address < 11; address++) {
    const untrusted = new Browser(http, { 'x-address': `203.0.113.${address}` })
    const page = await untrusted.get('/account/login/')
    for (let each = 0; each < 2; each++) await guess(untrusted, page, 'dora', 'a guess of a stranger')
  }
  const owner = new Browser(http, { 'x-address': '198.51.100.98' })
  t.equal((await owner.logIn('dora')).statusCode, 303, 'whatever strangers elsewhere do')
  server.wait(15 * 60_000)
  const later = new Browser(http, { 'x-address': '198.51.100.4' })
  t.equal((await later.logIn('dora')).statusCode, 303, 'and everybody, later')
})
