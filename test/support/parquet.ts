import { spawnSync } from 'node:child_process'
import path from 'node:path'
import type { ExportOptions, Table, TableRow } from '../../src/formats/table.ts'

const program = `
  import { buffer, text } from 'node:stream/consumers'
  import { Readable } from 'node:stream'
  import { parquet } from ${JSON.stringify(path.resolve(import.meta.dirname, '../../dist/formats/parquet.js'))}
  const { table, rows, options } = JSON.parse(await text(process.stdin))
  const pieces = parquet({ ...table, rows: (async function* () { yield* rows })() }, options)
  process.stdout.write(await buffer(Readable.from(pieces)))
`

/**
 * What the Parquet writer makes of a table, by its built file in a process of its own: loaders of a test runner may not
 * know every form of `exports` that its library has.
 */
export async function writeParquet(table: Table, options: ExportOptions): Promise<Buffer> {
  const rows: (readonly TableRow[])[] = []
  for await (const piece of table.rows) rows.push(piece)
  const input = JSON.stringify({ table: { ...table, rows: null }, rows, options })
  const args = ['--input-type=module', '--eval', program]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { input, maxBuffer: 2 ** 28 })
  if (status !== 0) throw new Error(stderr.toString())
  return stdout
}
