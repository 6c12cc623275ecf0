import { spawn } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import t from 'tap'

/** The tour of the README on the demonstration portal: each call answers as shown. */
const root = path.resolve(import.meta.dirname, '..')
const readme = readFileSync(path.join(root, 'README.md'), 'utf8')
const SHOWN = 'http://localhost:3000'

interface Step {
  readonly command: string
  readonly language: string
  readonly answer: string
}

const steps: readonly Step[] = [
  ...readme.matchAll(/```sh\n([^`]*?)\n```\n\n```(json|csv|turtle)\n([\s\S]*?)\n```/g),
].map(([, command = '', language = '', answer = '']) => ({ command, language, answer }))

t.test('the demonstration portal answers every call of the README as shown there', async t => {
  t.ok(steps.length >= 9, 'the tour is found')
  const portal = t.testdir({})
  cpSync(path.join(root, 'portal.yaml'), path.join(portal, 'portal.yaml'))
  cpSync(path.join(root, 'data'), path.join(portal, 'data'), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(portal, 'node_modules'))
  const port = await freePort()
  const address = `http://localhost:${port}`
  // The public address is the shown one, so that every link and IRI is as shown; calls go to the free port.
  const args = ['serve', '--portal', portal, '--port', String(port), '--base', SHOWN]
  const server = spawn(process.execPath, [path.join(root, 'bin/lodestone.js'), ...args], { stdio: 'ignore' })
  t.teardown(() => server.kill('SIGKILL'))
  await until(async () => (await fetch(`${address}/readyz`)).ok)
  for (const step of steps) {
    if (step.command.startsWith('npx lodestone')) continue
    const answer = await call(step.command, address)
    if (step.language === 'json')
      t.same(steady(JSON.parse(answer)), steady(JSON.parse(step.answer)), step.command)
    else t.equal(answer.trim(), step.answer.trim(), step.command)
  }
  t.match(await (await fetch(`${address}/readyz`)).json(), {
    status: 'ready',
    store: { workers: { ready: 2 } },
  })
})

t.test('the README names every setting and every command', async t => {
  const { PORTAL_SCHEMA } = await import('../src/config.ts')
  const { program } = await import('../src/cli/lodestone.ts')
  for (const key of Object.keys(PORTAL_SCHEMA.properties)) {
    t.ok(readme.includes(`\`${key}\``), `setting ${key}`)
    t.ok(readme.includes(`LODESTONE_${key.toUpperCase()}`), `variable of ${key}`)
  }
  for (const command of program().commands)
    t.ok(readme.includes(`lodestone ${command.name()}`), `command ${command.name()}`)
})

/** Runs one curl call of the README: -G with --data-urlencode and -d, -H, and `| tail -N`. */
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

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

async function until(test: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await test().catch(() => false)) return
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  throw new Error('waited in vain')
}
