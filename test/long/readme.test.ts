import { spawn } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/folder.ts'
import { FLAGS } from '../support/script.ts'
import { freePort } from '../support/serving.ts'

/** The README, the tour and the reference of ODSQL on the demonstration portal: each call answers as shown. */
const root = path.resolve(import.meta.dirname, '../..')
const text = (file: string) => readFileSync(path.join(root, file), 'utf8')
const reference = text('src/language/odsql/reference.md')
const SHOWN = 'http://localhost:3000'

interface Step {
  readonly command: string
  readonly language: string
  readonly answer: string
}

const stepsOf = (file: string): readonly Step[] =>
  [...text(file).matchAll(/```sh\n([^`]*?)\n```\n\n```(json|csv|turtle)\n([\s\S]*?)\n```/g)].map(
    ([, command = '', language = '', answer = '']) => ({ command, language, answer }),
  )
const steps = [...stepsOf('README.md'), ...stepsOf('docs/tour.md')]

/** An example of the reference: where it is asked, its parameters in order, and the answer as written. */
interface Example {
  readonly api: string
  readonly dataset: string
  readonly resource: string
  readonly parameters: readonly (readonly [name: string, value: string])[]
  readonly answer: string
}

const examples: readonly Example[] = [
  ...reference.matchAll(/```odsql\n([\s\S]*?)\n```\n\n```json\n([\s\S]*?)\n```/g),
].map(([, requested = '', answer = '']) => readExample(requested, answer))

t.test('the demonstration portal answers the README, the tour and the reference as shown there', async t => {
  t.equal(stepsOf('README.md').length, 6, 'six calls are found')
  t.ok(stepsOf('docs/tour.md').length >= 9, 'the tour is found')
  t.ok(examples.length >= 60, 'the examples are found')
  t.equal(examples.length, reference.split('```odsql').length - 1, 'each example has an answer')
  let kill: () => unknown = () => undefined
  // Before the folder is made, so that it is removed after the server has ended.
  t.teardown(() => kill())
  const portal = temporaryFolder(t, {})
  cpSync(path.join(root, 'portal.yaml'), path.join(portal, 'portal.yaml'))
  for (const folder of ['data', 'mappings'])
    cpSync(path.join(root, folder), path.join(portal, folder), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(portal, 'node_modules'))
  const port = await freePort()
  const address = `http://localhost:${port}`
  // The public address is the shown one, so that every link and IRI is as shown; calls go to the free port.
  const args = ['serve', '--portal', portal, '--port', String(port), '--base', SHOWN]
  const server = spawn(process.execPath, [...FLAGS, path.join(root, 'bin/lodestone.js'), ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let described = ''
  server.stderr.on('data', piece => {
    described += String(piece)
  })
  const ended = new Promise<never>((_, reject) =>
    server.once('close', (code, signal) =>
      reject(new Error(`serve ended with ${code ?? signal}: ${described}`)),
    ),
  )
  kill = () => {
    server.kill('SIGKILL')
    return ended.catch(() => undefined)
  }
  await Promise.race([until(async () => (await fetch(`${address}/readyz`)).ok), ended])
  for (const step of steps) {
    if (step.command.startsWith('npx ')) continue
    const answer = await call(step.command, address)
    if (step.language === 'json')
      t.same(steady(JSON.parse(answer)), steady(JSON.parse(step.answer)), step.command)
    else t.equal(answer.trim().replaceAll('\r\n', '\n'), step.answer.trim(), step.command)
  }
  for (const example of examples) {
    const url = exampleUrl(example, address)
    const body: unknown = await (await fetch(url)).json()
    const shown: unknown = JSON.parse(example.answer)
    const found = Array.isArray(shown) ? rowsOf(body) : body
    t.strictSame(steady(found), steady(shown), decodeURIComponent(url.slice(address.length)))
  }
  t.match(await (await fetch(`${address}/readyz`)).json(), {
    status: 'ready',
    store: { threads: { ready: 2 } },
  })
})

t.test('the documentation names every setting and every command', async t => {
  const { DEFAULTS } = await import('../../src/config/schema.ts')
  const { PORTAL_SCHEMA } = await import('../../src/config/schema.ts')
  const { program } = await import('../../src/cli/lodestone.ts')
  const rows = [
    ...text('docs/settings.md').matchAll(/^\| `(\w+)` \| `(LODESTONE_\w+)` \| ([^|]*?) *\| (.+) \|$/gm),
  ]
  t.same(
    rows.map(([, key]) => key).sort(),
    Object.keys(PORTAL_SCHEMA.properties).sort(),
    'the table has each setting once',
  )
  const defaults: Readonly<Record<string, unknown>> = DEFAULTS
  for (const [, key = '', variable, described, meaning] of rows) {
    t.equal(variable, `LODESTONE_${key.toUpperCase()}`)
    if (Object.hasOwn(defaults, key)) t.equal(described, String(defaults[key]), `default of ${key}`)
    t.match(meaning, /\S.{9,}/, `meaning of ${key}`)
  }
  const commands = text('docs/commands.md')
  for (const command of (await program()).commands)
    t.ok(commands.includes(`lodestone ${command.name()}`), `command ${command.name()}`)
})

t.test('the reference names every word of the language', async t => {
  const words = await import('../../src/language/odsql/vocabulary.ts')
  for (const { signature, uses, description } of [...words.FUNCTIONS.values(), words.BBOX_CONDITION])
    t.ok(reference.includes(`| \`${signature}\` | ${uses.join(', ')} | ${description} |`), signature)
  const names = [
    ...Object.keys(words.LENGTH_UNITS),
    ...Object.keys(words.TIME_UNITS),
    ...Object.keys(words.NOW_SETTERS),
    ...words.NOW_ADDERS,
    ...Object.keys(words.RELATIONS),
    ...words.RESERVED_WORDS,
    ...words.OPEN_WORDS,
  ]
  for (const name of new Set(names)) t.ok(reference.includes(`\`${name}\``), name)
})

/** Reads an example: the API and the dataset in its first line, then one `parameter: value` a line. */
function readExample(requested: string, answer: string): Example {
  const [place = '', ...lines] = requested.split('\n')
  const [family = '', version = '', dataset = '', resource = 'records'] = place.split(' ')
  const parameters = lines.map((line): readonly [string, string] => {
    const [name = '', value = ''] = line.split(/: (.*)/s)
    return [name, value]
  })
  const api = family === 'search' ? `/api/${version}` : `/api/explore/${version}`
  return { api, dataset, resource, parameters, answer }
}

/** The address of an example; `catalog` stands for the list of datasets. */
function exampleUrl({ api, dataset, resource, parameters }: Example, address: string): string {
  const lists = resource === 'records' ? '/catalog/datasets' : `/catalog/${resource}`
  const path = dataset === 'catalog' ? lists : `/catalog/datasets/${dataset}/${resource}`
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `${address}${api}${path}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

/** The rows of an answer without what the APIs put around them; the whole body where it has none. */
function rowsOf(body: unknown): unknown {
  const answer = body as Readonly<Record<string, readonly unknown[] | undefined>>
  const rows = answer.results ?? answer.records ?? answer.aggregations
  return rows?.map(row => (row as { record?: { fields: unknown } }).record?.fields ?? row) ?? body
}

/** Runs one curl call of the documentation: -G with --data-urlencode and -d, -H, and `| tail -N`. */
async function call(command: string, address: string): Promise<string> {
  const [curl = '', pipe] = command.split(/ \| (?=tail)/)
  const words = [...curl.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  )
  const parameters: string[] = []
  const headers: Record<string, string> = {}
  let url = ''
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? ''
    const [name = '', value = ''] = (words[at + 1] ?? '').split(/=(.*)/s)
    if (word === '--data-urlencode' || word === '-d') {
      parameters.push(`${name}=${word === '-d' ? value : encodeURIComponent(value)}`)
      at += 1
    } else if (word === '-H') {
      const [header = '', content = ''] = (words[at + 1] ?? '').split(/: (.*)/s)
      headers[header] = content
      at += 1
    } else if (word.startsWith('http')) url = word
  }
  const query = parameters.length === 0 ? '' : `?${parameters.join('&')}`
  const body = await (await fetch(url.replace(SHOWN, address) + query, { headers })).text()
  const lines = pipe === undefined ? null : Number(pipe.replace('tail -', ''))
  return lines === null ? body : body.trimEnd().split('\n').slice(-lines).join('\n')
}

/** What differs from one publication to the next, taken out. */
function steady(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, inner: unknown) => (key === 'timestamp' ? '' : inner)))
}

async function until(test: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1500; tries++) {
    if (await test().catch(() => false)) return
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  throw new Error('waited in vain')
}
