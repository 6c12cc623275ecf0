import { createServer } from 'node:net'
import { runningServers } from '../../app/running.ts'
import type { Config } from '../../config/config.ts'
import { type DoctorFinding, ok, problem, warning } from './finding.ts'

/** Checks whether the ports are free, or used by a server of this portal. */
export async function diagnosePorts(config: Config, now: number): Promise<readonly DoctorFinding[]> {
  const { host, port, adminHost, adminPort } = config
  const running = runningServers(config.portal, now)
  if (running.length > 0) {
    const described = running.map(server => `process ${server.pid} on ${server.host}, port ${server.port}`)
    return [ok('ports', `a server runs: ${described.join('; ')}`)]
  }
  const required: readonly (readonly [setting: string, host: string, port: number])[] = [
    ['port', host, port],
    ...(adminPort === undefined ? [] : [['admin_port', adminHost, adminPort] as const]),
  ]
  return Promise.all(
    required.map(async ([setting, address, number]) => {
      const code = await listenError(address, number)
      return code === null
        ? ok('ports', `${setting} ${address}:${number} is free`)
        : problem(
            'ports',
            `${setting} ${address}:${number} cannot be had: ${code}`,
            `choose another ${setting}, or end who has it`,
          )
    }),
  )
}

/** Checks whether the public address is usable by other machines, and whether the proxies in front of it are configured. */
export function diagnoseBase({
  base,
  proxies = 0,
}: Pick<Config, 'base' | 'proxies'>): readonly DoctorFinding[] {
  const { protocol, hostname } = new URL(base)
  const isLocal = /^(localhost|127\.|\[::1\])/.test(hostname)
  if (isLocal) {
    const described = `${base} is an address of this machine alone`
    return proxies > 0
      ? [warning('base', described, 'set base to the public address: every IRI and link begins with it')]
      : [ok('base', `${described}; set base before others use the portal`)]
  }
  if (protocol === 'http:') {
    const advice =
      'use https: passwords and keys would be sent in the clear, and cookies are not marked as secure'
    return [warning('base', `${base} is not encrypted`, advice)]
  }
  if (proxies === 0) {
    const described = `${base} needs a proxy for TLS, and proxies is 0`
    const advice = 'set proxies to the number of proxies in front: else all clients count as one address'
    return [warning('base', described, advice)]
  }
  return [ok('base', `${base}, behind ${proxies} ${proxies === 1 ? 'proxy' : 'proxies'}`)]
}

/** The error of listening; null if it is possible. */
function listenError(host: string, port: number): Promise<string | null> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', error => resolve((error as NodeJS.ErrnoException).code ?? error.message))
    server.listen({ host, port }, () => server.close(() => resolve(null)))
  })
}
