import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { manyIds, manyPortal } from './many.ts'
import { ServedPortal } from './questions/server.ts'
import { BASE, root } from './support.ts'
import { percentile, type Row, under } from './table.ts'

const DATASETS = 1000
const RECORDS = 2000
const PAGES = 300
const CATALOG = '/api/explore/v2.1/catalog'

/** A thousand datasets of two thousand records: publication, start, the catalog, and records and SPARQL of datasets that nobody asked before. */
export async function benchDatasets(): Promise<readonly Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-datasets-'))
  try {
    manyPortal(folder, DATASETS, RECORDS)
    const begun = performance.now()
    const command = [path.join(root, 'bin/lodestone.js'), 'publish', '--portal', folder, '--base', BASE]
    const { status, stderr } = spawnSync(process.execPath, command, { maxBuffer: 2 ** 26 })
    if (status !== 0) throw new Error(`publish ended with ${status}: ${String(stderr).slice(-2000)}`)
    const published = (performance.now() - begun) / 1000
    const server = await ServedPortal.start(folder)
    try {
      return [
        under('1,000 datasets: first publication', published, 360, 's'),
        under('1,000 datasets: start', server.seconds, 10, 's'),
        ...(await questions(server)),
        under('1,000 datasets: memory', server.memory() ?? Number.NaN, 1500, 'MB', 0),
      ]
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function questions(server: ServedPortal): Promise<readonly Row[]> {
  const ids = manyIds(DATASETS)
  const dataset = (turn: number) => ids[(turn * 379) % DATASETS] as string
  const times = async (count: number, address: (turn: number) => string) => {
    const found: number[] = []
    for (let turn = 0; turn < count; turn++) found.push((await server.get(address(turn))).milliseconds)
    return found
  }
  const list = await times(200, turn => `${CATALOG}/datasets?limit=20&offset=${turn}`)
  const facets = await times(
    60,
    turn => `${CATALOG}/facets?where=${encodeURIComponent(`records_count > ${turn}`)}`,
  )
  const words = ['harbour', 'trees', 'valley', 'meters', 'schools', 'northern', 'permits']
  const search = await times(60, turn => `${CATALOG}/datasets?where="${words[turn % 7]}"&offset=${turn}`)
  const pages = await times(
    PAGES,
    turn => `${CATALOG}/datasets/${dataset(turn)}/records?limit=20&offset=${turn}`,
  )
  const sparql = await times(40, turn => {
    const query = `SELECT ?p (COUNT(*) AS ?n) (MAX(?o) AS ?m) { ?s ?p ?o FILTER(!ISBLANK(?s)) } GROUP BY ?p ORDER BY ?p`
    return `/api/sparql/${dataset(500 + turn)}?query=${encodeURIComponent(query)}`
  })
  const row = (what: string, found: readonly number[], part: number, bar: number) =>
    under(`1,000 datasets: ${what}`, percentile(found, part), bar, 'ms')
  return [
    row('catalog list, p95', list, 0.95, 20),
    row('catalog facets, p95', facets, 0.95, 20),
    row('catalog search, p95', search, 0.95, 20),
    row('records of a random dataset, p95', pages, 0.95, 15),
    row('SPARQL that a dataset is first asked, the longest', sparql, 1, 1000),
  ]
}
