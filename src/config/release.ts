import { readFileSync } from 'node:fs'

/** The version of Lodestone, from its package. */
export const { version: RELEASE } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string }
