import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Fault } from '../errors/errors.ts'
import type { Config } from './config.ts'
import { CONFIG_INVALID } from './faults.ts'
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

/** Grants of a provider's groups: a dataset, everything, the right to edit or publish either, or a role. */
const GRANT = /^(?:(?:edit:|publish:)?(?:\*|[a-z0-9][a-z0-9_-]{0,99})|reader|publisher|administrator)$/

/** A SAML 2.0 identity provider, and the grants of its groups. */
export interface SamlProvider {
  /** Either a file with its metadata, or their content. */
  readonly source:
    | { readonly type: 'metadata'; readonly file: string }
    | {
        readonly type: 'given'
        readonly entryPoint: string
        readonly certificateFile: string
        readonly issuer: string
      }
  readonly entityId: string
  readonly name: string
  readonly subjectAttribute: string | null
  readonly nameAttribute: string | null
  readonly groupsAttribute: string
  readonly groups: Readonly<Record<string, readonly string[]>>
}

/** The identity provider of a portal; its files are relative to the folder of the portal. Faults: ConfigInvalid. */
export function samlProviderOf(
  given: NonNullable<PortalSettings['saml_sign_in']>,
  portal: string,
  base: string,
): SamlProvider {
  const { groups = {} } = given
  refuseOtherGrants('saml_sign_in', groups)
  return {
    source: sourceOf(given, portal),
    entityId: given.entity_id ?? `${base}/account/saml/metadata`,
    name: given.name ?? (given.entry_point === undefined ? 'SAML' : new URL(given.entry_point).hostname),
    subjectAttribute: given.subject_attribute ?? null,
    nameAttribute: given.name_attribute ?? null,
    groupsAttribute: given.groups_attribute ?? 'groups',
    groups,
  }
}

function sourceOf(
  given: NonNullable<PortalSettings['saml_sign_in']>,
  portal: string,
): SamlProvider['source'] {
  const { metadata_file: file, entry_point: entryPoint, certificate_file: certificate, issuer } = given
  const others = [entryPoint, certificate, issuer].filter(each => each !== undefined)
  if (file !== undefined && others.length === 0) return { type: 'metadata', file: path.resolve(portal, file) }
  if (file === undefined && entryPoint !== undefined && certificate !== undefined && issuer !== undefined)
    return { type: 'given', entryPoint, certificateFile: path.resolve(portal, certificate), issuer }
  const reason =
    'saml_sign_in: either metadata_file is expected, or entry_point, certificate_file and issuer together'
  throw new Fault(CONFIG_INVALID, { reason })
}

/** Faults: ConfigInvalid for an invalid grant of a group. */
function refuseOtherGrants(setting: string, groups: Readonly<Record<string, readonly string[]>>): void {
  for (const [group, grants] of Object.entries(groups))
    for (const grant of grants)
      if (!GRANT.test(grant)) {
        const reason = `${setting}: the group ${group} gives ${grant}: a grant is the id of a dataset, * for all, edit: or publish: before either, ods-api-monitoring, or one of the roles reader, publisher and administrator`
        throw new Fault(CONFIG_INVALID, { reason })
      }
}
