import { createWriteStream } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip, type Gzip } from 'node:zlib'
import { TripleText } from '../mapping/triple-text.ts'
import type { GraphRole } from '../rdf/iris.ts'
import type { GraphFile } from './versions.ts'

/** Bytes of a piece: two of them are held, one that grows and one that is compressed meanwhile. */
const PIECE_BYTES = 2 ** 20

/** Compressed bytes that are handed on at a time: each turn costs as much as compressing kilobytes. */
const COMPRESSED_BYTES = 2 ** 17

/** Writes one graph of a version as compressed N-Triples; memory holds two pieces at a time. */
export class GraphWriter {
  readonly out = new TripleText(PIECE_BYTES)
  private readonly role: GraphRole
  private readonly file: string
  private readonly gzip: Gzip
  /** Resolves when the file has everything, and rejects with what kept it from that. */
  private readonly finished: Promise<void>
  private bytes = 0
  /** Resolves when the piece before is compressed and its buffer free again. */
  private written: Promise<void> = Promise.resolve()

  constructor(folder: string, role: GraphRole) {
    this.role = role
    this.file = `${role}.nt.gz`
    this.gzip = createGzip({ level: 1, chunkSize: COMPRESSED_BYTES })
    this.finished = pipeline(this.gzip, createWriteStream(path.join(folder, this.file)))
    this.finished.catch(() => undefined)
  }

  /** Hands the piece on where it is full, or in any case; waits while compressing is slower than the mapping. */
  async drain(always: boolean): Promise<void> {
    if (!always && !this.out.isFull()) return
    await this.written.catch(() => this.finished)
    const piece = this.out.lend()
    this.bytes += piece.length
    this.written = new Promise((resolve, reject) =>
      this.gzip.write(piece, error => (error ? reject(error) : resolve())),
    )
    this.written.catch(() => undefined)
  }

  /** Ends the file; what it holds is on its way to the disk when this resolves. */
  async close(): Promise<GraphFile> {
    await this.drain(true)
    this.gzip.end()
    await this.finished
    return { role: this.role, file: this.file, triples: this.out.triples, bytes: this.bytes }
  }

  /** Gives up: closes the file without caring for what it holds. */
  abandon(): void {
    this.gzip.destroy()
  }
}
