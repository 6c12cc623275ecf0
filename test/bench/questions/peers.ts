import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'libsql'
import { root } from '../support.ts'
import type { Question } from './questions.ts'

/** A store that is asked the same questions; null where it is not installed or has no answer, with the reason. */
export interface Peer {
  readonly name: string
  /** Milliseconds of all statements of a question, rows read; null where it cannot be asked of it. */
  readonly ask: (question: Question) => Promise<number | null>
  readonly close: () => void
}

/** A record as the portal exports it. */
export type PlaceRecord = Readonly<Record<string, unknown>> & {
  readonly coordinates: { readonly lon: number; readonly lat: number } | null
}

interface DuckConnection {
  run(sql: string): Promise<unknown>
  runAndReadAll(sql: string): Promise<{ getRows(): readonly unknown[] }>
  closeSync(): void
}

/** DuckDB in this process with two threads; the reason where test/peers/columns has it not. */
export async function duckdb(records: readonly PlaceRecord[]): Promise<Peer | string> {
  const require = createRequire(path.join(root, 'test/peers/columns/package.json'))
  let entry: string
  try {
    entry = require.resolve('@duckdb/node-api')
  } catch {
    return 'DuckDB: skipped, `npm install` in test/peers/columns was not run'
  }
  const { DuckDBInstance } = (await import(pathToFileURL(entry).href)) as {
    DuckDBInstance: {
      create(file: string, options: object): Promise<{ connect(): Promise<DuckConnection> }>
    }
  }
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect()
  const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-duckdb-'))
  const file = path.join(folder, 'places.jsonl')
  writeFileSync(file, records.map((record, at) => `${JSON.stringify(flat(record, at))}\n`).join(''))
  await connection.run(
    `CREATE TABLE places AS SELECT * FROM read_json('${file}', format = 'newline_delimited')`,
  )
  rmSync(folder, { recursive: true })
  return {
    name: 'DuckDB',
    ask: question =>
      timed(question.sql('duckdb'), async sql => (await connection.runAndReadAll(sql)).getRows()),
    close: () => connection.closeSync(),
  }
}

/** SQLite in memory without an index but that of the rows. */
export function sqlite(records: readonly PlaceRecord[]): Peer {
  const database = new Database(':memory:')
  const columns = Object.keys(flat(records[0] as PlaceRecord, 0))
  database.exec(`CREATE TABLE places (${columns.map(name => `"${name}"`).join(', ')})`)
  const insert = database.prepare(`INSERT INTO places VALUES (${columns.map(() => '?').join(', ')})`)
  database.exec('BEGIN')
  for (const [at, record] of records.entries())
    insert.run(
      ...Object.values(flat(record, at)).map(value => (Array.isArray(value) ? value.join(',') : value)),
    )
  database.exec('COMMIT')
  return {
    name: 'SQLite',
    ask: question => timed(question.sql('sqlite'), async sql => database.prepare(sql).all()),
    close: () => database.close(),
  }
}

/** Oxigraph in this process, with the facts alone. */
export async function oxigraph(ntriples: string, vocabulary: string): Promise<Peer> {
  const { Store } = await import('oxigraph')
  const store = new Store()
  store.load(ntriples, { format: 'application/n-triples' })
  const prologue = [
    `PREFIX : <${vocabulary}>`,
    'PREFIX geo: <http://www.opengis.net/ont/geosparql#>',
    'PREFIX geof: <http://www.opengis.net/def/function/geosparql/>',
    'PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/>',
  ].join('\n')
  return {
    name: 'Oxigraph',
    ask: ({ sparql }) =>
      sparql === null
        ? Promise.resolve(null)
        : timed(sparql, async text => store.query(`${prologue}\n${text}`, { results_format: 'json' })),
    close: () => undefined,
  }
}

/** Positions stand for the order of the source, coordinates for two columns. */
function flat({ coordinates, ...others }: PlaceRecord, position: number): Record<string, unknown> {
  return { position, ...others, lon: coordinates?.lon ?? null, lat: coordinates?.lat ?? null }
}

async function timed(
  statements: readonly string[],
  run: (statement: string) => Promise<unknown>,
): Promise<number | null> {
  if (statements.length === 0) return null
  const begun = performance.now()
  for (const statement of statements) await run(statement)
  return performance.now() - begun
}
