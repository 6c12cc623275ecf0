import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Fault } from '../errors/errors.ts'
import type { Config } from './config.ts'
import { CONFIG_INVALID } from './faults.ts'
import { refuseOtherGrants } from './saml.ts'
import type { PortalSettings } from './schema.ts'

/** An OpenID Connect provider, and the grants of its groups. */
export interface SignInProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecretFile?: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly groupsClaim: string
  readonly groups: Readonly<Record<string, readonly string[]>>
}

/** The members of an object that are defined. */
export function definedOnly<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never
}

export function storePassword(password: string | undefined, file: string | undefined, portal: string) {
  if (file === undefined) return password
  try {
    return readFileSync(path.resolve(portal, file), 'utf8').split(/\r?\n/, 1)[0]
  } catch (cause) {
    const reason = `store_password_file: ${file} cannot be read: ${(cause as NodeJS.ErrnoException).code}`
    throw new Fault(CONFIG_INVALID, { reason }, { cause })
  }
}

/** The database of accounts; the file with its password is relative to the folder of the portal. */
export function accountsOf(
  url: string,
  portal: string,
  passwordFile: string | undefined,
): Config['accounts'] & {} {
  const { protocol = '', hostname = '', pathname = '' } = URL.canParse(url) ? new URL(url) : {}
  if (!/^postgres(ql)?:$/.test(protocol) || hostname === '' || pathname.length < 2) {
    // The invalid value may contain a password.
    const reason =
      'accounts: postgres://user:password@host:port/database is expected, with characters of user and password percent-encoded; the address found is not shown, as it may contain a password'
    throw new Fault(CONFIG_INVALID, { reason })
  }
  return passwordFile === undefined ? { url } : { url, passwordFile: path.resolve(portal, passwordFile) }
}

/** The sign-in provider; the file with the secret is relative to the folder of the portal. */
export function signInOf(given: NonNullable<PortalSettings['sign_in']>, portal: string): SignInProvider {
  const { issuer, client_id: clientId, client_secret_file: file, scopes = ['profile', 'email'] } = given
  const { name = new URL(issuer).hostname, groups_claim: groupsClaim = 'groups', groups = {} } = given
  refuseOtherGrants('sign_in', groups)
  const secret = file === undefined ? {} : { clientSecretFile: path.resolve(portal, file) }
  return { issuer, clientId, name, scopes, groupsClaim, groups, ...secret }
}

/** The portals of the network, each with its domain: the domains are distinct, and none is that of this portal. */
export function networkOf(
  given: NonNullable<PortalSettings['network']>,
  base: string,
): Config['network'] & {} {
  const taken = new Set([new URL(base).hostname])
  return given.map(({ url, domain = new URL(url).hostname }) => {
    if (taken.has(domain)) {
      const reason = `network: ${url} has the domain ${domain}, which another portal has already: give it one with domain`
      throw new Fault(CONFIG_INVALID, { reason })
    }
    taken.add(domain)
    return { url: url.replace(/\/+$/, ''), domain }
  })
}
