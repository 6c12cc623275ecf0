import type { RdfFormat } from '../model/rdf-format.ts'
import type { DataFile } from './data-file.ts'
import { isRdfFormat, type SourceFormat } from './formats.ts'
import { unreadable } from './source.ts'
import { decoderOf, markedEncoding } from './text/decode.ts'
import { utf16Of } from './text/detect-encoding.ts'

const XML_ROOTS: readonly (readonly [root: RegExp, format: SourceFormat | RdfFormat])[] = [
  [/^kml$/i, 'kml'],
  [/^gpx$/i, 'gpx'],
  [/^(?:\w+:)?RDF$/, 'rdfxml'],
  [/^(?:ss:)?Workbook$/, 'spreadsheetml'],
]

/** What each JSON text of a sequence begins with (RFC 7464): features that GDAL writes as `.geojsons` (RFC 8142). */
const SEQUENCE_SIGN = '\u001e'

/**
 * The format of data by their first bytes and, if these are ambiguous, by their name. Throws SourceUnreadable, with advice, for
 * what is certainly no data.
 *
 * @param named the format by the name
 * @param encoding the declared encoding, as named by `encodingNamed`
 */
export function sniffFormat(
  data: DataFile,
  named: SourceFormat | RdfFormat | undefined,
  encoding?: string,
): SourceFormat | RdfFormat {
  const { head, name } = data
  const found = signature(data)
  if (found !== undefined) return found
  // RDF statements begin like XML elements; their errors are reported by the RDF reader.
  if (named !== undefined && isRdfFormat(named)) return named
  const text = textHead(head, encoding)
  if (text === undefined || text.includes('\0')) {
    if (named !== undefined && named !== 'csv' && named !== 'tsv') return named
    if (text !== undefined) throw nullFound(text, name)
    throw unreadable('The file is no text, and no format of data that is known.', { file: name }, KNOWN)
  }
  const start = text.trimStart()
  if (isWebPage(start)) throw webPage(name)
  if (start.startsWith('version https://git-lfs.github.com/spec/'))
    throw unreadable(
      'The file is a pointer of Git LFS, not the data.',
      { file: name },
      'Get the data with git lfs pull, or download the file itself.',
    )
  if (/^BEGIN:V(?:CALENDAR|CARD)\s/i.test(start))
    throw unreadable('The file is iCalendar or vCard.', { file: name }, 'Save its entries as CSV.')
  if (/^(?:CHARSET|AXIS-VERSION)="/.test(start))
    throw unreadable('The file is PC-Axis.', { file: name }, 'Save its table as CSV or XLSX.')
  if (/^(?:!table\s+!version\s|Version\s+\d+\s+Charset\s+")/i.test(start))
    throw unreadable('The file is MapInfo.', { file: name }, 'Save its layer as GeoPackage or GeoJSON.')
  if (/^(?:<\?xml[^>]*>\s*)?<office:document\s/.test(start))
    throw unreadable('The file is flat OpenDocument (.fods).', { file: name }, 'Save it as .ods.')
  if (/^(?:<\?xml[^>]*>\s*)?<(?:\w+:)?TriX[\s>]/.test(start))
    throw unreadable('The file is RDF in TriX.', { file: name }, 'Save it as TriG or N-Quads.')
  if (/^<[^>\s:]*:[^>\s]*>\s+<[^>\s]+>\s/.test(start)) return 'ntriples'
  if (named === undefined && /^@(?:prefix|base)\s+\S*:?\s*</.test(start)) return 'turtle'
  if (start.startsWith('<'))
    return xmlFormat(start) ?? (named === 'csv' || named === 'tsv' ? named : (named ?? 'xml'))
  if (named === 'jsonl' || start.startsWith(SEQUENCE_SIGN)) return 'jsonl'
  if (named === 'geojson') return isLines(start) ? 'jsonl' : named
  if ((named === undefined || named === 'json') && /^[[{]/.test(start)) return jsonFormat(start)
  return named === 'tsv' || named === 'json' ? named : 'csv'
}

/** Throws SourceUnreadable for a web page, which could be a table of a declared format: catalogs call the page of a file CSV. */
export function refuseWebPage({ head, name }: DataFile, encoding?: string): void {
  if (isWebPage(textHead(head, encoding)?.trimStart() ?? '')) throw webPage(name)
}

function isWebPage(start: string): boolean {
  return /^(?:<\?xml[^>]*>\s*)?(?:<!doctype html|<html|<head|<body|<script|<table\b)/i.test(start)
}

function webPage(file: string): Error {
  return unreadable('The file is a web page.', { file }, 'Get the file that the page links to.')
}

const KNOWN =
  'Save it as CSV, XLSX, ODS, JSON, GeoJSON, Parquet, GeoPackage or another format of the documentation.'

/** The format of data with an unambiguous signature. */
function signature({ head, name, base, archive }: DataFile): SourceFormat | undefined {
  if (archive !== null) {
    if (/\.shp$/i.test(base)) return 'shapefile'
    const names = new Set(archive.members.map(it => it.name))
    if (names.has('[Content_Types].xml')) {
      if (names.has('xl/workbook.xml')) return 'xlsx'
      if (names.has('xl/workbook.bin'))
        throw unreadable(
          'The file is a binary workbook of Excel (.xlsb).',
          { file: name },
          'Save it as .xlsx.',
        )
      throw unreadable(
        'The file is a document of Office, and no workbook.',
        { file: name },
        'Save its table as CSV.',
      )
    }
    if (names.has('content.xml')) return 'ods'
    if (archive.members.length === 0) return /\.ods$/i.test(base) ? 'ods' : 'xlsx'
  }
  const four = head.subarray(0, 4).toString('latin1')
  if (four === 'PAR1') return 'parquet'
  if (four === 'PARE')
    throw unreadable('The file is an encrypted Parquet file.', { file: name }, 'Write it without encryption.')
  if (four.startsWith('fgb')) return 'flatgeobuf'
  if (head.subarray(0, 15).toString('latin1') === 'SQLite format 3') return 'geopackage'
  if (head.length >= 100 && head.readUInt32BE(0) === 9994 && head.readUInt32LE(28) === 1000)
    return 'shapefile'
  if (four === '\xd0\xcf\x11\xe0')
    throw unreadable(
      'The file is a workbook of Excel before 2007, or encrypted.',
      { file: name },
      'Save it as .xlsx, without a password.',
    )
  if (four === '%PDF')
    throw unreadable('The file is a PDF.', { file: name }, 'Publish the table that it was made from.')
  if (four === 'Obj\x01')
    throw unreadable('The file is Avro.', { file: name }, 'Save it as Parquet or JSON Lines.')
  if (four === 'ARRO' || head.subarray(0, 6).toString('latin1') === 'ARROW1')
    throw unreadable('The file is Arrow or Feather.', { file: name }, 'Save it as Parquet.')
  if (head.length > 4 && four === 'Rar!')
    throw unreadable('The file is a RAR archive.', { file: name }, 'Pack the data as zip or gz.')
  if (four === '7z\xbc\xaf')
    throw unreadable('The file is a 7z archive.', { file: name }, 'Pack the data as zip or gz.')
  if (four.startsWith('BZh') || four === '\xfd7zX' || four === '(\xb5/\xfd')
    throw unreadable(
      'The file is packed in a way that is not read.',
      { file: name },
      'Pack the data as zip or gz.',
    )
  return undefined
}

/** Maximum NULs by accident in a short text. */
const MAX_NULLS = 3

/** The beginning as text, which may contain NULs; undefined for binary data. */
function textHead(head: Buffer, declared: string | undefined): string | undefined {
  const marked = markedEncoding(head)
  const encoding = marked ?? declared ?? utf16Of(head)
  if (encoding !== undefined && encoding !== 'utf-8') return decodedHead(head, encoding)
  let controls = 0
  let nulls = 0
  for (const byte of head) {
    if (byte === 0) nulls++
    else if (byte < 9 || (byte > 13 && byte < 28)) controls++
  }
  const isBinary = controls > head.length / 100 || nulls > Math.max(MAX_NULLS, head.length / 100)
  return isBinary ? undefined : head.toString('utf8').replace(/^\ufeff/, '')
}

/** The beginning in an encoding, with replacement characters for invalid bytes, which are reported when the text is read. */
function decodedHead(head: Buffer, encoding: string): string {
  try {
    return decoderOf(encoding)
      .decode(head)
      .replace(/^\ufeff/, '')
  } catch {
    return encoding.startsWith('utf-32') ? '' : new TextDecoder(encoding).decode(head)
  }
}

/** The fault of a text with a NUL, which spreadsheets, databases and RDF do not have. */
function nullFound(text: string, file: string): Error {
  const before = text.slice(0, text.indexOf('\0')).split(/\r\n|\r|\n/)
  return unreadable(
    'A NUL character (U+0000) was found, which no text has.',
    { file, line: before.length, column: (before.at(-1) ?? '').length + 1 },
    'Remove it there, or declare the encoding of the text if it is UTF-16 or UTF-32: options: { encoding: utf-16le }.',
  )
}

function xmlFormat(start: string): SourceFormat | RdfFormat | undefined {
  const body = start.replace(
    /^(?:\s+|<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!DOCTYPE[^>[]*(?:\[[\s\S]*?\]\s*)?>)+/i,
    '',
  )
  const root = /^<([^\s/>]+)/.exec(body)?.[1]
  if (root === undefined) return undefined
  const found = XML_ROOTS.find(([pattern]) => pattern.test(root))
  if (root.endsWith(':kml')) return 'kml'
  return found?.[1] ?? 'xml'
}

/** JSON with features is GeoJSON, and objects on separate lines are JSON Lines. */
function jsonFormat(start: string): SourceFormat | RdfFormat {
  if (start.startsWith('{')) {
    if (/^\{\s*"@(?:context|graph)"/.test(start)) return 'jsonld'
    if (isLines(start)) return 'jsonl'
    if (/^\{[^{[]*"type"\s*:\s*"(?:FeatureCollection|Feature)"/.test(start)) return 'geojson'
    if (
      /^\{\s*(?:"[^"]*"\s*:\s*(?:"[^"]*"|\{[^{}]*\}|null|\d+)\s*,\s*)*"type"\s*:\s*"FeatureCollection"/.test(
        start,
      )
    )
      return 'geojson'
  }
  return 'json'
}

/** True for objects on separate lines, which may be features. */
function isLines(start: string): boolean {
  const [first = '', second = ''] = start.split(/\r?\n/).filter(line => line.trim() !== '')
  return first.trimEnd().endsWith('}') && second.startsWith('{') && isJson(first)
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}
