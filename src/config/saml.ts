import path from 'node:path'
import { type Static, Type } from 'typebox'
import { Fault } from '../errors/errors.ts'
import { CONFIG_INVALID } from './faults.ts'
import { patternText } from './texts.ts'

/** Grants of a provider's groups: a dataset, everything, the right to edit or publish either, or a role. */
const GRANT = /^(?:(?:edit:|publish:)?(?:\*|[a-z0-9][a-z0-9_-]{0,99})|reader|publisher|administrator)$/

/** The setting `saml_sign_in` of portal.yaml. */
export const SAML_SCHEMA = Type.Object(
  {
    metadata_file: Type.Optional(
      Type.String({ minLength: 1, description: 'File with the metadata of the identity provider' }),
    ),
    entry_point: Type.Optional(
      patternText('addressWithQuery', {
        description:
          'Where the identity provider takes requests by redirect, where there is no metadata_file',
      }),
    ),
    certificate_file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'File with the certificates (PEM) of its signatures, where there is no metadata_file',
      }),
    ),
    issuer: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description: 'Entity id of the identity provider, where there is no metadata_file',
      }),
    ),
    entity_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1024, description: 'Entity id of this portal at the provider' }),
    ),
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'Name of the provider on the sign-in page' }),
    ),
    subject_attribute: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Attribute that never changes for a person; without it NameID',
      }),
    ),
    name_attribute: Type.Optional(
      Type.String({ minLength: 1, description: 'Attribute that becomes the name of the user' }),
    ),
    groups_attribute: Type.Optional(
      Type.String({ minLength: 1, description: 'Attribute that lists the groups of a person' }),
    ),
    groups: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String()), {
        description: 'Grants of the members of each group: ids of datasets, *, edit:…, publish:…, or a role',
      }),
    ),
  },
  { additionalProperties: false, description: 'An identity provider of SAML 2.0 where people sign in' },
)

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
  given: Static<typeof SAML_SCHEMA>,
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

function sourceOf(given: Static<typeof SAML_SCHEMA>, portal: string): SamlProvider['source'] {
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
export function refuseOtherGrants(
  setting: string,
  groups: Readonly<Record<string, readonly string[]>>,
): void {
  for (const [group, grants] of Object.entries(groups))
    for (const grant of grants)
      if (!GRANT.test(grant)) {
        const reason = `${setting}: the group ${group} gives ${grant}: a grant is the id of a dataset, * for all, edit: or publish: before either, ods-api-monitoring, or one of the roles reader, publisher and administrator`
        throw new Fault(CONFIG_INVALID, { reason })
      }
}
