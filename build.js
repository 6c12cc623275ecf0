/**
 * Builds dist/: the commands and the threads as few files as loading them takes (1,600 modules took 2.3 s of every start), then the
 * scripts of pages. Types are checked by `npm run types`.
 */
import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = import.meta.dirname
const source = path.join(root, 'src')
const target = path.join(root, 'dist')

/** What is started by its path: the command, the threads, the scripts of pages, and what tests start outside of src. */
const ENTRIES = [
  'cli/lodestone',
  'catalog/changes-thread',
  'catalog/harvest/harvest-thread',
  'catalog/publisher',
  'catalog/publisher-worker',
  'store/columns/build/build-worker',
  'store/columns/build/builder-thread',
  'store/columns/threads/worker',
  'store/embedded/worker',
  'portal/build-islands',
  'store/embedded/embedded',
  'formats/parquet',
]

/** Packages of many small files, which are cheaper as a part of ours. */
const BUNDLED = /^(?:typebox|@traqula|@lezer)(?:\/|$)/

/** Modules keep the address that they have in src, below dist: threads, assets and packages are found from there. */
const addresses = {
  name: 'addresses',
  setup(bundler) {
    bundler.onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
      const text = readFileSync(file, 'utf8')
      if (!file.startsWith(source) || !text.includes('import.meta.url')) return null
      const own = path.relative(source, file).replaceAll(path.sep, '/').replace(/\.ts$/, '.js')
      const address = `(import.meta.url.slice(0, import.meta.url.lastIndexOf('/dist/') + 6) + ${JSON.stringify(own)})`
      return { contents: text.replaceAll('import.meta.url', address), loader: 'ts' }
    })
  },
}

const packages = {
  name: 'packages',
  setup(bundler) {
    bundler.onResolve({ filter: /^[^./]/ }, ({ path: name, kind }) =>
      kind === 'entry-point' || BUNDLED.test(name) ? null : { path: name, external: true },
    )
  },
}

rmSync(target, { recursive: true, force: true })
await build({
  entryPoints: ENTRIES.map(name => path.join(source, `${name}.ts`)),
  outdir: target,
  outbase: source,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
  plugins: [addresses, packages],
})
await import(pathToFileURL(path.join(target, 'portal/build-islands.js')).href)
