import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { base32, matchingStep, otpauthUri, SecretBox, totpCode } from '../src/accounts/second-factors.ts'
import { qrCode } from '../src/portal/account/second-factor.ts'
import { accountServer, Browser, PASSWORD, plain } from './support/account-server.ts'
import { codeAt } from './support/totp.ts'

/** One-time passwords as a second factor, and sessions that their owner ends. */
t.test('codes are those of RFC 6238, appendix B, and RFC 4226, appendix D', async t => {
  const secret = Buffer.from('12345678901234567890')
  for (const [seconds, code] of [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ] as const) {
    t.equal(totpCode(secret, Math.floor(seconds / 30), 8), code, String(seconds))
    t.equal(matchingStep(secret, code.slice(2), seconds * 1000), Math.floor(seconds / 30))
  }
  const counted = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871']
  for (const [count, code] of counted.entries()) t.equal(totpCode(secret, count), code)
  t.equal(matchingStep(secret, '287 082', 59_000), 1, 'blanks are for the eye')
  t.equal(matchingStep(secret, '287082', 89_999), 1, 'one step late')
  t.equal(matchingStep(secret, '287082', 90_000), null, 'two steps late')
})

t.test('secrets are written for apps', async t => {
  for (const [text, written] of [
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ] as const)
    t.equal(base32(Buffer.from(text)), written, 'RFC 4648, section 10')
  t.equal(
    otpauthUri('City & Co', 'ann@x', 'MZXW6'),
    'otpauth://totp/City%20%26%20Co:ann%40x?secret=MZXW6&issuer=City%20%26%20Co&algorithm=SHA1&digits=6&period=30',
  )
})

t.test('the key is a QR code as well', async t => {
  const svg = (text: string) => qrCode(text, 'a "label"')?.html ?? null
  // Version 1 of "A" has 21 modules a side, and four of light around them.
  t.match(svg('A'), /aria-label="a &quot;label&quot;" viewBox="0 0 29 29"/)
  t.match(svg('A'), /d="M4 4h7v1h-7z/, 'the finder in the corner begins')
  t.match(svg('x'.repeat(600)), /<path d="M4 4h7/)
  t.equal(svg('x'.repeat(601)), null)
})

t.test('a secret is read by its portal for its user', async t => {
  const [portal, other] = [randomBytes(32), randomBytes(32)]
  const secret = randomBytes(20)
  const box = new SecretBox(portal, randomBytes)
  const sealed = box.seal(secret, 7)
  t.notOk(sealed.includes(secret))
  t.notSame(box.seal(secret, 7), sealed, 'each time another nonce')
  t.same(new SecretBox(portal, randomBytes).open(sealed, 7), secret)
  t.equal(box.open(sealed, 8), null, 'another user')
  t.equal(new SecretBox(other, randomBytes).open(sealed, 7), null, 'another portal')
  const changed = Buffer.from(sealed)
  changed[15] = (changed[15] ?? 0) ^ 1
  t.equal(box.open(changed, 7), null)
})

/** A server with a user who has turned the second factor on, and what his telephone knows. */
async function enrolled(t: Test) {
  const server = await accountServer('http://portal.test', { place: null })
  t.teardown(() => server.close())
  const { accounts } = server
  const { id } = await accounts.users.add('ada', PASSWORD)
  const ada = new Browser(server.http)
  await ada.logIn('ada')
  const path = '/account/second-factor/'
  const wrong = await ada.submit(await ada.get(path), { password: 'a wrong password', action: 'begin' })
  t.match(wrong, { statusCode: 403, body: /This is not your password/ })
  const page = await ada.submit(await ada.get(path), { password: PASSWORD, action: 'begin' })
  t.equal(page.statusCode, 200)
  const [, uri = ''] = /<code id="uri">([^<]*)</.exec(page.body) ?? []
  t.match(page.body, /<svg class="qr" role="img" aria-label="The key as a QR code"/)
  const secret = new URL(plain(uri)).searchParams.get('secret') ?? ''
  t.match(page.body, /<code class="secret" id="secret">([A-Z2-7]{4} ?){8}</)
  t.match(await ada.submit(page, { code: '000' }), { statusCode: 400, body: /This code is wrong/ })
  let later = 0
  const wait = (milliseconds: number) => {
    later += milliseconds
    server.wait(milliseconds)
  }
  const code = () => codeAt(secret, Date.now() + later)
  const done = await ada.submit(page, { code: code() })
  const recovery = [...done.body.matchAll(/<li><code class="secret">([^<]*)</g)].map(([, each = '']) => each)
  t.equal(recovery.length, 10)
  t.notMatch((await ada.get(path)).body, new RegExp(`${secret}|${recovery[0]}`), 'neither is shown again')
  wait(60_000)
  const actions = async () => {
    const found: string[] = []
    for await (const { actor, action, subject } of accounts.audit.events(0))
      found.push(`${actor}: ${action} ${subject}`.trim())
    return found
  }
  return { server, accounts, id, ada, path, secret, code, recovery, wait, actions }
}

t.test('after the password a code is asked for, and no session begins before it', async t => {
  const { server, code, recovery, wait, actions } = await enrolled(t)
  const eve = new Browser(server.http)
  const step = await eve.logIn('ada', PASSWORD, '/account/password/')
  t.match(step, { statusCode: 200, body: /Two-step sign-in/ })
  t.notOk(eve.cookies.has('lodestone-session'))
  t.notOk(eve.cookies.has('lodestone-device'), 'nor is the device known')
  t.equal((await eve.get('/account/')).statusCode, 303)
  t.match(await eve.submit(step, { code: '' }), { statusCode: 401, body: /This code is wrong/ })
  const used = code()
  t.match(await eve.submit(step, { code: used }), {
    statusCode: 303,
    headers: { location: '/account/password/' },
  })
  t.equal((await eve.get('/account/')).statusCode, 200)
  const again = new Browser(server.http)
  const second = await again.logIn('ada')
  t.match(
    await again.submit(second, { code: used }),
    { statusCode: 401 },
    'a code that was seen is worth nothing',
  )
  t.match(await again.submit(second, { code: recovery[3] ?? '' }), { statusCode: 303 })
  const elsewhere = new Browser(server.http)
  const page = await elsewhere.get('/account/login/')
  const moved = {
    ...Object.fromEntries(
      [...step.body.matchAll(/name="(passed)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
        name,
        plain(value),
      ]),
    ),
  }
  wait(60_000)
  const form = { ...moved, code: code(), username: 'ada', password: '' }
  const [, token = ''] = /name="form_token" value="([^"]*)"/.exec(page.body) ?? []
  t.match(
    await elsewhere.post('/account/login/', { ...form, form_token: plain(token) }),
    { statusCode: 403, body: /was not finished in time/ },
    'in another browser the password has to be entered',
  )
  const late = new Browser(server.http)
  const slow = await late.logIn('ada')
  wait(301_000)
  t.match(await late.submit(slow, { code: code() }), { statusCode: 403 }, 'five minutes later too')
  const noted = (await actions()).filter(each => /sign/.test(each))
  t.same(noted, [
    'ada: signed in by password',
    'anonymous: sign-in failed ada: second factor',
    'ada: signed in by password and code',
    'anonymous: sign-in failed ada: second factor',
    'ada: signed in by password and recovery code',
  ])
})

t.test('a key that was begun is shown once, to the session that gave the password', async t => {
  const server = await accountServer('http://portal.test', { place: null })
  t.teardown(() => server.close())
  const { id } = await server.accounts.users.add('ada', PASSWORD)
  const [ada, stolen] = [new Browser(server.http), new Browser(server.http)]
  await ada.logIn('ada')
  await stolen.logIn('ada')
  const path = '/account/second-factor/'
  const begin = async () => {
    const page = await ada.submit(await ada.get(path), { password: PASSWORD, action: 'begin' })
    const [, secret = ''] = /<code class="secret" id="secret">([^<]*)</.exec(page.body) ?? []
    const [, setup = ''] = /name="setup" value="([^"]*)"/.exec(page.body) ?? []
    return { page, secret: secret.replaceAll(' ', ''), setup }
  }
  const { page, secret, setup } = await begin()
  for (const [who, browser] of [
    ['its session', ada],
    ['another session', stolen],
  ] as const)
    t.notMatch((await browser.get(path)).body, /id="secret"|otpauth:/, `${who} is not shown it again`)
  const code = codeAt(secret, Date.now())
  const [, token = ''] =
    /name="form_token" value="([^"]*)">\s*<input type="text"/.exec((await stolen.get(path)).body) ?? []
  for (const given of [setup, ''])
    t.match(
      await stolen.post(path, { form_token: plain(token), action: 'confirm', setup: given, code }),
      { statusCode: 403, body: /The set-up was not finished in time/ },
      'another session cannot turn it on',
    )
  server.wait(10 * 60_000)
  const late = { code: codeAt(secret, Date.now() + 10 * 60_000) }
  t.match(await ada.submit(page, late), { statusCode: 403, body: /The set-up was not finished in time/ })
  t.same(await server.accounts.secondFactors.state(id), { type: 'off' })
})

t.test('guesses of codes are counted by account, from all addresses', async t => {
  const { server, ada, path, code, wait } = await enrolled(t)
  const statuses: number[] = []
  for (let at = 0; at < 7; at++) {
    const browser = new Browser(server.http, { 'x-address': `203.0.113.${at}` })
    const step = await browser.logIn('ada')
    statuses.push((await browser.submit(step, { code: '000000' })).statusCode)
  }
  t.same(statuses, [401, 401, 401, 401, 401, 429, 429])
  const blocked = new Browser(server.http)
  const answer = await blocked.submit(await blocked.logIn('ada'), { code: code() })
  t.match(answer, { statusCode: 429, headers: { 'retry-after': /^\d+$/ } }, 'a right one is not looked at')
  t.equal((await ada.get(path)).statusCode, 200, 'sessions go on')
  wait(61_000)
  const later = new Browser(server.http)
  t.equal((await later.submit(await later.logIn('ada'), { code: code() })).statusCode, 303)
})

t.test('it is turned off with the password, and recovery codes are renewed', async t => {
  const { server, accounts, id, ada, path, recovery, actions } = await enrolled(t)
  const submit = (fields: Record<string, string>) =>
    ada.get(path).then(page => {
      const [, token = ''] =
        /<form method="post" action="\/account\/second-factor\/">\s*<input type="hidden" name="form_token" value="([^"]*)"/.exec(
          page.body,
        ) ?? []
      return ada.post(path, { form_token: plain(token), ...fields })
    })
  t.equal((await submit({ action: 'remove', password: '' })).statusCode, 403)
  t.equal((await submit({ action: 'other', password: PASSWORD })).statusCode, 400)
  const renewed = await submit({ action: 'renew', password: PASSWORD })
  t.match(renewed.body, /<code class="secret">/)
  t.equal(await accounts.secondFactors.verify(id, recovery[0] ?? ''), null)
  t.equal((await submit({ action: 'remove', password: PASSWORD })).statusCode, 303)
  t.same(await accounts.secondFactors.state(id), { type: 'off' })
  t.equal((await new Browser(server.http).logIn('ada')).statusCode, 303, 'the password is enough again')
  const noted = (await actions())
    .filter(each => /factor|recovery/.test(each))
    .map(each => each.replace(/^.*?: /, ''))
  t.same(noted, ['second factor added ada', 'recovery codes renewed ada', 'second factor removed ada'])
})

t.test('sessions are listed and ended one by one', async t => {
  const server = await accountServer('http://portal.test', { place: null })
  t.teardown(() => server.close())
  await server.accounts.users.add('ada', PASSWORD)
  await server.accounts.users.add('bob', PASSWORD)
  const [ada, telephone, library, bob] = ['ada', 'ada', 'ada', 'bob'].map(() => new Browser(server.http))
  if (!ada || !telephone || !library || !bob) throw new Error('four browsers')
  for (const browser of [library, telephone, ada]) await browser.logIn('ada')
  await bob.logIn('bob')
  const path = '/account/sessions/'
  const page = await ada.get(path)
  t.equal(page.body.match(/name="id"/g)?.length, 2, 'the own session is not ended here')
  t.equal(page.body.match(/This session/g)?.length, 1)
  const ids = [...page.body.matchAll(/name="id" value="(\d+)"/g)].map(([, id = '']) => id)
  const [, token = ''] =
    /name="form_token" value="([^"]*)">\s*<input type="hidden" name="action" value="end"/.exec(page.body) ??
    []
  const end = (fields: Record<string, string>) => ada.post(path, { form_token: plain(token), ...fields })
  const [, oldest = ''] = ids
  t.match(await end({ action: 'end', id: oldest }), { statusCode: 303, headers: { location: path } })
  t.equal((await library.get('/account/')).statusCode, 303, 'ended at once')
  t.equal((await telephone.get('/account/')).statusCode, 200)
  t.equal((await end({ action: 'end', id: oldest })).statusCode, 404, 'it is gone')
  const [bobs] = await server.accounts.sessions.list('bob')
  t.equal((await end({ action: 'end', id: String(bobs?.id) })).statusCode, 404, 'not those of others')
  t.equal((await end({ action: 'end', id: 'x' })).statusCode, 400)
  t.equal((await end({ action: 'other' })).statusCode, 400)
  t.equal((await ada.post(path, { action: 'end-others' })).statusCode, 403, 'not without our form')
  t.equal((await end({ action: 'end-others' })).statusCode, 303)
  t.equal((await telephone.get('/account/')).statusCode, 303)
  t.equal((await ada.get('/account/')).statusCode, 200)
  t.equal((await bob.get('/account/')).statusCode, 200)
  const actions: string[] = []
  for await (const { action } of server.accounts.audit.events(0)) actions.push(action)
  t.equal(actions.filter(action => action === 'sessions ended').length, 2)
})
