import { Type } from 'typebox'
import { patternText } from '../texts.ts'
import { seconds } from './seconds.ts'

/** The store that answers queries, with its memory, threads and timeouts. */
export const STORE_SETTINGS = {
  workers: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 64, description: 'Threads that answer queries' }),
  ),
  memory: Type.Optional(
    patternText('size', {
      description: 'Memory that the process may use, such as 600MB or 2GiB; half of the machine by default',
    }),
  ),
  deadline: Type.Optional(
    Type.Number({ minimum: 0.05, maximum: 3600, description: 'Seconds that a query may take' }),
  ),
  store: Type.Optional(
    patternText('engineAddress', {
      description:
        'Address of a SPARQL 1.1 engine that stores the records: Oxigraph server, Fuseki (with its dataset), Virtuoso or another; without it they are in the memory of the server',
    }),
  ),
  store_query: engineAddress('its query endpoint, where it does not follow from store'),
  store_update: engineAddress('its update endpoint'),
  store_data: engineAddress('its graph store'),
  store_user: Type.Optional(Type.String({ minLength: 1, description: 'User name at the engine' })),
  store_password: Type.Optional(Type.String({ description: 'Password of this user' })),
  store_password_file: Type.Optional(
    Type.String({ minLength: 1, description: 'File whose first line is this password' }),
  ),
  store_concurrency: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 256, description: 'Queries that are sent to the engine at a time' }),
  ),
  services: Type.Optional(
    Type.Array(patternText('addressWithQuery', { maxLength: 2000 }), {
      description: 'Addresses of SPARQL endpoints that queries may call with SERVICE; none by default',
    }),
  ),
  service_timeout: seconds('Seconds that the services of a query may take'),
  service_rows: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Maximum number of solutions of a SERVICE' }),
  ),
  service_size: Type.Optional(
    patternText('size', { description: 'Maximum size of the answer of a SERVICE' }),
  ),
}

function engineAddress(what: string) {
  return Type.Optional(patternText('engineAddress', { description: `Address of ${what}` }))
}
