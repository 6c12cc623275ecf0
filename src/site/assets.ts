import { readdirSync, readFileSync } from 'node:fs'

/** Folder of the files that the build generates for browsers, with content hashes in their names. */
const FOLDER = new URL('../../dist/assets/', import.meta.url)

/** Path at which they are served, below the base address. */
export const ASSETS_PATH = '/assets/'

/** The files for browsers. */
interface Assets {
  /** Their names with hashes, by those without: `site.css`, `map.js`. */
  readonly names: Readonly<Record<string, string>>
  readonly files: ReadonlyMap<string, Buffer>
}

let loaded: Assets | null = null

/** The files for browsers, as they were at the start: a build may replace those on the disk while this process serves pages that name them. */
export function builtAssets(): Assets {
  loaded ??= {
    names: JSON.parse(readFileSync(new URL('manifest.json', FOLDER), 'utf8')),
    files: new Map(readdirSync(FOLDER).map(name => [name, readFileSync(new URL(name, FOLDER))])),
  }
  return loaded
}
