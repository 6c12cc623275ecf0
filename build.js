/**
 * Builds dist/: the commands and the threads as few files as loading them takes (1,600 modules took 2.3 s of every start), then the
 * scripts of pages. Types are checked by `npm run types`. With `--changed` nothing is done where dist/ is newer than its
 * sources: `npm test` needs no second build after `npm ci`.
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './bundle.js'

const source = path.join(import.meta.dirname, 'src')
const target = path.join(import.meta.dirname, 'dist')

/** What is started by its path: the command, the threads, the scripts of pages, and what tests start outside of src. */
const ENTRIES = [
  'cli/lodestone',
  'publishing/versions/changes-worker',
  'harvest/harvest-worker',
  'publishing/management/reading-worker',
  'publishing/publisher-worker',
  'publishing/publisher-pool-worker',
  'store/columns/build/build-worker',
  'store/columns/threads/worker',
  'store/embedded/worker',
  'portal/build-islands',
  'store/embedded/embedded',
  'formats/parquet',
]

/** Modules keep the address that they have in src, below dist: threads, assets and packages are found from there. */
function rewrite(text, file) {
  const own = path.relative(source, file).replaceAll(path.sep, '/').replace(/\.ts$/, '.js')
  const address = `(import.meta.url.slice(0, import.meta.url.lastIndexOf('/dist/') + 6) + ${JSON.stringify(own)})`
  return text.replaceAll('import.meta.url', address)
}

/** True if a whole build, whose last file is land.json, is newer than its sources; folders are newer where a file was removed. */
function isCurrent() {
  if (!existsSync(path.join(target, 'land.json'))) return false
  const time = statSync(path.join(target, 'cli/lodestone.js')).mtimeMs
  const files = readdirSync(source, { recursive: true }).map(name => path.join('src', name))
  return [
    'src',
    'build.js',
    'bundle.js',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    ...files,
  ].every(name => statSync(path.join(import.meta.dirname, name)).mtimeMs < time)
}

if (process.argv.includes('--changed') && isCurrent()) process.exit()
await bundle({
  entries: ENTRIES.map(name => path.join(source, `${name}.ts`)),
  root: source,
  outbase: source,
  outdir: target,
  rewrite,
})
await import(pathToFileURL(path.join(target, 'portal/build-islands.js')).href)
