import { type Static, Type } from 'typebox'
import { ACCOUNTS_SETTINGS } from './settings/accounts.ts'
import { PORTAL_SETTINGS } from './settings/portal.ts'
import { SERVER_SETTINGS } from './settings/server.ts'
import { SOURCES_SETTINGS } from './settings/sources.ts'
import { STORE_SETTINGS } from './settings/store.ts'

/**
 * Every setting of portal.yaml; each is also an environment variable, LODESTONE_ and its name in capitals, but `sign_in` and
 * `saml_sign_in`.
 */
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

/** Default values. Those of the base address, `memory`, `workers` and settings with parts are derived (`load.ts`, `app/`). */
export const DEFAULTS = {
  title: 'Lodestone',
  description: '',
  host: '0.0.0.0',
  port: 3000,
  access: 'public',
  languages: ['en'],
  deadline: 10,
  fragment_size: 500,
  keep_versions: 5,
  upload_limit: '2GiB',
  dereference: 'redirect',
  log: 'warn',
  admin_host: '127.0.0.1',
  metrics: 'private',
  store_concurrency: 8,
  shutdown_delay: 0,
  shutdown_timeout: 30,
  request_timeout: 60,
  idle_timeout: 72,
  write_timeout: 60,
  address_connections: 500,
  address_tokens: 'refused',
  csv_formulas: 'kept',
  work_burst: 30,
  work_rate: 0.5,
  services: [],
  service_timeout: 10,
  service_rows: 100_000,
  service_size: '32MiB',
  source_private_hosts: [],
  source_size: '4GiB',
  source_timeout: 30,
  source_duration: 1800,
} as const
