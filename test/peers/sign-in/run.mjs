import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Provider from 'oidc-provider'

/** A person signs in at oidc-provider, and his groups become grants; he signs out there, too. No browser is needed: forms and redirects are followed. */
const root = path.resolve(import.meta.dirname, '../../..')
const [portalPort, providerPort] = [Number(process.env.PORT ?? 4780), Number(process.env.PORT ?? 4780) + 1]
const base = `http://localhost:${portalPort}`
const issuer = `http://localhost:${providerPort}`

const people = { ada: ['staff', 'trees'], eve: [] }
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'lodestone',
      client_secret: 'a secret of the portal',
      redirect_uris: [`${base}/account/openid/callback`],
      post_logout_redirect_uris: [`${base}/account/openid/callback`],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  claims: { openid: ['sub'], profile: ['preferred_username'], groups: ['groups'] },
  scopes: ['openid', 'profile', 'groups'],
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: id, groups: people[id] ?? [] }),
  }),
  pkce: { required: () => true },
})
const listening = provider.listen(providerPort)

const portal = mkdtempSync(path.join(tmpdir(), 'sign-in-'))
writeFileSync(
  path.join(portal, 'portal.yaml'),
  `sign_in:
  issuer: ${issuer}
  client_id: lodestone
  client_secret_file: secret.txt
  name: The office
  scopes: [profile, groups]
  groups: { staff: [reader], trees: [edit:trees] }
`,
)
writeFileSync(path.join(portal, 'secret.txt'), 'a secret of the portal\n')
mkdirSync(path.join(portal, 'data/trees'), { recursive: true })
writeFileSync(
  path.join(portal, 'data/trees/dataset.yaml'),
  'source: { path: a.json }\nvisibility: restricted\n',
)
writeFileSync(path.join(portal, 'data/trees/a.json'), '[{"a":1}]')
const server = spawn(
  'node',
  [path.join(root, 'bin/lodestone.js'), 'serve', '--portal', portal, '--port', String(portalPort)],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
await new Promise(resolve => server.stdout.once('data', resolve))

/** A browser of one person: it keeps cookies of both servers, and follows redirects. */
class Browser {
  cookies = new Map()

  async go(address, form) {
    for (let hops = 0; hops < 12; hops++) {
      const url = new URL(address)
      const jar = this.cookies.get(url.origin) ?? new Map()
      this.cookies.set(url.origin, jar)
      const answer = await fetch(url, {
        redirect: 'manual',
        method: form === undefined ? 'GET' : 'POST',
        headers: { cookie: [...jar].map(each => each.join('=')).join('; '), accept: 'text/html' },
        ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
      })
      for (const cookie of answer.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)
        jar.set(name, value)
      }
      const location = answer.headers.get('location')
      if (location === null) return { url, status: answer.status, text: await answer.text() }
      address = new URL(location, url).href
      form = undefined
    }
    throw new Error('too many redirects')
  }

  async signIn(name, next) {
    let page = await this.go(`${base}/account/openid/?${new URLSearchParams({ next })}`)
    page = await this.go(actionOf(page), { prompt: 'login', login: name, password: 'any' })
    return page.url.origin === base ? page : this.go(actionOf(page), { prompt: 'consent' })
  }
}

const actionOf = ({ url, text }) => new URL(/action="([^"]*)"/.exec(text)[1], url).href
const hiddenIn = text =>
  Object.fromEntries(
    [...text.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(found => found.slice(1)),
  )
const list = () =>
  JSON.parse(
    execFileSync('node', [path.join(root, 'bin/lodestone.js'), 'user', 'list', '--json', '--portal', portal]),
  )

try {
  const anonymous = await new Browser().go(`${base}/explore/dataset/trees/`)
  assert.equal(anonymous.status, 401)
  const login = await new Browser().go(`${base}/account/login/`)
  assert.match(login.text, /Sign in with The office/)
  const ada = new Browser()
  const page = await ada.signIn('ada', '/explore/dataset/trees/')
  assert.equal(page.status, 200, page.text)
  assert.equal(page.url.pathname, '/explore/dataset/trees/')
  assert.deepEqual(list().find(({ name }) => name === 'ada').grants, ['*', 'edit:trees'])
  people.ada = ['trees']
  const again = new Browser()
  await again.signIn('ada', '/account/')
  assert.deepEqual(
    list().find(({ name }) => name === 'ada').grants,
    ['edit:trees'],
    'who leaves a group loses its grants',
  )
  const eve = await new Browser().signIn('eve', '//evil.example/')
  assert.equal(eve.url.href, `${base}/account/`, 'nobody is sent elsewhere')
  assert.deepEqual(list().find(({ name }) => name === 'eve').grants, [])
  const out = await again.go(`${base}/account/logout/`, hiddenIn((await again.go(`${base}/account/`)).text))
  assert.match(out.text, /You are signed out\./)
  const link = /href="([^"]*)">Sign out of The office as well/.exec(out.text)?.[1]
  const asked = await again.go(new URL(link, base).href)
  assert.equal(asked.url.origin, issuer)
  const back = await again.go(actionOf(asked), { ...hiddenIn(asked.text), logout: 'yes' })
  assert.equal(back.url.href, `${base}/account/login/?out=1`)
  assert.match(
    (await again.go(`${base}/account/openid/`)).text,
    /name="login"/,
    'the provider asks who it is',
  )
  // What was begun in one browser cannot be ended in another.
  const victim = new Browser()
  const stolen = new Browser()
  let begun = await stolen.go(`${base}/account/openid/`)
  begun = await fetch(`${base}/account/openid/callback?code=abc&state=def`, {
    headers: { accept: 'text/html' },
  })
  assert.equal(begun.status, 403)
  assert.equal(victim.cookies.size, 0)
  const audit = execFileSync('node', [
    path.join(root, 'bin/lodestone.js'),
    'audit',
    '--json',
    '--portal',
    portal,
  ]).toString()
  assert.match(audit, /"actor":"ada","action":"signed in","subject":"by The office","address":"/)
  console.log('sign-in at oidc-provider: all as expected')
} finally {
  server.kill()
  listening.close()
  rmSync(portal, { recursive: true, force: true })
}
process.exit()
