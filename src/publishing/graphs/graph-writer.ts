import { appendFileSync, createWriteStream, rmSync } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip, type Gzip, gzipSync } from 'node:zlib'
import { Fault, SOURCE_UNREADABLE } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { WrittenTriple } from '../../mapping/triple-text.ts'
import type { GraphRole } from '../../rdf/minted-iris.ts'
import { buildColumnsFile, ColumnsFile } from '../../store/columns/build/columns-file.ts'
import type { GraphFile } from '../versions/versions.ts'

/** Bytes of a piece: two of them are in memory, one being filled and one being compressed. */
const PIECE_BYTES = 2 ** 20

/** Compressed bytes per chunk: each chunk costs as much as compressing kilobytes. */
const COMPRESSED_BYTES = 2 ** 17

/** Options for the columns of a graph. */
interface GraphWriterOptions {
  /** Predicates in the order of the columns. */
  readonly predicates?: readonly string[]
  /** True for a graph whose texts are indexed for full-text search. */
  readonly isSearched?: boolean
}

/** Writes one graph of a version as compressed N-Triples and as columns; at most two pieces of the text are in memory. */
export class GraphWriter {
  readonly out = new WrittenTriple(PIECE_BYTES)
  private readonly role: GraphRole
  private readonly file: string
  private readonly gzip: Gzip
  private readonly columns: ColumnsFile
  private readonly columnsFile: string
  /** Resolves when the file is complete, and rejects with the error that prevented it. */
  private readonly finished: Promise<void>
  private bytes = 0
  /** Bytes of the piece that the columns already have. */
  private passed = 0
  /** Resolves when the previous piece is compressed and its buffer is free again. */
  private written: Promise<void> = Promise.resolve()

  constructor(
    folder: string,
    role: GraphRole,
    { predicates = [], isSearched = false }: GraphWriterOptions = {},
  ) {
    this.role = role
    this.file = `${role}.nt.gz`
    this.columnsFile = `${role}.columns`
    this.columns = new ColumnsFile(path.join(folder, this.columnsFile), { isSearched })
    for (const predicate of predicates) this.columns.builder.addPredicate(predicate)
    this.gzip = createGzip({ level: 1, chunkSize: COMPRESSED_BYTES })
    this.finished = pipeline(this.gzip, createWriteStream(path.join(folder, this.file)))
    void ignoreRejection(this.finished, 'drain and close await it')
  }

  /** Adds a subject without triples, which still has its position among the subjects. */
  addSubject(iri: string): void {
    this.pass()
    this.columns.builder.addSubject(iri)
  }

  /** Flushes the piece if it is full, or always; waits while compression is slower than the mapping. */
  async drain(always: boolean): Promise<void> {
    if (!always && !this.out.isFull()) return
    // A write that waits when the file fails is never called back: the failure is known from the pipeline alone.
    await Promise.race([this.written, this.finished]).catch(() => this.finished)
    this.pass()
    this.passed = 0
    const piece = this.out.borrowBuffer()
    this.bytes += piece.length
    this.written = new Promise((resolve, reject) =>
      this.gzip.write(piece, error => (error ? reject(error) : resolve())),
    )
    void ignoreRejection(this.written, 'the next drain awaits it')
  }

  /** Ends the files; their content is handed to the operating system when this resolves. */
  async close(): Promise<GraphFile> {
    await this.drain(true)
    this.gzip.end()
    this.columns.close()
    await this.finished
    const { role, file, columnsFile: columns, bytes } = this
    return { role, file, columns, triples: this.out.triples, bytes }
  }

  /** Aborts: closes the files, whose content is discarded. */
  abandon(): void {
    this.columns.abandon()
    this.gzip.destroy()
  }

  /** Passes the bytes that were added to the piece since the last call to the columns. */
  private pass(): void {
    const { bytes, length } = this.out
    if (length > this.passed) this.columns.builder.add(bytes.subarray(this.passed, length))
    this.passed = length
  }
}

/** Maximum number of named graphs of a file: each is a graph of the store, with its own file. */
const MAX_GRAPHS = 1000

/** Characters that are buffered before they are written. */
const MAX_BUFFERED = 16 * 2 ** 20

interface NamedGraph {
  /** null for the default graph. */
  readonly name: string | null
  readonly file: string
  buffered: string[]
  triples: number
  bytes: number
}

/**
 * Writes the named graphs of a file as compressed N-Triples, each to its own file. Input is buffered for all graphs and appended
 * in turn as members of a gzip file (RFC 1952, section 2.2), so that no file stays open.
 */
export class NamedGraphWriter {
  private readonly folder: string
  private readonly graphs = new Map<string | null, NamedGraph>()
  private buffered = 0

  constructor(folder: string) {
    this.folder = folder
  }

  /**
   * @param name null for the default graph
   * @param line a triple with its line feed
   */
  add(name: string | null, line: string): void {
    let graph = this.graphs.get(name)
    if (graph === undefined) {
      if (name !== null && this.graphs.size >= MAX_GRAPHS + (this.graphs.has(null) ? 1 : 0))
        throw new Fault(SOURCE_UNREADABLE, {
          reason: `The file has more than ${MAX_GRAPHS} named graphs. Part it, or publish it without graphs.`,
        })
      const file = name === null ? 'unnamed.nt.gz' : `named-${this.graphs.size + 1}.nt.gz`
      graph = { name, file, buffered: [], triples: 0, bytes: 0 }
      this.graphs.set(name, graph)
    }
    graph.buffered.push(line)
    graph.triples += 1
    this.buffered += line.length
    if (this.buffered >= MAX_BUFFERED) this.write()
  }

  /**
   * Flushes the buffers and builds the columns; returns the files with the names of their graphs. If there are named graphs, the
   * default graph has a file too, even an empty one.
   */
  async close(): Promise<readonly GraphFile[]> {
    const unnamed = this.graphs.get(null)
    const hasNames = [...this.graphs.keys()].some(name => name !== null)
    if (!hasNames) {
      if (unnamed !== undefined) rmSync(path.join(this.folder, unnamed.file), { force: true })
      return []
    }
    this.write()
    if (unnamed === undefined) {
      this.graphs.set(null, { name: null, file: 'unnamed.nt.gz', buffered: [], triples: 0, bytes: 0 })
      appendFileSync(path.join(this.folder, 'unnamed.nt.gz'), gzipSync(''))
    }
    const files: GraphFile[] = []
    for (const { name, file, triples, bytes } of this.graphs.values()) {
      const columns = file.replace(/\.nt\.gz$/, '.columns')
      await buildColumnsFile(path.join(this.folder, file), path.join(this.folder, columns))
      const role = name === null ? ({ role: 'unnamed' } as const) : ({ role: 'named', name } as const)
      files.push({ ...role, file, columns, triples, bytes })
    }
    return files
  }

  private write(): void {
    for (const graph of this.graphs.values()) {
      if (graph.buffered.length === 0) continue
      const text = Buffer.from(graph.buffered.join(''))
      graph.buffered = []
      graph.bytes += text.length
      appendFileSync(path.join(this.folder, graph.file), gzipSync(text, { level: 1 }))
    }
    this.buffered = 0
  }
}
