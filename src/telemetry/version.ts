import { readFileSync } from 'node:fs'

/** The version of Lodestone, from its package. */
export function lodestoneVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}
