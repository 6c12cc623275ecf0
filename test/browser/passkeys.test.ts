import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { openAccountsOf } from '../../src/accounts/open.ts'
import { loadConfig } from '../../src/config/load.ts'
import { noBrowser, PEERS } from '../support/browser.ts'
import { servePortal } from '../support/portal.ts'
import { freePort } from '../support/serving.ts'
import { codeAt } from '../support/totp.ts'

/** Passkeys in Chromium, with the virtual authenticator of its protocol (Web Authentication, section 11). */
const PASSWORD = 'correct horse battery'

const portal = mkdtempSync(path.join(tmpdir(), 'passkeys-'))
mkdirSync(path.join(portal, 'data'))
writeFileSync(path.join(portal, 'portal.yaml'), 'title: Test portal\n')
t.teardown(() => rmSync(portal, { recursive: true, force: true }))

t.test('a passkey is made and used in a browser', { skip: noBrowser }, async t => {
  const { startBrowser, watchPage } = await import(new URL('browser.mjs', PEERS).href)
  const port = await freePort()
  const base = `http://localhost:${port}`
  const config = { ...loadConfig({ portal, base, port }, {}), workers: 1 }
  const accounts = await openAccountsOf(config, { now: Date.now })
  const { id } = await accounts.users.add('ada', PASSWORD)
  await servePortal(t, { portal, base, port, isPublished: false })
  const browser = await startBrowser()
  t.teardown(async () => {
    await browser.close()
    await accounts.close()
  })
  const page = await (await browser.newContext()).newPage()
  const wrong = watchPage(page, base)
  const protocol = await page.context().newCDPSession(page)
  await protocol.send('WebAuthn.enable')
  const { authenticatorId } = await protocol.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  })
  const send = (selector: string) => Promise.all([page.waitForNavigation(), page.click(selector)])
  const logOut = () => send('form[action$="/account/logout/"] button')

  await page.goto(`${base}/account/login/`)
  await page.fill('#username', 'ada')
  await page.fill('#password', PASSWORD)
  await send('form:not([data-passkey]) button')
  await page.goto(`${base}/account/passkeys/`)
  await page.fill('#label', 'Chromium')
  await page.fill('#password', PASSWORD)
  await send('form[data-passkey=create] button')
  t.match(await page.textContent('main'), /Chromium/)
  t.equal((await accounts.passkeys.list(id)).length, 1)

  await logOut()
  await page.goto(`${base}/account/login/?next=/explore/`)
  await send('form[data-passkey=get] button')
  t.equal(page.url(), `${base}/explore/`)
  t.match(await page.textContent('a.account'), 'ada')

  const { secret, sealed } = await accounts.secondFactors.begin(id, 'session')
  await accounts.secondFactors.confirm(id, 'session', sealed, codeAt(secret, Date.now()))
  await page.goto(`${base}/account/`)
  await logOut()
  await page.fill('#username', 'ada')
  await page.fill('#password', PASSWORD)
  await send('form:not([data-passkey]) button')
  t.match(await page.textContent('h1'), 'Two-step sign-in')
  await send('form[data-passkey=get] button')
  t.equal(page.url(), `${base}/account/`)

  // A person who is not recognised by the device.
  await logOut()
  await protocol.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
  await page.click('form[data-passkey=get] button')
  await page.waitForSelector('[data-problem]:not([hidden])')
  t.match(await page.textContent('[data-problem]'), /used no passkey/)
  t.same(wrong, [], 'nothing was refused, and nothing failed')
})
