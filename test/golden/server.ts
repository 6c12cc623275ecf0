import { execFileSync, spawn } from 'node:child_process'
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import path from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { FLAGS } from '../support/script.ts'
import { changePortal, MOMENTS, PASSWORD, PEOPLE, writePortal } from './portal.ts'
import type { GoldenRequest } from './request.ts'

/** An answer as it came, its content coding taken off. */
export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface GoldenServer {
  /** Secrets by the placeholders that requests have in their place. */
  readonly secrets: ReadonlyMap<string, string>
  readonly ask: (request: GoldenRequest) => Promise<RawAnswer>
  readonly close: () => void
}

/** A program that stops the clock of a process and its threads. */
const stoppedClock = (moment: string) =>
  `--import=data:text/javascript,${encodeURIComponent(`
const Real = Date, at = Real.parse('${moment}')
globalThis.Date = class Date extends Real {
  constructor(...given) { given.length === 0 ? super(at) : super(...given) }
  static now() { return at }
}`)}`

/** Publishes the portal twice with a built checkout, and serves it in a process of its own. */
export async function startGolden(root: string, folder: string): Promise<GoldenServer> {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:LODESTONE_|NODE_|TAP)/.test(name))
  const environment = { ...Object.fromEntries(own), TZ: 'UTC', LC_ALL: 'C' }
  const run = (args: readonly string[], options = '') =>
    execFileSync(
      process.execPath,
      [...FLAGS, path.join(root, 'bin/lodestone.js'), ...args, '--portal', folder],
      {
        cwd: root,
        encoding: 'utf8',
        input: '',
        env: { ...environment, NODE_OPTIONS: options },
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    ).trim()
  writePortal(folder, root)
  run(['publish'], stoppedClock(MOMENTS[0]))
  changePortal(folder)
  run(['publish'], stoppedClock(MOMENTS[1]))
  const secrets = new Map<string, string>()
  for (const [name, grants] of Object.entries(PEOPLE)) {
    run(['user', 'add', name, '--password', PASSWORD])
    for (const grant of grants) run(['user', 'grant', name, grant])
    secrets.set(`{key:${name}}`, run(['key', 'create', name]))
  }
  const redirect = 'https://application.example/back'
  const application = JSON.parse(
    run(['app', 'register', 'application', '--owner', 'nobody', '--redirect', redirect]),
  ) as Record<string, string>
  secrets.set('{client}', application.client_id ?? '').set('{secret}', application.client_secret ?? '')
  const child = spawn(
    process.execPath,
    [...FLAGS, path.join(root, 'bin/lodestone.js'), 'serve', '--portal', folder, '--port', '0'],
    { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const port = await portOf(child)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (request: GoldenRequest) => send(port, agent, filled(request, secrets))
  const close = () => {
    agent.destroy()
    child.kill('SIGKILL')
  }
  const json = async (url: string) =>
    JSON.parse((await ask({ method: 'GET', url, headers: {} })).body.toString())
  const { versions } = (await json('/api/versions/things')) as { versions: readonly { version: string }[] }
  secrets.set('{latest}', versions[0]?.version ?? '').set('{version}', versions.at(-1)?.version ?? '')
  const { value } = (await json('/api/odata/things?$top=1')) as { value: readonly { recordid: string }[] }
  secrets.set('{record}', value[0]?.recordid ?? '')
  for (const name of Object.keys(PEOPLE)) secrets.set(`{session:${name}}`, await signIn(ask, name))
  return { secrets, ask, close }
}

function portOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = ''
    const read = (piece: unknown) => {
      output += String(piece)
      const [, port] = /is served at .*\(port (\d+)\)/.exec(output) ?? []
      if (port !== undefined) resolve(Number(port))
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('close', code => reject(new Error(`serve ended with ${code}: ${output}`)))
  })
}

/** Signs in with the form of the page; gives the cookie of the session. */
async function signIn(ask: GoldenServer['ask'], name: string): Promise<string> {
  const page = await ask({ method: 'GET', url: '/account/login', headers: { accept: 'text/html' } })
  const [, token = ''] = /name="form_token" value="([^"]*)"/.exec(page.body.toString()) ?? []
  const fields = { username: name, password: PASSWORD, form_token: token }
  const answer = await ask({
    method: 'POST',
    url: '/account/login',
    headers: { cookie: cookiesOf(page), 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  })
  const cookie = cookiesOf(answer)
  if (!cookie.includes('session')) throw new Error(`${name} was not signed in: ${answer.status}`)
  return cookie
}

function cookiesOf({ headers }: RawAnswer): string {
  return (headers['set-cookie'] ?? []).map(cookie => cookie.split(';', 1)[0]).join('; ')
}

function filled(request: GoldenRequest, secrets: ReadonlyMap<string, string>): GoldenRequest {
  const text = JSON.stringify(request).replaceAll(
    /\{[\w:]+\}|%7B\w+(?:%3A\w+)?%7D/g,
    found => secrets.get(decodeURIComponent(found)) ?? found,
  )
  return JSON.parse(text) as GoldenRequest
}

function send(port: number, agent: Agent, { method, url, headers, body }: GoldenRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const requested = httpRequest(
      { host: '127.0.0.1', port, path: url, method, agent, headers: { ...headers, ...length } },
      response => {
        const pieces: Buffer[] = []
        response.on('data', piece => pieces.push(piece))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: decoded(Buffer.concat(pieces), response.headers['content-encoding']),
          }),
        )
      },
    )
    requested.on('error', reject)
    requested.end(body)
  })
}

function decoded(body: Buffer, coding: string | undefined): Buffer {
  if (body.length === 0) return body
  if (coding === 'gzip') return gunzipSync(body)
  return coding === 'br' ? brotliDecompressSync(body) : body
}
