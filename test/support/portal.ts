import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { buildApp } from '../../src/app/app.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { type PublishMessage, publishAll } from '../../src/publishing/publish-all.ts'
import { type FolderFiles, temporaryFolder } from './folder.ts'

/** The public address of a portal of tests. */
export const BASE = 'http://portal.example'

type Headers = Readonly<Record<string, string | undefined>>
type Query = Readonly<Record<string, string | readonly string[]>>

type Context = Omit<Parameters<typeof publishAll>[0], 'portal' | 'base' | 'now'> & {
  readonly base?: string
  readonly now?: () => Date
}

/** Publishes datasets of a portal folder, all without a list, and returns what was reported, failures among it. */
export async function publishReports(
  portal: string,
  context: Context = {},
  datasets: readonly string[] | null = null,
) {
  const messages: PublishMessage[] = []
  await publishAll({ portal, base: BASE, now: () => new Date(), ...context }, datasets, message =>
    messages.push(message),
  )
  return messages.filter(message => message.type !== 'progress')
}

/** Publishes datasets of a portal folder, all without a list; throws where one cannot be published. */
export async function publishPortal(
  portal: string,
  context: Context = {},
  datasets: readonly string[] | null = null,
) {
  const reports = await publishReports(portal, context, datasets)
  for (const report of reports)
    if (report.type === 'failed') throw new Error(`${report.dataset}: ${report.reason}`)
  return reports
}

interface PortalOptions {
  /** The folder of the portal, or what is to be in it. */
  readonly portal: string | FolderFiles
  readonly base?: string
  /** The time of the publication. */
  readonly now?: string
  /** False where the test publishes, before or after. */
  readonly isPublished?: boolean
  /** False for a portal that answers 503 until `open` is called. */
  readonly isOpen?: boolean
  /** Listens on this port of 127.0.0.1, on any free one where it is 0; otherwise requests are injected only. */
  readonly port?: number
  readonly environment?: NodeJS.ProcessEnv
  readonly config?: Partial<Config>
}

/** Publishes and serves a small portal in this process until the test ends. */
export async function servePortal(t: Test, options: PortalOptions) {
  const { base = BASE, now, isPublished = true, isOpen = true, port, environment = {}, config } = options
  const portal = typeof options.portal === 'string' ? options.portal : temporaryFolder(t, options.portal)
  const time = () => (now === undefined ? new Date() : new Date(now))
  const reports = isPublished ? await publishPortal(portal, { base, now: time }) : []
  const flags = { portal, base, ...(port === undefined ? {} : { port }) }
  const app = await buildApp({ ...loadConfig(flags, environment), workers: 1, log: 'silent', ...config })
  t.teardown(() => app.close())
  const open = async () => {
    await app.catalog.refresh()
    app.markReady()
  }
  if (isOpen) await open()
  if (port !== undefined) await app.http.listen({ port, host: '127.0.0.1' })

  /** Requests an address of the portal, with headers or only what is accepted. */
  const get = (url: string, headers: Headers | string = {}) =>
    app.http.inject({
      url: url.startsWith(base) ? url.slice(base.length) : url,
      headers: typeof headers === 'string' ? { accept: headers } : { ...headers },
    })
  /** Requests JSON. */
  const getJson = async (url: string, query: Query = {}, headers: Headers = {}) => {
    const copy = Object.entries(query).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : [...value],
    ])
    const answer = await app.http.inject({ url, query: Object.fromEntries(copy), headers: { ...headers } })
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
  }
  /** Publishes what changed, and serves it. */
  const publish = async () => {
    await publishPortal(portal, { base })
    await app.catalog.refresh()
  }
  const listening = app.http.server.address() as AddressInfo | null
  return { app, portal, base, port: listening?.port ?? 0, reports, open, get, getJson, publish }
}
