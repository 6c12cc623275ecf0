import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a provider answers, where it is not what it should. */
export interface OpenIdAnswers {
  /** Claims of the ID token; those with undefined are left out. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Parameters of the redirect instead of a code. */
  readonly refusal?: Readonly<Record<string, string>>
  /** Status and body of the token endpoint. */
  readonly token?: readonly [status: number, body: unknown]
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** A small provider of OpenID Connect, which says whatever a test wants. */
export class SmallOpenIdProvider {
  answers: OpenIdAnswers = {}
  /** The path of the token endpoint, which metadata tell. */
  tokenPath = '/token'
  private readonly server: Server
  private nonce = ''

  constructor() {
    this.server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '', this.issuer)
      // The issuer may have a path.
      const [status, body] = this.answer(pathname.replace(/^.*(?=\/\.well-known)/, ''))
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  }

  async listen(): Promise<void> {
    await new Promise<void>(resolve => this.server.listen(0, '127.0.0.1', resolve))
  }

  close(): void {
    this.server.close()
    this.server.closeAllConnections()
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** The parameters with which the provider redirects back after a request of the portal. */
  respond(location: string): string {
    const request = new URL(location).searchParams
    this.nonce = request.get('nonce') ?? ''
    const { refusal = { code: 'a-secret-code' } } = this.answers
    return String(new URLSearchParams({ state: request.get('state') ?? '', ...refusal }))
  }

  private answer(path: string): readonly [status: number, body: unknown] {
    const { issuer, answers } = this
    switch (path) {
      case '/.well-known/openid-configuration':
        return [
          200,
          {
            issuer,
            authorization_endpoint: `${issuer}/auth`,
            token_endpoint: `${issuer}/token`,
            jwks_uri: `${issuer}/jwks`,
            ...answers.metadata,
          },
        ]
      case this.tokenPath:
        return (
          answers.token ?? [
            200,
            { access_token: 'a-secret-token', token_type: 'Bearer', id_token: this.idToken() },
          ]
        )
      default:
        return [404, {}]
    }
  }

  /** Over loopback the signature is not checked (OpenID Connect Core 1.0, section 3.1.3.7, number 6). */
  private idToken(): string {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: this.issuer,
      sub: '1',
      aud: 'lodestone',
      iat: now,
      exp: now + 300,
      nonce: this.nonce,
      preferred_username: 'ada',
      ...this.answers.claims,
    }
    const parts = [{ alg: 'RS256' }, claims].map(part =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    )
    return `${parts.join('.')}.${Buffer.from('signature').toString('base64url')}`
  }
}
