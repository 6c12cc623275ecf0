import type { FastifyServerOptions } from 'fastify'
import type { Config } from '../config/config.ts'
import { withoutCredentials } from '../model/credentials.ts'

/** What objects that are logged may carry and no log is to have. */
const REDACTED = ['authorization', 'cookie', 'set-cookie', 'apikey', 'password', 'secret', 'token'].flatMap(
  name => [`["${name}"]`, `*["${name}"]`, `*.headers["${name}"]`],
)

/**
 * How Lodestone logs: one line of JSON each, with the moment as ISO 8601 and the level as a word. Credentials are taken out
 * of known places, and out of the text of the line: messages of others repeat addresses with passwords in them.
 *
 * @param out where lines are written to, usually process.stderr
 */
export function loggerOptions(level: Config['log'], out: { write(text: string): unknown }) {
  return {
    level,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: REDACTED, censor: 'redacted' },
    stream: { write: (line: string) => void out.write(withoutCredentials(line)) },
  } satisfies FastifyServerOptions['logger']
}
