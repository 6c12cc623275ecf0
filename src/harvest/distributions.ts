import { addressOf, harvestedText } from './catalog.ts'

/** A file of a dataset in a catalog. */
export interface Distribution {
  readonly url: unknown
  /** All indications of its format: names of formats, media types. */
  readonly kinds: readonly unknown[]
}

/** Formats with their names in catalogs, the best first. */
const FORMATS: readonly (readonly [format: string | null, words: RegExp])[] = [
  ['parquet', /^(?:geo)?parquet$/],
  ['geojson', /^(?:geo\+?json|vnd\.geo\+json)$/],
  ['csv', /^csv$/],
  ['jsonl', /^(?:jsonl|ndjson|x-ndjson|json ?lines)$/],
  ['tsv', /^(?:tsv|tab-separated-values)$/],
  ['geopackage', /^(?:gpkg|geopackage|geopackage\+sqlite3)$/],
  ['flatgeobuf', /^(?:fgb|flatgeobuf)$/],
  ['json', /^json$/],
  ['xlsx', /^(?:xlsx|vnd\.openxmlformats-officedocument\.spreadsheetml\.sheet)$/],
  ['ods', /^(?:ods|vnd\.oasis\.opendocument\.spreadsheet)$/],
  ['shapefile', /^(?:shp|shapefile|esri shapefile)$/],
  ['kml', /^(?:kml|vnd\.google-earth\.kml\+xml)$/],
  ['gpx', /^(?:gpx|gpx\+xml)$/],
  ['turtle', /^(?:ttl|turtle|rdf_turtle)$/],
  ['ntriples', /^(?:nt|n-triples|ntriples|rdf_n_triples)$/],
  ['rdfxml', /^(?:rdf|rdf\+xml|rdf_xml)$/],
  // Compressed files and old workbooks are recognised by their bytes.
  [null, /^(?:zip|x-zip-compressed|x-zip|gz|gzip)$/],
]

/** The best readable file of a dataset, with its format if the catalog states it; null if there is none. */
export function bestDistribution(
  distributions: readonly Distribution[],
  base: string,
): { readonly url: string; readonly format?: string } | null {
  let best: { readonly rank: number; readonly url: string; readonly format: string | null } | null = null
  for (const { url: given, kinds } of distributions.slice(0, 1000)) {
    const url = addressOf(given, base)
    if (url === null) continue
    const ending = /\.([a-z0-9]+)(?:\.gz)?$/i.exec(new URL(url).pathname)?.[1]
    const isPacked = /\.(?:gz|zip)$/i.test(new URL(url).pathname)
    for (const kind of [...kinds, ending]) {
      const words = wordOf(kind)
      const rank = FORMATS.findIndex(([, known]) => known.test(words))
      if (rank < 0 || (best !== null && best.rank <= rank)) continue
      const format = isPacked ? null : (FORMATS[rank]?.[0] ?? null)
      best = { rank, url, format }
    }
  }
  if (best === null) return null
  return { url: best.url, ...(best.format === null ? {} : { format: best.format }) }
}

/** Normalises `text/csv`, `.CSV` and the IRI of a format to one word. */
function wordOf(kind: unknown): string {
  const text = harvestedText(kind)?.toLowerCase().split(';')[0]?.trim() ?? ''
  return text.slice(text.lastIndexOf('/') + 1).replace(/^\./, '')
}
