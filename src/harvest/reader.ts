import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { RdfFormat } from '../model/rdf-format.ts'
import { quadPieces } from '../publishing/graphs/rdf-quads.ts'
import { endingOf, limitsOf, sourceCredentials } from '../publishing/remote/refresh.ts'
import { percentEncode } from '../rdf/iri-syntax.ts'
import { PROCESS_NAME } from '../runtime/processes.ts'
import { atAddress, shownAddress } from '../sources/address/failures.ts'
import { fetchAddress } from '../sources/address/fetch.ts'
import type { FetchLimits } from '../sources/address/limits.ts'
import { openFile, type SourceFormat } from '../sources/open.ts'
import { openRdf, RDF_FORMATS } from '../sources/rdf.ts'
import { unreadable } from '../sources/source.ts'
import { type CatalogReader, fileAddressOf, type Given, harvestedText, objectOf } from './catalog.ts'
import { HARVEST_FILE, type Harvester, isRequired } from './settings.ts'
import { harvestFolder } from './state.ts'

/** Maximum size of a JSON page, of an RDF document, and of all documents of a harvest. */
const MAX_PAGE = 32 * 2 ** 20
const MAX_DOCUMENT = 64 * 2 ** 20
const MAX_BYTES = 256 * 2 ** 20

/** Media types that are preferred for a catalog that has several forms at one address. */
const RDF_TYPES =
  'text/turtle, application/n-triples, application/rdf+xml;q=0.9, application/ld+json;q=0.8, */*;q=0.1'
const JSON_TYPES = 'application/json, */*;q=0.1'

/** Maximum number of documents of a harvest, and its maximum duration in milliseconds. */
const MAX_DOCUMENTS = 1000
const MAX_TIME = 20 * 60_000

/**
 * Fetches the documents of a catalog one after another, within the limits of sources (hosts, private networks, silence) and those
 * of a harvest (size, number, time). Credentials are sent only to the host of the catalog.
 */
export function catalogReader(portal: string, harvester: Harvester, now: () => Date): CatalogReader {
  const { id, url: home, authorization, limit } = harvester
  const folder = harvestFolder(portal)
  mkdirSync(folder, { recursive: true })
  const limits = limitsOf(portal)
  const credentials = sourceCredentials(authorization)
  const end = now().getTime() + MAX_TIME
  let [documents, bytes] = [0, 0]
  const fetched = async (url: string, largest: number, accept: string) => {
    documents += 1
    const part = path.join(folder, `${id}-fetching-${PROCESS_NAME}`)
    const left = Math.min(largest, limits.size, MAX_BYTES - bytes)
    if (documents > MAX_DOCUMENTS || left <= 0 || now().getTime() > end)
      throw unreadable(
        `A harvest reads at most ${MAX_DOCUMENTS} documents and ${MAX_BYTES} bytes, in ${MAX_TIME / 60_000} minutes.`,
        { file: id },
      )
    const isHome = new URL(url).origin === new URL(home).origin
    const rest = withinHarvest(limits, left, Math.max(end - now().getTime(), 1))
    const found = await fetchAddress(url, part, {}, { ...rest, accept }, isHome ? credentials : undefined)
    if (found.type === 'unchanged')
      throw unreadable('The address answers that nothing changed.', { file: id })
    bytes += found.size
    return { part, found }
  }
  return {
    limit,
    isRequired: dataset => isRequired(harvester, dataset),
    json: async url => {
      const { part, found } = await fetched(url, MAX_PAGE, JSON_TYPES)
      try {
        const given = JSON.parse(readFileSync(part, 'utf8').replace(/^\ufeff/, '')) as unknown
        if (typeof given !== 'object' || given === null || Array.isArray(given))
          throw new SyntaxError('an object is expected')
        return objectOf(given) as Given
      } catch (error) {
        throw unreadable(
          `The catalog is no JSON object: ${(error as Error).message}.`,
          { file: shownAddress(found.address) },
          `Open it in a browser, and check type and url of ${id} in ${HARVEST_FILE}.`,
          error,
        )
      } finally {
        rmSync(part, { force: true })
      }
    },
    async *quads(url) {
      const { part, found } = await fetched(url, MAX_DOCUMENT, RDF_TYPES)
      const file = `${path.basename(part)}${endingOf(found.name, found.mediaType)}`
      try {
        renameSync(part, path.join(folder, file))
        const folders = { datasetFolder: folder, portalFolder: portal }
        const { format } = openFile({ path: file }, folders)
        const rdf = format === 'json' ? 'jsonld' : RDF_FORMATS.find(known => known === format)
        if (rdf === undefined) throw noRdf(id)
        const source = openRdf({ path: file, format: rdf }, folders, rdf)
        // Blank nodes of one document are not those of another.
        const dataset = documents === 1 ? 'catalog' : `catalog-${documents}`
        const place = { base: new URL(url).origin, dataset, document: found.address, isLenient: true }
        let isRdf = rdf === format
        for await (const lines of quadPieces(source, place)) {
          const valid = withValidIris(lines)
          isRdf ||= valid !== ''
          yield valid
        }
        if (!isRdf) throw noRdf(id)
      } catch (error) {
        throw atAddress(error, file, found.address)
      } finally {
        rmSync(part, { force: true })
        rmSync(path.join(folder, file), { force: true })
      }
    },
  }
}

/** The limits of a document: those of sources, or what a harvest has left of bytes and milliseconds if that is less. */
function withinHarvest(limits: FetchLimits, size: number, time: number): FetchLimits {
  const origin = {
    ...(size < limits.size ? { size: ', and a harvest reads no more of a document' } : {}),
    ...(time < limits.duration ? { duration: `A harvest takes at most ${MAX_TIME / 60_000} minutes.` } : {}),
  }
  return { ...limits, size, duration: Math.min(limits.duration, time), origin }
}

function noRdf(harvester: string): Error {
  return unreadable('The catalog is no RDF.', { file: harvester }, `Formats: ${RDF_FORMATS.join(', ')}`)
}

const LITERALS_AND_IRIS = /"(?:[^"\\]|\\.)*"|<([a-z][a-z\d+.-]*:[^<>]*)>/gi

/**
 * Lines of N-Quads with the IRIs of catalogs, which are seldom strict about them: characters that no IRI has, such as spaces,
 * are percent-encoded; a line is left out for an IRI that is relative or has angle brackets.
 */
function withValidIris(lines: string): string {
  const encoded = (term: string, iri?: string) =>
    iri === undefined ? term : `<${iri.replace(/[\s\p{Cc}"{}|^`\\]/gu, percentEncode)}>`
  return lines
    .split('\n')
    .filter(line => !/[<>]/.test(line.replace(LITERALS_AND_IRIS, '')))
    .map(line => line.replace(LITERALS_AND_IRIS, encoded))
    .join('\n')
}

/** A file of a dataset in a catalog. */
interface Distribution {
  readonly url: unknown
  /** All indications of its format: names of formats, media types. */
  readonly kinds: readonly unknown[]
}

/**
 * Formats with their names in catalogs, the best first. XML is left out, as in catalogs it is a description or a service more often
 * than a table, and so are workbooks of Excel before 2007, which are not read.
 */
const FORMATS: readonly (readonly [format: SourceFormat | RdfFormat | null, words: RegExp])[] = [
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
  ['jsonld', /^(?:jsonld|json-ld|ld\+json|json_ld)$/],
  ['trig', /^trig$/],
  ['nquads', /^(?:nq|n-quads|nquads)$/],
  // The formats of compressed files are detected from their bytes.
  [null, /^(?:zip|x-zip-compressed|x-zip|gz|gzip)$/],
]

/** The best readable file of a dataset, with its format if the catalog states it; null if there is none. */
export function bestDistribution(
  distributions: readonly Distribution[],
  base: string,
): { readonly url: string; readonly format?: string } | null {
  let best: {
    readonly rank: number
    readonly url: string
    readonly format: SourceFormat | RdfFormat | null
  } | null = null
  for (const { url: given, kinds } of distributions.slice(0, 1000)) {
    const url = fileAddressOf(given, base)
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
