import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { Fault } from '../../errors.ts'
import { inGraph, iri, triple, variable } from '../../sparql/build.ts'
import { generate } from '../../sparql/generate.ts'
import type { Engine } from './engine.ts'
import { readJsonSolutions } from './results.ts'

/**
 * Columns of a graph on their way through an engine: as literals of a graph of their own, base 64, so that every instance
 * has the same bytes, and with them the order of the source, which triples do not have.
 */
const PART = 'urn:lodestone:columns#part'
const SIZE = 'urn:lodestone:columns#size'

/** Bytes of a part, and parts under one subject, which are sent and read together. */
const PART_BYTES = 15_000
const PARTS_AT_A_TIME = 100
const STEP = PART_BYTES * PARTS_AT_A_TIME

/** The graph with the columns of a graph. */
export function columnsGraph(graph: string): string {
  return `${graph}:columns`
}

/** Puts the columns of a graph into an engine. Faults: LoadRefused, StoreUnavailable. */
export async function sendColumns(engine: Engine, graph: string, file: string): Promise<void> {
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const name = columnsGraph(graph)
    const bytes = Buffer.alloc(STEP)
    for (let offset = 0; offset < size; offset += STEP) {
      const length = readSync(descriptor, bytes, 0, Math.min(STEP, size - offset), offset)
      await engine.add(name, Buffer.from(partLines(name, offset / STEP, bytes.subarray(0, length))))
    }
    // Told last: where it is there, all parts are.
    await engine.add(name, Buffer.from(`<${name}> <${SIZE}> "${size}" .\n`))
  } finally {
    closeSync(descriptor)
  }
}

function partLines(name: string, step: number, bytes: Buffer): string {
  let text = ''
  for (let offset = 0; offset < bytes.length; offset += PART_BYTES) {
    const number = String(offset / PART_BYTES).padStart(3, '0')
    text += `<${name}:${step}> <${PART}> "${number} ${bytes.subarray(offset, offset + PART_BYTES).toString('base64')}" .\n`
  }
  return text
}

/** True where an engine has the columns of a graph whole. Faults: StoreUnavailable. */
export async function hasColumns(engine: Engine, graph: string): Promise<boolean> {
  return (await sizeOf(engine, graph)) !== null
}

/** Gets the columns of a graph from an engine into a file, which is there when it is whole. Faults: StoreUnavailable. */
export async function fetchColumns(engine: Engine, graph: string, file: string): Promise<void> {
  const size = await sizeOf(engine, graph)
  if (size === null)
    throw new Fault('StoreUnavailable', { reason: `the engine does not have the columns of ${graph}.` })
  mkdirSync(path.dirname(file), { recursive: true })
  const unfinished = `${file}.${process.pid}.part`
  const descriptor = openSync(unfinished, 'w')
  try {
    const name = columnsGraph(graph)
    let written = 0
    for (let step = 0; written < size; step++) {
      const parts = (await objects(engine, name, `${name}:${step}`, PART)).toSorted()
      const bytes = Buffer.concat(parts.map(part => Buffer.from(part.slice(part.indexOf(' ') + 1), 'base64')))
      if (bytes.length !== Math.min(STEP, size - written))
        throw new Fault('StoreUnavailable', { reason: `the engine lacks a part of the columns of ${graph}.` })
      writeSync(descriptor, bytes)
      written += bytes.length
    }
    renameSync(unfinished, file)
  } finally {
    closeSync(descriptor)
    rmSync(unfinished, { force: true })
  }
}

async function sizeOf(engine: Engine, graph: string): Promise<number | null> {
  const name = columnsGraph(graph)
  const [size] = await objects(engine, name, name, SIZE)
  return size === undefined ? null : Number(size)
}

async function objects(
  engine: Engine,
  graph: string,
  subject: string,
  predicate: string,
): Promise<readonly string[]> {
  const object = variable('object')
  const where = [inGraph(graph, triple(iri(subject), iri(predicate), object))]
  const text = generate({ type: 'select', projection: [{ variable: object }], where })
  const rows = readJsonSolutions(await engine.query({ text, format: 'json', deadline: engine.deadline }))
  return rows.flatMap(row => (row.object === undefined ? [] : [row.object.value]))
}
