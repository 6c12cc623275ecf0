import { appendFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { Fault, SOURCE_UNREADABLE } from '../../errors/errors.ts'
import { buildColumnsFile } from '../../store/columns/build/columns-file.ts'
import type { GraphFile } from '../versions/versions.ts'

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
