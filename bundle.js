import { readFileSync, rmSync } from 'node:fs'
import { build } from 'esbuild'

/** Packages that become a part of the bundle: as files of their own they take longer to load. */
const BUNDLED = [
  ...['typebox', '@traqula', '@lezer/(?!generator)', 'jsts', 're2js', 'lru-cache', 'proj4', 'proj4-list'],
  ...['flatbuffers', 'yaml', '@rubensworks/saxes', 'xmlchars'],
]

/** A plugin that rewrites the text of our own modules below `root`: of TypeScript, and of the scripts beside it. */
const rewritten = (root, rewrite) => ({
  name: 'addresses',
  setup(bundler) {
    bundler.onLoad({ filter: /\.(?:ts|mjs)$/ }, ({ path: file }) => {
      if (!file.startsWith(root) || file.includes('/node_modules/')) return null
      const text = readFileSync(file, 'utf8')
      return { contents: rewrite(text, file), loader: file.endsWith('.ts') ? 'ts' : 'js' }
    })
  },
})

/** A plugin that leaves packages where they are, except those whose name matches. */
const packages = bundled => ({
  name: 'packages',
  setup(bundler) {
    bundler.onResolve({ filter: /^[^./]/ }, ({ path: name, kind }) =>
      kind === 'entry-point' || bundled.test(name) ? null : { path: name, external: true },
    )
  },
})

/**
 * Bundles `entries` into `outdir` (emptied first), laid out as below `outbase`; what they share becomes chunks.
 * `also` are more packages that become a part of the bundle, `rewrite(text, file)` gives a module of `root` that asks for its
 * own address the address that it is to see.
 */
export async function bundle({ entries, root, outbase, outdir, also = [], rewrite }) {
  const bundled = new RegExp(`^(?:${[...BUNDLED, ...also].join('|')})(?:/|$)`)
  rmSync(outdir, { recursive: true, force: true })
  await build({
    entryPoints: entries,
    outdir,
    outbase,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    logLevel: 'warning',
    // Its 70 modules of Node's own kind cannot become a part of ours.
    alias: { yaml: './node_modules/yaml/browser/index.js' },
    absWorkingDir: import.meta.dirname,
    plugins: [rewritten(root, rewrite), packages(bundled)],
  })
}
