import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startBrowser } from '../browser/browser.mjs'

/** A person signs in at saml-idp with a browser (`npm install` in ../browser as well), and the groups become grants. */
const root = path.resolve(import.meta.dirname, '../../..')
const [portalPort, providerPort] = [Number(process.env.PORT ?? 4790), Number(process.env.PORT ?? 4790) + 1]
const base = `http://localhost:${portalPort}`
// Another site than the portal: forms of one bring no cookies to the other.
const provider = `http://127.0.0.1:${providerPort}`

const portal = mkdtempSync(path.join(tmpdir(), 'saml-'))
const file = name => path.join(portal, name)
execFileSync(
  'openssl',
  ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=idp'].concat([
    '-keyout',
    file('idp.key'),
    '-out',
    file('idp.pem'),
  ]),
  { stdio: 'ignore' },
)
writeFileSync(
  file('portal.yaml'),
  `saml_sign_in:
  entry_point: ${provider}/saml/sso
  certificate_file: idp.pem
  issuer: urn:example:idp
  name: The office
  name_attribute: email
  groups: { "Simple IdP Users": [reader], "Cloud Users": [edit:trees] }
`,
)
mkdirSync(file('data/trees'), { recursive: true })
writeFileSync(file('data/trees/dataset.yaml'), 'source: { path: a.json }\nvisibility: restricted\n')
writeFileSync(file('data/trees/a.json'), '[{"a":1}]')

const processes = []
const run = (args, options = {}) => {
  const child = spawn('node', args, { stdio: ['ignore', 'pipe', 'inherit'], ...options })
  child.stdout.resume()
  processes.push(child)
  return new Promise(resolve => child.stdout.once('data', resolve))
}
const lodestone = path.join(root, 'bin/lodestone.js')
const startProvider = signResponse =>
  run([
    createRequire(import.meta.url).resolve('saml-idp/bin/run.js'),
    ...['--host', '127.0.0.1', '--port', String(providerPort), '--cert', file('idp.pem')],
    ...['--key', file('idp.key'), '--issuer', 'urn:example:idp', '--acsUrl', `${base}/account/saml/acs`],
    ...['--audience', `${base}/account/saml/metadata`, `--signResponse=${signResponse}`],
  ])
const command = (...args) =>
  execFileSync('node', [lodestone, ...args, '--json', '--portal', portal]).toString()

const browser = await (async () => {
  await Promise.all([
    run([lodestone, 'serve', '--portal', portal, '--port', String(portalPort)]),
    startProvider(true),
  ])
  return startBrowser()
})()

/** Goes to a page that wants a sign-in, and through the provider back to it. */
async function signIn(page, groups) {
  const refused = await page.goto(`${base}/explore/dataset/trees/`)
  assert.equal(refused.status(), 401)
  await page.click('a.button')
  await page.click('text=Sign in with The office')
  assert.equal(new URL(page.url()).origin, provider)
  // A widget hides the field.
  await page.$eval('[name=groups]', (field, value) => (field.value = value), groups)
  await Promise.all([page.waitForURL(`${base}/**`), page.click('form[action$="/signin"] [type=submit]')])
  await page.waitForLoadState()
}
const grants = () => JSON.parse(command('user', 'list')).map(({ name, grants: given }) => [name, given])

try {
  for (let tries = 0; tries < 100; tries++) {
    const [one, other] = await Promise.all([base, provider].map(each => fetch(each).catch(() => null)))
    if (one !== null && other !== null) break
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  for (const groups of ['Simple IdP Users, Cloud Users', 'Cloud Users']) {
    const context = await browser.newContext()
    const page = await context.newPage()
    await signIn(page, groups)
    assert.equal(page.url(), `${base}/explore/dataset/trees/`, groups)
    const expected = groups.startsWith('Simple') ? ['*', 'edit:trees'] : ['edit:trees']
    assert.deepEqual(grants(), [['saml.jackson@example.com', expected]])
    const cookies = (await context.cookies(base)).map(({ name }) => name)
    assert.ok(cookies.includes('lodestone-session'))
    assert.ok(!cookies.some(name => name.includes('saml')), 'nothing of the way is left')
    await context.close()
  }
  const events = command('audit')
  assert.match(
    events,
    /"actor":"saml.jackson@example.com","action":"signed in","subject":"by The office \(SAML\)"/,
  )
  assert.match(await (await fetch(`${base}/account/saml/metadata`)).text(), /AssertionConsumerService/)
  console.log('sign-in at saml-idp: all as expected')
} finally {
  await browser.close()
  for (const child of processes) child.kill()
  rmSync(portal, { recursive: true, force: true })
}
process.exit()
