import { createReadStream, createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, crc32, createGunzip, createGzip } from 'node:zlib'
import { PROCESS_NAME } from '../../runtime/processes.ts'
import { inGraph, iri, literal, select, triple, variable } from '../../sparql/build.ts'
import { generate } from '../../sparql/generate.ts'
import type { RemoteEngine } from './engine.ts'
import { readJsonSolutions } from './results.ts'

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
  const unfinished = `${file}.${PROCESS_NAME}.part`
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
