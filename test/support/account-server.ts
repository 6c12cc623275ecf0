import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import type { Accounts } from '../../src/accounts/accounts.ts'
import { oauth } from '../../src/api/oauth/routes.ts'
import type { SamlProvider, SignInProvider } from '../../src/config/derived.ts'
import { parseQueryString } from '../../src/http/query-string.ts'
import { cookieScope, readCookie } from '../../src/http/session-cookie.ts'
import { ANONYMOUS } from '../../src/model/principal.ts'
import { accountPages } from '../../src/portal/account/routes.ts'
import { GIVEN_PLACE, openAny } from './accounts.ts'

export const PASSWORD = 'correct horse battery'

/** The pages of accounts and the endpoints of OAuth, without the rest of a portal. */
export interface AccountServer {
  readonly http: FastifyInstance
  readonly accounts: Accounts
  /** Moves the clock. */
  readonly wait: (milliseconds: number) => void
  /** How often passwords were looked at. */
  readonly verified: () => number
  readonly close: () => Promise<void>
}

/** @param base the address; where it is a function, the server listens first and is told its port */
export async function accountServer(
  base = 'http://portal.test',
  {
    listens = 0,
    place = GIVEN_PLACE ?? null,
    saml,
    provider,
  }: {
    readonly listens?: number
    readonly place?: string | null
    readonly saml?: SamlProvider
    readonly provider?: SignInProvider
  } = {},
): Promise<AccountServer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'accounts-'))
  let later = 0
  let verified = 0
  const now = () => Date.now() + later
  const opened = await openAny(place ?? path.join(folder, 'accounts.sqlite'), { now })
  const accounts: Accounts = {
    ...opened,
    users: {
      ...opened.users,
      verify: (name, password) => {
        verified++
        return opened.users.verify(name, password)
      },
    },
  }
  const http = fastify({ routerOptions: { ignoreTrailingSlash: true, querystringParser: parseQueryString } })
  http.addHook('onRequest', async (request, reply) => {
    reply.header('access-control-allow-origin', '*')
    const token = readCookie(request.headers, 'session', cookieScope(base))
    request.principal = (token === null ? null : await accounts.sessions.principal(token)) ?? ANONYMOUS
  })
  const options = {
    accounts,
    base,
    title: 'Test portal',
    description: '',
    languages: ['en'],
    now,
    address: (request: { readonly headers: Readonly<Record<string, unknown>> }) =>
      String(request.headers['x-address'] ?? '192.0.2.1'),
    ...(saml === undefined ? {} : { saml }),
    ...(provider === undefined ? {} : { provider }),
  }
  await http.register(accountPages, options)
  await http.register(oauth, options)
  if (listens > 0) await http.listen({ port: listens, host: '127.0.0.1' })
  return {
    http,
    accounts,
    wait: milliseconds => {
      later += milliseconds
    },
    verified: () => verified,
    close: async () => {
      await http.close()
      await opened.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Fields = Readonly<Record<string, string>>

/** A browser that keeps cookies and sends the forms of pages, hidden fields included. */
export class Browser {
  readonly cookies = new Map<string, string>()
  private readonly http: FastifyInstance
  private readonly headers: Fields

  constructor(http: FastifyInstance, headers: Fields = {}) {
    this.http = http
    this.headers = headers
  }

  async get(url: string, headers: Fields = {}): Promise<LightMyRequestResponse> {
    return this.keep(await this.http.inject({ url, headers: this.allHeaders(headers) }))
  }

  async post(url: string, fields: Fields | string, headers: Fields = {}): Promise<LightMyRequestResponse> {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const payload = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString()
    const all = this.allHeaders({ ...type, ...headers })
    return this.keep(await this.http.inject({ method: 'POST', url, headers: all, payload }))
  }

  /** Sends the form of a page that has all fields that are given, with its hidden ones. */
  async submit(
    page: LightMyRequestResponse,
    fields: Fields,
    headers: Fields = {},
  ): Promise<LightMyRequestResponse> {
    const form = formsOf(page.body).find(({ body }) =>
      Object.keys(fields).every(name => body.includes(` name="${name}"`)),
    )
    if (form === undefined) throw new Error(`the page has no form for ${Object.keys(fields)}`)
    return this.post(form.action, { ...hiddenFields(form.body), ...fields }, headers)
  }

  async logIn(name: string, password = PASSWORD, next?: string): Promise<LightMyRequestResponse> {
    const query = next === undefined ? '' : `?${new URLSearchParams({ next })}`
    const page = await this.get(`/account/login/${query}`)
    return this.submit(page, { username: name, password })
  }

  private allHeaders(headers: Fields): Fields {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return { ...(cookie === '' ? {} : { cookie }), ...this.headers, ...headers }
  }

  private keep(response: LightMyRequestResponse): LightMyRequestResponse {
    for (const { name, value, maxAge } of response.cookies)
      if (maxAge === 0) this.cookies.delete(name)
      else this.cookies.set(name, value)
    return response
  }
}

export function formsOf(page: string): { readonly action: string; readonly body: string }[] {
  return [...page.matchAll(/<form method="post" action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(found => ({
    action: plain(found[1] ?? ''),
    body: found[2] ?? '',
  }))
}

export function hiddenFields(form: string): Record<string, string> {
  const found = form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, plain(value)]))
}

/** Text of HTML without its entities. */
export function plain(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
