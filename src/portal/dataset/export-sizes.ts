import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import type { ServedDataset } from '../../catalog/served.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { TABLE_WRITERS } from '../../formats/export-formats.ts'
import { jsonldStream } from '../../formats/jsonld-forms.ts'
import { rdfxml } from '../../formats/rdfxml.ts'
import type { ExportOptions, Table, TableRow } from '../../formats/table.ts'
import { turtle } from '../../formats/turtle.ts'
import { lookup, setMember } from '../../model/lookup.ts'
import { memoised, oncePerObject } from '../../model/memoised.ts'
import type { AnswerPage } from '../../query/execute/answer.ts'

/** Bytes of files by the names of their formats; formats whose size is not known are missing. */
export type Sizes = Readonly<Record<string, number>>

const OPTIONS: ExportOptions = {
  useLabels: false,
  delimiter: ';',
  listSeparator: ',',
  quoteAll: false,
  withBom: true,
  epsg: 4326,
  nameField: null,
  descriptionFields: null,
  useExtension: true,
  parquetCompression: 'snappy',
  numericDates: false,
}

/** Characters of the published triples that are converted to estimate the size of each format. */
const SAMPLE = 65_536

const tables = new WeakMap<AnswerPage, Promise<Sizes>>()

/**
 * Estimated sizes of tabular files of all records of a selection: a sample of records is written in each format.
 *
 * @param sample the first records of the selection; sizes are memoised by this object
 */
export function tableSizes(
  entry: ServedDataset,
  sample: AnswerPage,
  formats: readonly string[],
): Promise<Sizes> {
  return memoised(tables, sample, () => sizesOf(formats, name => tableSize(entry, sample, name)))
}

const UNMEASURED = 'the link is without a size'

/** Estimated sizes of the files of all triples of a dataset in each RDF format. */
export const graphSizes = oncePerObject(
  async (entry: ServedDataset) => (await ignoreRejection(measureGraph(entry), UNMEASURED)) ?? {},
)

async function sizesOf(
  formats: readonly string[],
  measure: (format: string) => Promise<number | null>,
): Promise<Sizes> {
  const sizes: Record<string, number> = {}
  for (const format of formats) {
    const size = await ignoreRejection(measure(format), UNMEASURED)
    if (size != null) setMember(sizes, format, size)
  }
  return sizes
}

/** The fixed part of a file, plus the mean size of the sample's records for each record. */
async function tableSize(
  entry: ServedDataset,
  { rows, total }: AnswerPage,
  format: string,
): Promise<number | null> {
  const write = lookup(TABLE_WRITERS, format)
  if (write === undefined) return null
  const objects = rows.map(({ object }) => object)
  const empty = await lengthOf(write(tableOf(entry, []), OPTIONS))
  if (objects.length === 0) return empty
  const full = await lengthOf(write(tableOf(entry, objects), OPTIONS))
  return Math.round(empty + ((full - empty) * total) / objects.length)
}

function tableOf({ dataset }: ServedDataset, rows: readonly TableRow[]): Table {
  const columns = dataset.fields.map(({ name, label, type, multivalued }) => ({
    key: name,
    label,
    type,
    multivalued,
  }))
  return { name: dataset.id, title: dataset.id, columns, rows: pieces(rows) }
}

/** The length of the N-Triples is known; those of other formats are scaled from the first triples. */
async function measureGraph({ dump, prefixes }: ServedDataset): Promise<Sizes> {
  if (dump === null) return {}
  const whole = await lengthOfGzip(dump)
  const sample = await beginningOf(dump)
  if (sample === '') return {}
  const triples = () => pieces(sample)
  const forms: Readonly<Record<string, () => AsyncIterable<string>>> = {
    turtle: () => turtle(triples(), prefixes),
    rdfxml: () => rdfxml(triples(), prefixes),
    jsonld: () => jsonldStream(triples(), { prefixes }),
  }
  const ratio = whole / Buffer.byteLength(sample)
  const others = await sizesOf(Object.keys(forms), async name =>
    Math.round((await lengthOf(lookup(forms, name)?.() ?? triples())) * ratio),
  )
  return { n3: whole, ...others }
}

/** The last four bytes of a gzip file are the length of its content (RFC 1952, section 2.3.1), modulo 4 GiB. */
async function lengthOfGzip(file: string): Promise<number> {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, Math.max(0, size - 4))
    return buffer.readUInt32LE(0)
  } finally {
    await handle.close()
  }
}

async function beginningOf(file: string): Promise<string> {
  const stream = createReadStream(file, { end: SAMPLE }).pipe(createGunzip())
  let text = ''
  try {
    for await (const piece of stream) {
      text += String(piece)
      if (text.length > SAMPLE) break
    }
  } catch {
    // The file is read up to a place that need not be the end of a block.
  }
  return text.slice(0, text.slice(0, SAMPLE).lastIndexOf('\n') + 1)
}

async function lengthOf(written: AsyncIterable<string | Uint8Array>): Promise<number> {
  let length = 0
  for await (const piece of written) length += Buffer.byteLength(piece)
  return length
}

async function* pieces<Piece>(piece: Piece): AsyncGenerator<Piece> {
  yield piece
}
