import { Type } from 'typebox'
import { patternText } from '../texts.ts'

/** The name and address of the portal, and who may call it. */
export const PORTAL_SETTINGS = {
  title: Type.Optional(Type.String({ minLength: 1, description: 'Name of the portal' })),
  description: Type.Optional(Type.String({ description: 'One sentence about the portal' })),
  base: Type.Optional(patternText('address', { description: 'Public address; every IRI begins with it' })),
  access: Type.Optional(
    Type.Union([Type.Literal('public'), Type.Literal('private')], {
      description: 'Who may call without credentials',
    }),
  ),
  languages: Type.Optional(
    Type.Array(patternText('language'), {
      minItems: 1,
      uniqueItems: true,
      description: 'Languages of the portal',
    }),
  ),
  dereference: Type.Optional(
    Type.Union([Type.Literal('redirect'), Type.Literal('direct')], {
      description: 'Whether an IRI of a thing redirects to a document about it or answers with it',
    }),
  ),
  fragment_size: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 5000, description: 'Triples on a page of a fragment' }),
  ),
  keep_versions: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'Versions of each dataset that are retained and can be queried, including the current one',
    }),
  ),
  upload_limit: Type.Optional(
    patternText('size', { description: 'Maximum size of a file that publishers upload, such as 500MB' }),
  ),
  address_tokens: Type.Optional(
    Type.Union([Type.Literal('refused'), Type.Literal('allowed')], {
      description: 'Whether access tokens are accepted in addresses, where logs and histories store them',
    }),
  ),
  csv_formulas: Type.Optional(
    Type.Union([Type.Literal('kept'), Type.Literal('escaped')], {
      description:
        'Whether texts of CSV exports that a spreadsheet would run as formulas get an apostrophe in front',
    }),
  ),
  tiles: Type.Optional(
    patternText('tileAddress', { description: 'Addresses of map tiles, with {z}, {x} and {y} in them' }),
  ),
  tiles_attribution: Type.Optional(
    Type.String({ minLength: 1, description: 'Attribution of the map tiles, shown on every map' }),
  ),
  network: Type.Optional(
    Type.Array(
      Type.Object(
        {
          url: patternText('address', { description: 'Public address of a portal with the Explore API' }),
          domain: Type.Optional(
            patternText('domain', {
              description: 'Part after the @ in the ids of its datasets; by default the host of its address',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      { description: 'Other portals whose public datasets the network source lists' },
    ),
  ),
  analytics: Type.Optional(
    Type.Union([Type.Literal('public'), Type.Literal('private')], {
      description: 'Who may see the single calls of the APIs (ods-api-monitoring)',
    }),
  ),
}
