import { type Static, Type } from 'typebox'
import { ACCOUNTS_SETTINGS } from './settings/accounts.ts'
import { PORTAL_SETTINGS } from './settings/portal.ts'
import { SERVER_SETTINGS } from './settings/server.ts'
import { SOURCES_SETTINGS } from './settings/sources.ts'
import { STORE_SETTINGS } from './settings/store.ts'

/** Every setting of portal.yaml; each is also an environment variable, LODESTONE_ and its name in capitals. */
export const PORTAL_SCHEMA = Type.Object(
  {
    ...PORTAL_SETTINGS,
    ...SERVER_SETTINGS,
    ...STORE_SETTINGS,
    ...ACCOUNTS_SETTINGS,
    ...SOURCES_SETTINGS,
  },
  { additionalProperties: false },
)

export type PortalSettings = Static<typeof PORTAL_SCHEMA>
