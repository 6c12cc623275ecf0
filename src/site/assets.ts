import { readFileSync } from 'node:fs'
import { lookup } from '../model/lookup.ts'

/** Folder of the files that the build generates for browsers, with content hashes in their names. */
export const ASSETS = new URL('../../dist/assets/', import.meta.url)

/** Path at which they are served, below the base address. */
export const ASSETS_PATH = '/assets/'

let names: Readonly<Record<string, string>> | null = null

/** The path of a built file, `site.css` or `map.js`, below the base address. */
export function assetPath(name: string): string {
  names ??= JSON.parse(readFileSync(new URL('manifest.json', ASSETS), 'utf8')) as Record<string, string>
  const found = lookup(names, name)
  if (found === undefined) throw new Error(`there is no file ${name} among those for browsers: build them`)
  return ASSETS_PATH + found
}
