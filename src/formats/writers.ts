import { csv } from './csv.ts'
import { flatgeobuf } from './flatgeobuf.ts'
import { geojson } from './geojson.ts'
import { gpx } from './gpx.ts'
import { json, jsonl } from './jsonl.ts'
import { kml } from './kml.ts'
import { parquet } from './parquet.ts'
import { shapefile } from './shapefile.ts'
import { spreadsheetml } from './spreadsheetml.ts'
import type { TableWriter } from './table.ts'
import { xlsx } from './xlsx.ts'

/** The writers of tables, by the names of their formats in addresses. */
export const TABLE_WRITERS: Readonly<Record<string, TableWriter>> = {
  json,
  jsonl,
  csv,
  geojson,
  xls: spreadsheetml,
  xlsx,
  kml,
  gpx,
  shp: shapefile,
  fgb: flatgeobuf,
  parquet,
}
