/**
 * Bundles the tests with what they import of src into .built/: one process of the test runner then loads some dozen files instead of
 * 1,600 through its loaders. Threads and commands run from dist, as ever; a single file runs without this, too:
 * `node --import=tsx test/x.test.ts`.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = path.dirname(import.meta.dirname)
const source = path.join(root, 'src')
const target = path.join(root, '.built')

/** Modules keep their addresses: tests those in test, src those that it has in dist. */
const addresses = {
  name: 'addresses',
  setup(bundler) {
    bundler.onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
      const text = readFileSync(file, 'utf8')
      if (!file.startsWith(root) || !text.includes('import.meta.')) return null
      const own = path.relative(source, file)
      const built = own.startsWith('..') ? file : path.join(root, 'dist', own.replace(/\.ts$/, '.js'))
      const contents = text
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(built).href))
        .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(built)))
        .replaceAll('import.meta.filename', JSON.stringify(built))
      return { contents, loader: 'ts' }
    })
  },
}

rmSync(target, { recursive: true, force: true })
await build({
  entryPoints: ['', 'long', 'engines', 'browser'].flatMap(folder =>
    readdirSync(path.join(root, 'test', folder))
      .filter(name => name.endsWith('.test.ts'))
      .map(name => path.join(root, 'test', folder, name)),
  ),
  outdir: target,
  outbase: path.join(root, 'test'),
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
  plugins: [
    addresses,
    {
      name: 'packages',
      setup(bundler) {
        bundler.onResolve({ filter: /^[^./]/ }, ({ path: name, kind }) =>
          kind === 'entry-point' ||
          /^(?:typebox|@traqula|@lezer\/(?!generator)|oxigraph\/web\.js)(?:\/|$)/.test(name)
            ? null
            : { path: name, external: true },
        )
      },
    },
  ],
})
