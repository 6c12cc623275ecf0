import { Type } from 'typebox'
import { patternText } from '../texts.ts'
import { seconds } from './seconds.ts'

/** Where data may be fetched from. */
export const SOURCES_SETTINGS = {
  source_hosts: Type.Optional(
    Type.Array(patternText('host'), {
      description:
        'Hosts that data may be fetched from, *.example.org for all below one; all public ones by default',
    }),
  ),
  source_private_hosts: Type.Optional(
    Type.Array(patternText('host'), {
      description: 'Hosts in private networks that data may be fetched from; none by default',
    }),
  ),
  source_size: Type.Optional(
    patternText('size', { description: 'Maximum size of a file that is fetched from an address' }),
  ),
  source_timeout: seconds('Seconds without data after which a fetch from an address fails'),
  source_duration: seconds('Seconds that a fetch from an address may take in total'),
}
