/**
 * Bundles the tests with what they import of src into .built/: one process of the test runner then loads some dozen files instead of
 * 1,600 through its loaders. Threads and commands run from dist, as ever; a single file runs without this, too:
 * `node --import=tsx test/x.test.ts`.
 */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from '../bundle.js'

const root = path.dirname(import.meta.dirname)
const source = path.join(root, 'src')

/**
 * Modules keep their addresses: tests and their peers those in test, src those that it has in dist. A test that runs after others in
 * one process (test/support/group.ts) has its own `t`.
 */
function rewrite(text, file) {
  const own = path.relative(source, file)
  const built = own.startsWith('..') ? file : path.join(root, 'dist', own.replace(/\.ts$/, '.js'))
  return text
    .replace(/^import t\b(.*) from 'tap'$/m, "import tap$1 from 'tap'; const t = globalThis.fileTest ?? tap")
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(built).href))
    .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(built)))
    .replaceAll('import.meta.filename', JSON.stringify(built))
}

/** What tests start as processes of their own (test/support/script.ts). */
const SCRIPTS = [
  'support/full-disk.ts',
  'support/group.ts',
  'support/lock-race.ts',
  'support/read-only-data.ts',
  'support/read-only-disk.ts',
  'support/run-lines.ts',
  'support/spender.ts',
  'support/tuned-engine.ts',
]

await bundle({
  entries: ['', 'long', 'engines', 'browser']
    .flatMap(folder =>
      readdirSync(path.join(root, 'test', folder))
        .filter(name => name.endsWith('.test.ts'))
        .map(name => path.join(folder, name)),
    )
    .concat(SCRIPTS)
    .map(name => path.join(root, 'test', name)),
  root,
  outbase: path.join(root, 'test'),
  outdir: path.join(root, '.built'),
  also: ['oxigraph/web.js'],
  rewrite,
})
