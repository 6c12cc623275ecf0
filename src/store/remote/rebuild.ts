import {
  closeSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { constants, crc32, createGunzip, createGzip, gzipSync } from 'node:zlib'
import { Fault } from '../../errors/errors.ts'
import { termText } from '../../rdf/ntriples.ts'
import { parseTriples, type Triple } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'
import { PROCESS_NAME } from '../../runtime/processes.ts'
import { inGraph, iri, literal, select, triple, variable } from '../../sparql/build.ts'
import { generate } from '../../sparql/generate.ts'
import { buildColumnsInThread } from '../columns/build/build-thread.ts'
import { numberForm, numberOfLexical } from '../columns/lexical.ts'
import { LOAD_REFUSED } from '../faults.ts'
import type { RemoteEngine } from './engine.ts'
import { exactDoubles, readJsonSolutions } from './results.ts'
import { decodeTerm, type StoredForms } from './value-roundtrip.ts'

/**
 * Transfers columns of a graph through an engine: compressed, in base64, as literals of a separate graph, so that every instance
 * has the same bytes, and with them source order, which triples lack.
 */
const PART = 'urn:lodestone:columns#part'
const SUM = 'urn:lodestone:columns#sum'
/** The graph that lists the stored columns: one small query reads it. */
const INDEX = 'urn:lodestone:columns'

/** Bytes of a part, and parts per subject, which are sent and read together: engines are slow with very long literals. */
const PART_BYTES = 15_000
const PARTS_AT_A_TIME = 100
const STEP = PART_BYTES * PARTS_AT_A_TIME

interface Sum {
  /** Bytes of the compressed file, and their CRC-32. */
  readonly bytes: number
  readonly crc: number
}

function columnsGraph(graph: string): string {
  return `${graph}:columns`
}

/** Stores the columns of a graph in an engine. Faults: LoadRefused, StoreUnavailable. */
export async function sendColumns(engine: RemoteEngine, graph: string, file: string): Promise<void> {
  const name = columnsGraph(graph)
  await dropColumns(engine, graph)
  let [buffered, length, step] = [[] as Buffer[], 0, 0]
  let sum: Sum = { bytes: 0, crc: 0 }
  const flush = async (least: number) => {
    if (length < least || length === 0) return
    const whole = Buffer.concat(buffered)
    const bytes = whole.subarray(0, STEP)
    sum = { bytes: sum.bytes + bytes.length, crc: crc32(bytes, sum.crc) }
    ;[buffered, length] = [[whole.subarray(STEP)], whole.length - bytes.length]
    await engine.add(name, Buffer.from(partLines(name, step++, bytes)))
  }
  await pipeline(
    createReadStream(file),
    createGzip({ level: constants.Z_BEST_SPEED, chunkSize: 2 ** 18 }),
    async pieces => {
      for await (const piece of pieces as AsyncIterable<Buffer>) {
        buffered.push(piece)
        length += piece.length
        await flush(STEP)
      }
      await flush(0)
    },
  )
  // Written last: where it is present, so are all parts.
  await engine.add(INDEX, Buffer.from(`<${name}> <${SUM}> "${sum.bytes} ${sum.crc}" .\n`))
}

function partLines(name: string, step: number, bytes: Buffer): string {
  let text = ''
  for (let offset = 0; offset < bytes.length; offset += PART_BYTES) {
    const number = String(offset / PART_BYTES).padStart(3, '0')
    text += `<${name}:${step}> <${PART}> "${number} ${bytes.subarray(offset, offset + PART_BYTES).toString('base64')}" .\n`
  }
  return text
}

/** Drops the columns of a graph. Faults: StoreUnavailable, LoadRefused. */
export async function dropColumns(engine: RemoteEngine, graph: string): Promise<void> {
  const name = columnsGraph(graph)
  const triples = (await objects(engine, INDEX, name, SUM)).map(sum => ({
    subject: iri(name),
    predicate: iri(SUM),
    object: literal(sum),
  }))
  if (triples.length > 0) await engine.change([{ type: 'delete', graph: INDEX, triples }])
  await engine.change([{ type: 'drop', graph: name }])
}

/** The graphs whose columns are complete in an engine, according to its index. Faults: StoreUnavailable. */
export async function graphsWithColumns(engine: RemoteEngine): Promise<ReadonlySet<string>> {
  const [name, sum] = [variable('name'), variable('sum')]
  const text = generate(select([name], inGraph(INDEX, triple(name, iri(SUM), sum))))
  const rows = readJsonSolutions(await engine.query({ text, format: 'json', deadline: engine.deadline }))
  return new Set(rows.map(row => (row.name?.value ?? '').slice(0, -columnsGraph('').length)))
}

/**
 * Downloads the columns of a graph from an engine into a file, which exists only when it is complete; false where the engine does
 * not have them completely. Faults: StoreUnavailable, DeadlineExceeded.
 */
export async function fetchColumns(engine: RemoteEngine, graph: string, file: string): Promise<boolean> {
  const name = columnsGraph(graph)
  const sum = await sumOf(engine, name)
  if (sum === null) return false
  mkdirSync(path.dirname(file), { recursive: true })
  const unfinished = `${file}.${PROCESS_NAME}.new`
  try {
    await pipeline(Readable.from(parts(engine, name, sum)), createGunzip(), createWriteStream(unfinished))
    renameSync(unfinished, file)
    return true
  } catch (error) {
    if (error instanceof PartsDamaged || isZlibError(error)) return false
    throw error
  } finally {
    rmSync(unfinished, { force: true })
  }
}

/** Parts of the columns of a graph that are missing or changed. */
class PartsDamaged extends Error {}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}

async function* parts(engine: RemoteEngine, name: string, sum: Sum): AsyncGenerator<Buffer> {
  let [read, crc] = [0, 0]
  for (let step = 0; read < sum.bytes; step++) {
    const texts = (await objects(engine, name, `${name}:${step}`, PART)).toSorted()
    const bytes = Buffer.concat(texts.map(text => Buffer.from(text.slice(text.indexOf(' ') + 1), 'base64')))
    if (bytes.length !== Math.min(STEP, sum.bytes - read)) throw new PartsDamaged()
    read += bytes.length
    crc = crc32(bytes, crc)
    yield bytes
  }
  if (crc !== sum.crc) throw new PartsDamaged()
}

async function sumOf(engine: RemoteEngine, name: string): Promise<Sum | null> {
  const [text] = await objects(engine, INDEX, name, SUM)
  const [bytes, crc] = (text ?? '').split(' ').map(Number)
  return bytes === undefined || crc === undefined ? null : { bytes, crc }
}

async function objects(
  engine: RemoteEngine,
  graph: string,
  subject: string,
  predicate: string,
): Promise<readonly string[]> {
  const object = variable('object')
  const text = generate(select([object], inGraph(graph, triple(iri(subject), iri(predicate), object))))
  const rows = readJsonSolutions(await engine.query({ text, format: 'json', deadline: engine.deadline }))
  return rows.flatMap(row => (row.object === undefined ? [] : [row.object.value]))
}

/** A graph whose columns are rebuilt from the triples in an engine. */
export interface RebuiltGraph {
  readonly graph: string
  /** File of the columns. */
  readonly columns: string
  readonly isSearched: boolean
  /** Number of triples in the engine; null where it is unknown. */
  readonly stored: number | null
}

/** Characters that are compressed at a time: other requests are answered between two chunks. */
const PIECE = 2 ** 20

/**
 * Rebuilds the columns of a graph from its triples in an engine, in the order in which the engine returns them: the order of
 * records and of several values of a field, which triples lack, is not source order. Faults: LoadRefused where the engine does
 * not have as many triples as were loaded; StoreUnavailable, DeadlineExceeded.
 */
export async function rebuildColumns(
  engine: RemoteEngine,
  forms: StoredForms,
  { graph, columns, isSearched, stored }: RebuiltGraph,
): Promise<void> {
  mkdirSync(path.dirname(columns), { recursive: true })
  const file = `${columns}.nt.gz.${PROCESS_NAME}.new`
  try {
    const triples = await exportTriples(engine, forms, graph, file)
    if (stored !== null && triples !== stored)
      throw new Fault(LOAD_REFUSED, { reason: `the engine has ${triples} of ${stored} triples of ${graph}` })
    await buildColumnsInThread({ triples: file, columns, isSearched })
  } finally {
    rmSync(file, { force: true })
  }
}

async function exportTriples(
  engine: RemoteEngine,
  { rounded }: StoredForms,
  graph: string,
  file: string,
): Promise<number> {
  const doubles = rounded.length === 0 ? null : exactDoubles(engine.addresses.kind)
  const writer = new TripleFile(file)
  try {
    const decoder = new StringDecoder('utf8')
    let rest = ''
    const take = (text: string) => {
      for (const triple of parseTriples(text))
        if (doubles === null || !(triple.object.type === 'literal' && triple.object.datatype === XSD.double))
          writer.add(triple)
    }
    await engine.export(graph, piece => {
      const text = rest + decoder.write(piece)
      const end = text.lastIndexOf('\n') + 1
      rest = text.slice(end)
      take(text.slice(0, end))
    })
    take(rest + decoder.end())
    if (doubles !== null) await addDoubles(engine, generate(doubles(graph)), writer)
    return writer.triples
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError)
      throw new Fault(
        LOAD_REFUSED,
        { reason: `the triples of ${graph} cannot be read: ${error.message}` },
        { cause: error },
      )
    throw error
  } finally {
    writer.close()
  }
}

async function addDoubles(engine: RemoteEngine, text: string, writer: TripleFile): Promise<void> {
  for (const { subject, predicate, value } of readJsonSolutions(
    await engine.query({ text, format: 'json', deadline: EXACT_DEADLINE }),
  ))
    if (
      (subject?.type === 'iri' || subject?.type === 'blank') &&
      predicate?.type === 'iri' &&
      value?.type === 'literal'
    )
      writer.add({ subject, predicate, object: { ...value, datatype: XSD.double } })
}

const EXACT_DEADLINE = 600_000

/** A compressed file of N-Triples, from which columns are built. */
class TripleFile {
  triples = 0
  private readonly file: number
  private text = ''

  constructor(path: string) {
    this.file = openSync(path, 'w')
  }

  add({ subject, predicate, object }: Triple): void {
    this.triples += 1
    this.text += `${termText(subject)} ${termText(predicate)} ${termText(canonicalDouble(decodeTerm(object)))} .\n`
    if (this.text.length >= PIECE) this.flush()
  }

  close(): void {
    this.flush()
    closeSync(this.file)
  }

  private flush(): void {
    writeSync(this.file, gzipSync(this.text, { level: 1 }))
    this.text = ''
  }
}

/** Engines write doubles in various forms; published files have one. */
function canonicalDouble(term: Term): Term {
  if (term.type !== 'literal' || term.datatype !== XSD.double) return term
  const number = numberOfLexical(term.value.trim(), 'double')
  return number === null ? term : { ...term, value: numberForm(number) }
}
