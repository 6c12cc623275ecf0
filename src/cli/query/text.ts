import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { withBaseAddress } from '../../catalog/example-queries.ts'
import { Fault } from '../../errors/errors.ts'
import type { Prefixes } from '../../formats/turtle.ts'

/**
 * The text of a query as the command line gives it: itself, `@file`, or `-` for standard input. In files as in the
 * example queries of a portal `<{base}` stands for its address.
 */
export async function queryFromFile(given: string, base: string): Promise<string> {
  return withBaseAddress(await rawText(given), base)
}

async function rawText(given: string): Promise<string> {
  if (given === '-') return text(process.stdin)
  if (!given.startsWith('@')) return given
  const file = given.slice(1)
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'there is no such file' : error.message
    throw new Fault('Usage', { reason: `${file}: ${reason}.` })
  })
}

/** The prefixes that a query declares: its answer is written with them too. */
export function knownPrefixes(query: string): Prefixes {
  const found = query.matchAll(/\bPREFIX\s+([A-Za-z][\w-]*):\s*<([^<>\s]+)>/gi)
  return Object.fromEntries(Array.from(found, ([, prefix = '', namespace = '']) => [prefix, namespace]))
}
