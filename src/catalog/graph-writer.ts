import { createWriteStream, type WriteStream } from 'node:fs'
import path from 'node:path'
import { finished } from 'node:stream/promises'
import { createGzip, type Gzip } from 'node:zlib'
import { TripleText } from '../mapping/triple-text.ts'
import type { GraphRole } from '../rdf/iris.ts'
import type { GraphFile } from './versions.ts'

/** Writes one graph of a version as compressed N-Triples; memory holds one piece at a time. */
export class GraphWriter {
  readonly out = new TripleText()
  private readonly role: GraphRole
  private readonly file: string
  private readonly gzip: Gzip
  private readonly stream: WriteStream
  private bytes = 0

  constructor(folder: string, role: GraphRole) {
    this.role = role
    this.file = `${role}.nt.gz`
    this.gzip = createGzip({ level: 1 })
    this.stream = createWriteStream(path.join(folder, this.file))
    this.gzip.pipe(this.stream)
  }

  /** Hands the piece on where it is full, or in any case; waits while the disk is slower than the mapping. */
  async drain(always: boolean): Promise<void> {
    if (!always && !this.out.isFull()) return
    const piece = this.out.take()
    this.bytes += piece.length
    if (!this.gzip.write(piece)) await new Promise<void>(resolve => this.gzip.once('drain', () => resolve()))
  }

  /** Ends the file; what it holds is on its way to the disk when this resolves. */
  async close(): Promise<GraphFile> {
    await this.drain(true)
    this.gzip.end()
    await finished(this.stream)
    return { role: this.role, file: this.file, triples: this.out.triples, bytes: this.bytes }
  }

  /** Gives up: closes the file without caring for what it holds. */
  abandon(): void {
    this.gzip.destroy()
    this.stream.destroy()
  }
}
