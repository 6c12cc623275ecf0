import { createReadStream, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream'
import { threadId } from 'node:worker_threads'
import { createGunzip } from 'node:zlib'
import { isOfRunningProcess, PROCESS_NAME } from '../../../runtime/processes.ts'
import { GraphBuilder, type GraphBuilderOptions } from './graph-builder.ts'
import { SectionWriter } from './section-writer.ts'

/** Builds the columns file of a graph from a stream of its triples; the file exists only when it is complete. */
export class ColumnsFile {
  readonly builder: GraphBuilder
  private readonly path: string
  /** Of this builder alone: several servers on a folder may rebuild the same file at once. */
  private readonly unfinished: string

  constructor(file: string, options: Omit<GraphBuilderOptions, 'spill'> = {}) {
    this.path = file
    this.unfinished = `${file}.${PROCESS_NAME}.${threadId}.new`
    this.builder = new GraphBuilder({ ...options, spill: `${this.unfinished}.values` })
  }

  /** Writes the file. */
  close(): void {
    const writer = new SectionWriter(this.unfinished)
    try {
      writer.close(this.builder.finish(writer))
    } catch (error) {
      writer.abandon()
      rmSync(this.unfinished, { force: true })
      throw error
    }
    renameSync(this.unfinished, this.path)
  }

  abandon(): void {
    this.builder.abandon()
  }
}

/** Builds the columns file of a graph from its gzip-compressed N-Triples. */
export async function buildColumnsFile(
  triples: string,
  columns: string,
  options: Omit<GraphBuilderOptions, 'spill'> = {},
): Promise<void> {
  removeUnfinished(path.dirname(columns))
  const file = new ColumnsFile(columns, options)
  try {
    const text = pipeline(createReadStream(triples), createGunzip({ chunkSize: 2 ** 20 }), () => {})
    for await (const piece of text) file.builder.add(piece as Buffer)
    file.close()
  } catch (error) {
    file.abandon()
    throw error
  }
}

/** Removes the files of builders whose process died. */
function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!/\.\d+\.new(\.values)?$/.test(name)) continue
    const file = path.join(folder, name)
    const modified = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
    if (!isOfRunningProcess(name, modified)) rmSync(file, { force: true })
  }
}
