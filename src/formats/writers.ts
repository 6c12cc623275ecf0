import { csv } from './csv.ts'
import { geojson } from './geojson.ts'
import { json, jsonl } from './jsonl.ts'
import type { TableWriter } from './table.ts'

/** The formats in which tables are written, by the names that addresses have for them. */
export const TABLE_WRITERS: Readonly<Record<string, TableWriter>> = {
  json,
  jsonl,
  csv,
  geojson,
}
