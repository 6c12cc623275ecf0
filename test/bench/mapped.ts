import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileMapping } from '../../src/mapping/compile.ts'
import type { Mapping } from '../../src/mapping/ir.ts'
import { WrittenTriple } from '../../src/mapping/triple-text.ts'
import { readYarrrml } from '../../src/mapping/yarrrml/read.ts'
import { type Field, type FieldType, field } from '../../src/model/field.ts'
import type { DatasetRecord, Value } from '../../src/model/value.ts'
import { writeMappedGraphs } from '../../src/publishing/graphs/mapped-graphs.ts'
import { graphIri } from '../../src/rdf/minted-iris.ts'
import { createEmbeddedStore } from '../../src/store/embedded/embedded.ts'
import { BASE, root, serveOnce } from './support.ts'
import { percentile, type Row, under, whole } from './table.ts'

const RECORDS = 100_000
const RUNS = 7
const CITIES = 5000

const FIELDS: readonly (readonly [string, FieldType, (i: number) => Value])[] = [
  ['id', 'int', i => i + 1],
  ['name', 'text', i => `Église "${i % 97}", Brücke no. ${i}`],
  ['note', 'text', i => (i % 5 === 0 ? null : `entry ${i % 977} of the register`)],
  ['city_code', 'text', i => `c ${i % CITIES}`],
  ['city', 'text', i => `São ${i % CITIES}`],
  ['population', 'int', i => (i % 11 === 0 ? null : (i * 7919) % 1_000_003)],
  ['height', 'double', i => ((i * 31) % 90_000) / 8],
  ['active', 'boolean', i => i % 3 === 0],
  ['founded', 'date', i => new Date(-2e12 + i * 3.1e7).toISOString().slice(0, 10)],
  [
    'updated',
    'datetime',
    i => (i % 13 === 0 ? null : new Date(15e11 + i * 1e6).toISOString().replace('.000', '')),
  ],
]

const MAPPING = `prefixes:
  v: ${BASE}/ns#
mappings:
  place:
    subject: ${BASE}/ld/resources/places/place/$(id)
    predicateobjects:
      - [a, v:Place]
      - [v:name, $(name), fr~lang]
      - [v:note, $(note)]
      - [v:population, $(population)]
      - [v:height, $(height), xsd:decimal]
      - [v:active, $(active)]
      - [v:founded, $(founded), xsd:date]
      - [v:updated, $(updated)]
      - [v:city, city]
  city:
    subject: ${BASE}/ld/resources/places/city/$(city_code)
    predicateobjects:
      - [a, v:City]
      - [v:name, $(city)]
`

/** A mapping of ten fields with a link, over records in memory; then with the store, and as a whole portal. */
export async function benchMapped(): Promise<readonly Row[]> {
  const { mapping, fields } = compiledFrom()
  const records = made()
  const runs = Array.from({ length: RUNS }, () => {
    const { map } = compileMapping(mapping, fields)
    const out = new WrittenTriple()
    const begun = performance.now()
    for (const record of records) {
      map(record, out)
      if (out.isFull()) out.take()
    }
    out.take()
    return { seconds: (performance.now() - begun) / 1000, triples: out.triples }
  }).slice(1)
  const seconds = percentile(
    runs.map(run => run.seconds),
    0.5,
  )
  return [
    under('mapping: 100,000 records, ten fields, a link', seconds, 1, 's', 2),
    { what: '  triples a second', value: `${whole((runs[0]?.triples ?? 0) / seconds)} triples/s` },
    ...withStore(),
    ...(await asPortal()),
  ]
}

function compiledFrom(): { readonly mapping: Mapping; readonly fields: readonly Field[] } {
  const { mapping, diagnostics } = readYarrrml(MAPPING)
  if (mapping === null) throw new Error(JSON.stringify(diagnostics))
  return { mapping, fields: FIELDS.map(([name, type]) => field(name, type)) }
}

function made(): readonly DatasetRecord[] {
  return Array.from({ length: RECORDS }, (_, position) => inMemoryRecord(position))
}

function inMemoryRecord(position: number): DatasetRecord {
  const values = FIELDS.map(([, , value]) => value(position))
  return { id: position.toString(16).padStart(40, '0'), position, values }
}

/** The records as a source gives them, so that a process holds some at a time. */
async function* batches(): AsyncGenerator<readonly DatasetRecord[]> {
  for (let from = 0; from < RECORDS; from += 1000)
    yield Array.from({ length: 1000 }, (_, at) => inMemoryRecord(from + at))
}

/** Mapping, writing of the graph and loading it, in a process of its own so that its memory is its own. */
function withStore(): readonly Row[] {
  const run = spawnSync(process.execPath, ['--import=tsx', fileURLToPath(import.meta.url)], {
    encoding: 'utf8',
  })
  if (run.status !== 0) throw new Error(run.stderr)
  const { seconds, peak } = JSON.parse(run.stdout) as { seconds: number; peak: number }
  return [
    under('mapping with the store', seconds, 6, 's', 2),
    under('  peak memory of the process', peak, 600, 'MB', 0),
  ]
}

async function mapAndLoad(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-mapped-'))
  const store = await createEmbeddedStore({ workers: 1 })
  try {
    const { mapping, fields } = compiledFrom()
    const begun = performance.now()
    const place = { base: BASE, dataset: 'places', fields, folder }
    const { graphs } = await writeMappedGraphs(mapping, place, batches, () => undefined)
    await store.load(
      graphs.map(({ file, columns, triples, bytes }) => ({
        graph: graphIri('places', '1', 'mapped'),
        path: path.join(folder, file),
        columns: path.join(folder, columns),
        triples,
        bytes,
        isSearched: false,
      })),
    )
    const seconds = (performance.now() - begun) / 1000
    process.stdout.write(JSON.stringify({ seconds, peak: process.resourceUsage().maxRSS / 1000 }))
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A portal with this dataset alone: reading, typing, facts, index and mapping, and two workers of the store. */
async function asPortal(): Promise<readonly Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-mapped-'))
  try {
    mkdirSync(path.join(folder, 'data/places'), { recursive: true })
    mkdirSync(path.join(folder, 'mappings'))
    symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
    writeFileSync(path.join(folder, 'portal.yaml'), 'title: Mapped\n')
    const specs = FIELDS.map(([name, type]) => `  - { name: ${name}, type: ${type} }\n`)
    const definition = `source: { path: places.jsonl }\nid: [id]\nfields:\n${specs.join('')}`
    writeFileSync(path.join(folder, 'data/places/dataset.yaml'), definition)
    const lines = made().map(({ values }) => {
      const named = FIELDS.map(([name], index) => [name, values[index]])
      return `${JSON.stringify(Object.fromEntries(named))}\n`
    })
    writeFileSync(path.join(folder, 'data/places/places.jsonl'), lines.join(''))
    writeFileSync(path.join(folder, 'mappings/places.yml'), MAPPING)
    const { seconds, peak } = await serveOnce(folder)
    return [
      { what: '  a portal of it: published and served', value: `${seconds.toFixed(1)} s` },
      { what: '  peak memory of that server', value: peak === null ? 'not told' : `${whole(peak)} MB` },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await mapAndLoad()
