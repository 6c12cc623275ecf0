import { open } from 'node:fs/promises'
import { unreadable } from '../../sources/unreadable.ts'

const BYTES = 512
const HINT =
  'Files of a mapping are CSV, JSON or JSON Lines: save it as one of these, or publish it as a dataset.'

/** Formats by their first bytes. */
const BINARY: readonly (readonly [begin: string, name: string])[] = [
  ['PK\x03\x04', 'a zip archive, as workbooks (XLSX, ODS) are'],
  ['PAR1', 'Parquet'],
  ['SQLite format 3\0', 'a database of SQLite, as GeoPackage is'],
  ['\xd0\xcf\x11\xe0', 'a workbook of Excel before 2007'],
  ['%PDF', 'a PDF'],
]

/**
 * Throws SourceUnreadable for a file in a format that mappings are not run over, which would be read as a broken table otherwise.
 * A missing file is left to its reader.
 */
export async function refuseOtherFormats(file: string, formulation: 'csv' | 'json'): Promise<void> {
  const begin = await firstBytes(file)
  const binary = BINARY.find(([bytes]) => begin.startsWith(bytes))
  if (binary !== undefined) throw refused(file, binary[1])
  const text = begin.replace(/^(?:\xef\xbb\xbf)?\s+/, '').replace(/^\xef\xbb\xbf/, '')
  if (/^<(?:!doctype html|html)\b/i.test(text)) throw refused(file, 'a web page')
  if (/^<\?xml\s/.test(text) || (/^<[!\w]/.test(text) && /\.(?:xml|kml|gpx|rdf)$/i.test(file)))
    throw refused(file, 'XML')
  if (formulation === 'csv' && /^(?:\{\s*"|\[\s*\{\s*")/.test(text))
    throw unreadable(
      'The file is JSON, and is read as a table by its name or by the mapping.',
      { file },
      'Name it .json or .jsonl, or write jsonpath as the reference formulation of its source.',
    )
}

function refused(file: string, format: string): Error {
  return unreadable(`The file is ${format}, which \`lodestone map\` does not read.`, { file }, HINT)
}

async function firstBytes(file: string): Promise<string> {
  try {
    const handle = await open(file)
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(BYTES), 0, BYTES, 0)
      return buffer.toString('latin1', 0, bytesRead)
    } finally {
      await handle.close()
    }
  } catch {
    return ''
  }
}
