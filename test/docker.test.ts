import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { loadConfig } from '../src/config/load.ts'
import { PORTAL_SCHEMA } from '../src/config/schema.ts'
import { temporaryFolder } from './support/folder.ts'

/** What can be said of the image and of the compose files without making any of them. */
const root = path.resolve(import.meta.dirname, '..')
const read = (name: string) => readFileSync(path.join(root, name), 'utf8')
const dockerfile = read('docker/Dockerfile')
const ignored = read('.dockerignore').split('\n')
const project = JSON.parse(read('package.json')) as {
  readonly engines: { readonly node: string }
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

interface Service {
  readonly image: string
  readonly user?: string
  readonly environment?: Readonly<Record<string, string | number>>
  readonly volumes?: readonly string[]
  readonly secrets?: readonly string[]
  readonly networks?: readonly string[]
  readonly ports?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly restart?: string
  readonly mem_limit?: string
  readonly ulimits?: Readonly<Record<string, number>>
  readonly stop_grace_period?: string
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes?: Readonly<Record<string, unknown>>
  readonly networks?: Readonly<Record<string, unknown>>
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>
}

const composeFiles = readdirSync(path.join(root, 'docker')).filter(name => /^compose.*\.yaml$/.test(name))
const compose = new Map(
  composeFiles.map(name => [name, parse(read(`docker/${name}`), { merge: true }) as Compose]),
)
const servicesOf = ({ services }: Compose) => Object.entries(services)
const lodestones = [...compose].flatMap(([file, of]) =>
  servicesOf(of)
    .filter(([name]) => name.startsWith('lodestone'))
    .map(([name, service]) => ({ place: `${file}: ${name}`, service })),
)

/** What threads run, besides what the command line loads. */
const THREADS = ['publishing/publisher-worker.ts', 'store/embedded/worker.ts']

/** The lines of the Dockerfile that begin with an instruction, continued lines joined. */
const instructions = dockerfile
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter(line => line !== '')
  .map(line => ({ name: line.split(' ')[0] ?? '', given: line.slice(line.indexOf(' ') + 1).trim() }))
const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))
const givenBy = (name: string) =>
  last.filter(instruction => instruction.name === name).map(({ given }) => given)

t.test('what the image copies is there, and is let into the build', async t => {
  const copied = instructions
    .filter(({ name, given }) => name === 'COPY' && !given.startsWith('--from'))
    .flatMap(({ given }) => given.split(/\s+/).slice(0, -1))
  t.ok(copied.length >= 8)
  t.equal(
    ignored.find(line => line !== '' && !line.startsWith('#')),
    '*',
    'nothing comes in by itself',
  )
  for (const name of new Set(copied)) {
    t.ok(existsSync(path.join(root, name)), name)
    t.ok(ignored.includes(`!${name}`), `${name} is let in`)
  }
  for (const line of ignored.filter(line => line.startsWith('!')))
    t.ok(copied.includes(line.slice(1)), `${line} is needed`)
})

t.test('the image has the packages of dependencies, which are all that Lodestone imports', async t => {
  t.match(dockerfile, /npm ci --omit=dev --ignore-scripts/)
  const files = loadedFrom(['cli/lodestone.ts', ...THREADS])
  t.ok(files.length > 300)
  const missing = files.flatMap(file =>
    importsOf(read(`src/${file}`))
      .filter(
        name =>
          !name.startsWith('.') &&
          !Object.hasOwn({ ...project.dependencies, ...project.peerDependencies }, name),
      )
      .map(name => `${file} imports ${name}`),
  )
  t.same(missing, [], 'in dependencies of package.json')
})

t.test('the image is of a user without rights, can be stopped and says whether it lives', async t => {
  const [user = ''] = givenBy('USER')
  t.match(user, /^[1-9]\d*:[1-9]\d*$/, 'a number, so that it can be seen that it is not root')
  t.same(givenBy('STOPSIGNAL'), ['SIGTERM'])
  t.match(givenBy('HEALTHCHECK')[0], /CMD \["node", "\/app\/docker\/health\.js"\]$/)
  t.same(givenBy('VOLUME'), ['/portal/var'])
  t.same(givenBy('ENTRYPOINT'), ['["lodestone"]'])
  t.match(givenBy('LABEL')[0], 'org.opencontainers.image.licenses="MIT"')
  const major = /NODE_IMAGE=node:(\d+)-/.exec(dockerfile)?.[1]
  t.equal(`${major}`, />=(\d+)/.exec(project.engines.node)?.[1], 'Node of engines')
  const bases = instructions.filter(({ name }) => name === 'FROM').map(({ given }) => given.split(' ')[0])
  t.same([...new Set(bases)], ['$' + '{NODE_IMAGE}'], 'one base')
})

t.test('what the image and the compose files set are settings, with values that are accepted', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': '', password: 'p' })
  const ofImage = Object.fromEntries(
    [
      ...givenBy('ENV')
        .join(' ')
        .matchAll(/(\w+)=(\S+)/g),
    ].map(([, name = '', value = '']) => [name, value]),
  )
  t.equal(ofImage.LODESTONE_PORTAL, '/portal')
  t.equal(ofImage.NODE_ENV, 'production')
  t.match(givenBy('EXPOSE'), [ofImage.LODESTONE_PORT])
  t.ok(lodestones.length >= 3)
  for (const { place, service } of lodestones) {
    const given = Object.entries({ ...ofImage, ...service.environment }).filter(
      ([name]) => name !== 'NODE_ENV' && name !== 'MALLOC_ARENA_MAX',
    )
    for (const [name] of given.filter(([name]) => name !== 'LODESTONE_PORTAL'))
      t.ok(
        Object.hasOwn(PORTAL_SCHEMA.properties, name.replace('LODESTONE_', '').toLowerCase()),
        `${place} ${name}`,
      )
    const values = given.map(([name, value]) => [name, filledIn(String(value))])
    const environment = { ...Object.fromEntries(values), LODESTONE_PORTAL: portal }
    t.doesNotThrow(() => loadConfig({}, environment), place)
  }
})

t.test('no container can more than it needs, and none is without bounds', async t => {
  for (const [file, of] of compose)
    for (const [name, service] of servicesOf(of)) {
      const place = `${file}: ${name}`
      t.equal(service.read_only, true, `${place} has a root that is read-only`)
      t.same(service.cap_drop, ['ALL'], place)
      t.same(service.security_opt, ['no-new-privileges:true'], place)
      t.equal(service.restart, 'unless-stopped', place)
      t.match(service.mem_limit, /\d[mg]\}?$/, `${place} has a limit of memory`)
      t.ok(service.stop_grace_period, `${place} has time to end`)
    }
})

t.test('no query takes more memory than a container may have', async t => {
  for (const { place, service } of lodestones) {
    // On an engine there are two embedded stores of one thread each.
    const given = /:-(\d+)\}$/.exec(String(service.environment?.LODESTONE_WORKERS ?? ''))?.[1]
    const workers = 'LODESTONE_STORE' in (service.environment ?? {}) ? 2 : Number(given)
    const [, limit = ''] = /:-(\d+)g\}$/.exec(service.mem_limit ?? '') ?? []
    t.ok(
      Number(limit) >= 4 * workers + 1,
      `${place}: ${limit} GiB for ${workers} workers of 4 GiB, and the rest`,
    )
  }
})

t.test('threads may restore their priority', async t => {
  for (const { place, service } of lodestones) t.same(service.ulimits, { nice: 20 }, place)
})

t.test('the compose files name what they have', async t => {
  t.same(composeFiles, ['compose.cluster.yaml', 'compose.yaml'])
  for (const [file, { volumes = {}, networks = {}, secrets = {}, ...of }] of compose) {
    const mounted = servicesOf({ ...of }).flatMap(([, service]) => service.volumes ?? [])
    const named = mounted.map(volume => volume.split(':')[0] ?? '').filter(name => /^[a-z]/.test(name))
    t.same([...new Set(named)].sort(), Object.keys(volumes).sort(), `volumes of ${file}`)
    for (const [name, service] of servicesOf({ ...of })) {
      for (const other of Object.keys(service.depends_on ?? {})) t.ok(of.services[other], `${name}: ${other}`)
      for (const network of service.networks ?? []) t.ok(network in networks, `${name}: ${network}`)
      for (const secret of service.secrets ?? []) t.ok(secret in secrets, `${name}: ${secret}`)
    }
    for (const volume of mounted.filter(volume => volume.startsWith('./')))
      t.ok(existsSync(path.join(root, 'docker', volume.split(':')[0] ?? '')), volume)
    t.notMatch(read(`docker/${file}`), /:\/\/[^/\s@]*:[^/\s@]*@/, `${file} has no password in an address`)
    t.notMatch(read(`docker/${file}`), /PASSWORD: /, `${file} has no password in an environment`)
  }
})

t.test('the engine and the accounts are reached through Lodestone alone', async t => {
  const cluster = compose.get('compose.cluster.yaml')
  t.same(cluster?.networks?.back, { internal: true })
  for (const name of ['oxigraph', 'postgres']) {
    t.same(cluster?.services[name]?.networks, ['back'], name)
    t.equal(cluster?.services[name]?.ports, undefined, name)
  }
  t.same(cluster?.services.proxy?.networks, ['front'])
})

t.test('the proxy sends to the instances there are, and waits longer than a query may take', async t => {
  const proxy = read('docker/Caddyfile')
  const cluster = compose.get('compose.cluster.yaml')
  const [, upstreams = ''] = /reverse_proxy ([^{]+)\{/.exec(proxy) ?? []
  const instances = Object.keys(cluster?.services ?? {}).filter(name => name.startsWith('lodestone'))
  t.same(upstreams.trim().split(' ').sort(), instances.map(name => `${name}:3000`).sort())
  const { deadline } = loadConfig({ portal: temporaryFolder(t, { 'portal.yaml': '' }) }, {})
  t.ok(Number(/response_header_timeout (\d+)s/.exec(proxy)?.[1]) > deadline)
  t.match(proxy, /method GET HEAD OPTIONS\n/, 'what is sent again')
  for (const { place, service } of lodestones.filter(({ place }) => place.startsWith('compose.cluster'))) {
    const { LODESTONE_SHUTDOWN_DELAY: delay, LODESTONE_PROXIES: proxies } = service.environment ?? {}
    const seconds = ['health_interval', 'health_timeout'].map(name =>
      Number(new RegExp(`${name} (\\d+)s`).exec(proxy)?.[1]),
    )
    t.ok(Number(delay) > seconds.reduce((sum, value) => sum + value), `${place}: the proxy sees it end`)
    t.equal(proxies, 1, place)
  }
})

t.test('the health check ends with 0 where Lodestone answers, and with another code where not', async t => {
  let status = 200
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/healthz' ? status : 404).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  t.equal(await healthOf(port), 0)
  status = 503
  t.equal(await healthOf(port), 1)
  await new Promise(resolve => server.close(resolve))
  t.not(await healthOf(port), 0, 'nobody listens')
})

async function healthOf(port: number): Promise<number | null> {
  const env = { ...process.env, LODESTONE_PORT: String(port) }
  const check = spawn(process.execPath, [path.join(root, 'docker/health.js')], { env, stdio: 'ignore' })
  const [code] = (await once(check, 'exit')) as [number | null]
  return code
}

/** The source files that are loaded from some, by each other. */
function loadedFrom(files: readonly string[]): readonly string[] {
  const loaded = new Set(files)
  for (const file of loaded)
    for (const name of importsOf(read(`src/${file}`)))
      if (name.startsWith('.')) loaded.add(path.posix.join(path.posix.dirname(file), name))
  return [...loaded]
}

/** The packages and files whose code a source file loads; types alone are not loaded. */
function importsOf(text: string): readonly string[] {
  const statements = text.matchAll(/^(?:(?:import|export)(?! type)|\})[^'"\n]* from '([^']*)'$/gm)
  const loaded = text.matchAll(/\bimport\('([^']*)'\)/g)
  return [...statements, ...loaded]
    .map(([, name = '']) => (name.startsWith('.') ? name : packageOf(name)))
    .filter(name => !name.startsWith('node:'))
}

function packageOf(name: string): string {
  return /^(@[^/]+\/[^/]+|[^/]+)/.exec(name)?.[0] ?? name
}

/** A value of a compose file as it is without any variable: the default of each, or an address. */
function filledIn(value: string): string {
  return value.replaceAll(
    /\$\{\w+(?::-([^}]*)|:\?[^}]*)\}/g,
    (_, byDefault) => byDefault ?? 'http://localhost',
  )
}
