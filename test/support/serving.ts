import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { spawnLodestone } from './crash.ts'

/** A port that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Starts a server in a process of its own, which the end of the test kills; it may not be listening yet. */
export function startServer(
  t: Test,
  portal: string,
  port: number,
  environment: NodeJS.ProcessEnv = {},
  args: readonly string[] = [],
) {
  const child = spawnLodestone(['serve', '--portal', portal, '--port', String(port), ...args], environment)
  t.teardown(() => child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', piece => {
    stdout += String(piece)
  })
  child.stderr.on('data', piece => {
    stderr += String(piece)
  })
  const ended = new Promise<number | string | null>(resolve =>
    child.once('close', (code, signal) => resolve(signal ?? code)),
  )
  const lines = () =>
    stderr.split('\n').flatMap(line => (line.startsWith('{') ? [JSON.parse(line) as Line] : []))
  const address = `http://127.0.0.1:${port}`
  return { child, port, address, ended, lines, stdout: () => stdout, stderr: () => stderr }
}

/** Starts a server; it is ready when this resolves. */
export async function startReadyServer(
  t: Test,
  portal: string,
  environment: NodeJS.ProcessEnv = {},
  args: readonly string[] = [],
) {
  const server = startServer(t, portal, await freePort(), environment, args)
  let ended: number | string | null | undefined
  server.ended.then(code => {
    ended = code
  })
  await until(() => ended !== undefined || server.stdout().includes('\n'))
  if (ended !== undefined) throw new Error(`serve ended with ${ended}: ${server.stderr()}`)
  return server
}

/** A line of the log. */
export type Line = Readonly<Record<string, unknown>>

/** Waits until something is so. */
export async function until(isSo: () => boolean | Promise<boolean>, timeout = 120_000): Promise<void> {
  const end = performance.now() + timeout
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`it was not so within ${timeout} ms: ${String(isSo)}`)
    await sleep(20)
  }
}
