import { Type } from 'typebox'
import { SAML_SCHEMA } from '../saml.ts'
import { patternText } from '../texts.ts'

/** Where accounts are stored, and where users sign in. */
export const ACCOUNTS_SETTINGS = {
  accounts: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'PostgreSQL database of users, keys and counted calls that several servers share: postgres://user:password@host:port/database',
    }),
  ),
  accounts_password_file: Type.Optional(
    Type.String({ minLength: 1, description: 'File whose first line is the password of that database' }),
  ),
  sign_in: Type.Optional(
    Type.Object(
      {
        issuer: patternText('address', {
          description: 'Address of the OpenID provider, as its discovery document names it',
        }),
        client_id: Type.String({ minLength: 1, description: 'Client id of this portal at the provider' }),
        client_secret_file: Type.Optional(
          Type.String({
            minLength: 1,
            description: 'File whose first line is the client secret of this portal at the provider',
          }),
        ),
        name: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 100,
            description: 'Name of the provider on the sign-in page',
          }),
        ),
        scopes: Type.Optional(Type.Array(patternText('scope'), { description: 'Scopes beside openid' })),
        groups_claim: Type.Optional(
          Type.String({ minLength: 1, description: 'Claim that lists the groups of a person' }),
        ),
        groups: Type.Optional(
          Type.Record(Type.String(), Type.Array(Type.String()), {
            description:
              'Grants of the members of each group: ids of datasets, *, edit:…, publish:…, or a role',
          }),
        ),
      },
      { additionalProperties: false, description: 'A provider of OpenID Connect where people sign in' },
    ),
  ),
  saml_sign_in: Type.Optional(SAML_SCHEMA),
}
