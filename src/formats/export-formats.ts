import { type Field, isGeo } from '../model/field.ts'
import { csv } from './csv.ts'
import { flatgeobuf } from './flatgeobuf.ts'
import { gpx } from './gpx.ts'
import { geojson, json, jsonl } from './json.ts'
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

/** A generation of the API. */
export type Generation = 'search-v2' | 'explore-v2.0' | 'explore-v2.1'

/** An export format of records, or of the datasets of the catalog. */
export interface ExportFormat {
  /** Last segment of its address, and the relation of its link. */
  readonly name: string
  readonly mediaType: string
  /** File extension, if it is not its name. */
  readonly extension?: string
  /** The sources that can be exported in it. */
  readonly sources: readonly ('catalog' | 'dataset')[]
  /** True if it is only available for datasets with a geometry field. */
  readonly needsGeo: boolean
  readonly generations: readonly Generation[]
}

const EVERYWHERE: readonly Generation[] = ['search-v2', 'explore-v2.0', 'explore-v2.1']

const OLDER: readonly Generation[] = ['search-v2', 'explore-v2.0']

const RDF_XML = 'application/rdf+xml; charset=utf-8'

/** The available formats, in the order of their links (REST 6.1, 6.2). */
export const EXPORT_FORMATS: readonly ExportFormat[] = [
  {
    name: 'json',
    mediaType: 'application/json; charset=utf-8',
    sources: ['catalog', 'dataset'],
    needsGeo: false,
    generations: EVERYWHERE,
  },
  dataset('jsonl', 'application/jsonl; charset=utf-8'),
  { ...dataset('csv', 'text/csv; charset=utf-8'), sources: ['catalog', 'dataset'] },
  { ...dataset('geojson', 'application/geo+json; charset=utf-8'), needsGeo: true },
  {
    ...dataset('xls', 'application/vnd.ms-excel; charset=utf-8'),
    sources: ['catalog', 'dataset'],
    generations: OLDER,
  },
  {
    ...dataset('xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'),
    sources: ['catalog', 'dataset'],
    generations: ['explore-v2.1'],
  },
  { ...dataset('shp', 'application/zip'), extension: 'zip', needsGeo: true },
  { ...dataset('kml', 'application/vnd.google-earth.kml+xml; charset=utf-8'), needsGeo: true },
  { ...dataset('gpx', 'application/gpx+xml; charset=utf-8'), needsGeo: true },
  { ...dataset('fgb', 'application/octet-stream'), needsGeo: true },
  dataset('parquet', 'application/parquet'),
  { ...dataset('turtle', 'text/turtle; charset=utf-8'), extension: 'ttl' },
  { ...dataset('rdfxml', RDF_XML), extension: 'rdf' },
  dataset('n3', 'text/n3; charset=utf-8'),
  dataset('jsonld', 'application/ld+json; charset=utf-8'),
  catalog('rss', 'application/rss+xml; charset=utf-8'),
  catalog('ttl', 'text/turtle; charset=utf-8'),
  catalog('rdf', RDF_XML),
  catalog('data.json', 'application/json; charset=utf-8'),
  ...['', '_ap_ch', '_ap_de', '_ap_se', '_ap_sp', '_ap_it', '_ap_vl', '_ap_benap'].map(profile => ({
    ...catalog(`dcat${profile}`, RDF_XML),
    extension: 'rdf',
  })),
]

/** A format of the records of any dataset, in every generation. */
function dataset(name: string, mediaType: string): ExportFormat {
  return { name, mediaType, sources: ['dataset'], needsGeo: false, generations: EVERYWHERE }
}

function catalog(name: string, mediaType: string): ExportFormat {
  return { name, mediaType, sources: ['catalog'], needsGeo: false, generations: EVERYWHERE }
}

/** The formats of the catalog in a generation, or those of a dataset with these fields. */
export function exportFormats(
  generation: Generation,
  fields: 'catalog' | readonly Field[],
): readonly ExportFormat[] {
  const source = fields === 'catalog' ? 'catalog' : 'dataset'
  const hasGeo = fields === 'catalog' || fields.some(({ type }) => isGeo(type))
  return EXPORT_FORMATS.filter(
    ({ sources, needsGeo, generations }) =>
      sources.includes(source) && generations.includes(generation) && (hasGeo || !needsGeo),
  )
}

/** Formats of triples, which a dataset of RDF has without any records. */
const OF_TRIPLES: ReadonlySet<string> = new Set(['turtle', 'rdfxml', 'n3', 'jsonld'])

/** The formats in which a dataset with these fields has contents: a dataset of RDF has no fields, and tables of it would be empty. */
export function describedFormats(generation: Generation, fields: readonly Field[]): readonly ExportFormat[] {
  return exportFormats(generation, fields).filter(({ name }) => fields.length > 0 || OF_TRIPLES.has(name))
}

/** The formats of a dataset of other sources than the catalog: those of tables (REST 7.1). */
export function tableFormats(
  generation: Generation,
  fields: 'any' | readonly Field[],
): readonly ExportFormat[] {
  return EXPORT_FORMATS.filter(
    ({ name, sources, needsGeo, generations }) =>
      Object.hasOwn(TABLE_WRITERS, name) &&
      sources.includes('dataset') &&
      generations.includes(generation) &&
      (!needsGeo || fields === 'any' || fields.some(({ type }) => isGeo(type))),
  )
}
