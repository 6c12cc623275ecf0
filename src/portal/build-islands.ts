import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { bordersModule, COASTLINE_MODULE, coastlineFile, coastlineModule } from './map/coastline.ts'

/**
 * Bundles the islands for browsers: one file each, its name with a hash of its contents, and a manifest of the names. Part of
 * the build, not of the server.
 */
const here = path.dirname(fileURLToPath(import.meta.url))
const root = path.resolve(here, '../..')
const source = path.join(root, 'src/portal/islands')
const target = path.join(root, 'dist/assets')

const entries = readdirSync(source).filter(
  name => /\.(?:ts|css|svg)$/.test(name) && !/\.d\.ts$|-worker\.ts$/.test(name),
)
const workers = readdirSync(source).filter(name => name.endsWith('-worker.ts'))

const { metafile } = await build({
  entryPoints: entries.map(name => path.join(source, name)),
  outdir: target,
  entryNames: '[name].[hash]',
  chunkNames: 'chunk-[name].[hash]',
  assetNames: '[name].[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['es2022'],
  minify: true,
  metafile: true,
  logLevel: 'warning',
  legalComments: 'none',
  loader: { '.svg': 'copy' },
  plugins: [
    {
      name: 'maps',
      setup(bundler) {
        bundler.onResolve({ filter: /^lodestone:/ }, ({ path: name }) => ({
          path: name,
          namespace: 'lodestone',
        }))
        bundler.onLoad({ filter: /./, namespace: 'lodestone' }, ({ path: name }) => ({
          contents: name === COASTLINE_MODULE ? coastlineModule() : bordersModule(),
        }))
        // Unused parts of Leaflet: for browsers without SVG, for marker images, for draggable markers.
        bundler.onLoad({ filter: /leaflet.src.*(?:SVG\.VML|Icon\.Default|Marker\.Drag)\.js$/ }, () => ({
          contents: 'export const vmlCreate = null, vmlMixin = {}, IconDefault = class {}, MarkerDrag = null',
        }))
      },
    },
  ],
})

/** Parsers and serialisers of formats that the portal does not serve: queries never use them. */
const UNUSED =
  /^(?:htmlparser2|rdfa-streaming-parser|microdata-rdf-streaming-parser|rdfxml-streaming-parser|shaclc-parse|shaclc-write|graphql-to-sparql|jsonld-streaming-parser|jsonld-streaming-serializer|jsonld-context-parser)$/

/** The SPARQL parser as resolved by Comunica, so that it is bundled once. */
const { resolve } = createRequire(import.meta.url)
const PARSER = ['@traqula/core', '@traqula/parser-sparql-1-2', '@traqula/rules-sparql-1-2']

/** Workers are one file each: globals of Node are defined in them, and unused packages are replaced by stubs. */
const { metafile: workerFiles } = await build({
  entryPoints: workers.map(name => path.join(source, name)),
  outdir: target,
  entryNames: '[name].[hash]',
  bundle: true,
  format: 'iife',
  platform: 'browser',
  target: ['es2022'],
  minify: true,
  metafile: true,
  logLevel: 'warning',
  legalComments: 'none',
  alias: Object.fromEntries(PARSER.map(name => [name, resolve(name)])),
  define: { global: 'globalThis', 'process.env.NODE_ENV': '"production"' },
  plugins: [
    {
      name: 'unused',
      setup(bundler) {
        bundler.onResolve({ filter: UNUSED }, ({ path: name }) => ({ path: name, namespace: 'unused' }))
        bundler.onLoad({ filter: /./, namespace: 'unused' }, () => ({
          contents: 'module.exports = new Proxy({}, { get: () => class {} })',
        }))
      },
    },
  ],
})
const outputs = { ...metafile.outputs, ...workerFiles.outputs }
const manifest = Object.fromEntries(
  Object.entries(outputs).flatMap(([output, { entryPoint }]) =>
    entryPoint === undefined
      ? []
      : [[path.basename(entryPoint).replace(/\.ts$/, '.js'), path.basename(output)]],
  ),
)
const names = path.join(target, 'manifest.json')
writeFileSync(`${names}.${process.pid}`, JSON.stringify(manifest, null, 2))
renameSync(`${names}.${process.pid}`, names)

writeFileSync(path.join(root, 'dist/land.json'), coastlineFile())
