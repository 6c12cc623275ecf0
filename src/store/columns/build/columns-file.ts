import { createReadStream, renameSync, rmSync } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { GraphBuilder, type GraphBuilderOptions } from './graph-builder.ts'
import { SectionWriter } from './section-writer.ts'

/** Builds the columns file of a graph from a stream of its triples; the file exists only when it is complete. */
export class ColumnsFile {
  readonly builder: GraphBuilder
  private readonly path: string

  constructor(path: string, options: Omit<GraphBuilderOptions, 'spill'> = {}) {
    this.path = path
    this.builder = new GraphBuilder({ ...options, spill: `${path}.values` })
  }

  /** Writes the file. */
  close(): void {
    const writer = new SectionWriter(`${this.path}.new`)
    try {
      writer.close(this.builder.finish(writer))
    } catch (error) {
      writer.abandon()
      rmSync(`${this.path}.new`, { force: true })
      throw error
    }
    renameSync(`${this.path}.new`, this.path)
  }

  abandon(): void {
    this.builder.abandon()
  }
}

/** Builds the columns file of a graph from its gzip-compressed N-Triples. */
export async function buildColumnsFile(
  triples: string,
  path: string,
  options: Omit<GraphBuilderOptions, 'spill'> = {},
): Promise<void> {
  const file = new ColumnsFile(path, options)
  try {
    const text = pipeline(createReadStream(triples), createGunzip({ chunkSize: 2 ** 20 }), () => {})
    for await (const piece of text) file.builder.add(piece as Buffer)
    file.close()
  } catch (error) {
    file.abandon()
    throw error
  }
}
