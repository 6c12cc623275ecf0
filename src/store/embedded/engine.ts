import * as oxigraph from 'oxigraph/web.js'
import type { AnswerFormat } from '../store.ts'
import { reserveFor } from './module.ts'
import { countTextLines, type DatasetOfQuery, splitBlankNodes } from './protocol.ts'

/** The only module that calls Oxigraph. Everything is synchronous; `isTrap` identifies the errors that end the engine. */
export class EmbeddedEngine {
  private readonly wasm: oxigraph.InitOutput
  private readonly store: oxigraph.Store

  constructor(module: WebAssembly.Module) {
    this.wasm = oxigraph.initSync({ module })
    this.store = new oxigraph.Store()
  }

  /** Bytes of memory, which never shrinks. */
  get memory(): number {
    return this.wasm.memory.buffer.byteLength
  }

  query(sparql: string, format: AnswerFormat, { defaultGraphs, namedGraphs, base }: DatasetOfQuery): string {
    const options = {
      results_format: format,
      default_graph: defaultGraphs.map(name => oxigraph.namedNode(name)),
      named_graphs: namedGraphs.map(name => oxigraph.namedNode(name)),
      ...(base === undefined ? {} : { base_iri: base }),
    }
    return String(this.store.query(sparql, options))
  }

  /**
   * Loads whole lines of N-Triples in one transaction.
   *
   * `lenient` skips the validation of IRIs and language tags, which takes a third of the time: Lodestone's own writers have
   * validated every term of the text (rdf/ntriples.ts).
   */
  loadLines(graph: string, text: Buffer, limit: number): void {
    const reserve = reserveFor(countTextLines(text), text.length)
    if (this.memory + reserve <= limit) {
      const place = this.wasm.__wbindgen_malloc(reserve, 1) >>> 0
      this.wasm.__wbindgen_free(place, reserve, 1)
    }
    const name = oxigraph.namedNode(graph)
    const { ground, blank } = splitBlankNodes(text)
    if (ground.length > 0) this.store.load(ground, { format: 'nt', to_graph_name: name, lenient: true })
    // `load` renames blank nodes, differently in every worker and for every batch; `parse` and `add` preserve their names.
    if (blank.length > 0) {
      for (const quad of oxigraph.parse(blank, { format: 'nt', to_graph_name: name, lenient: true })) {
        this.store.add(quad)
      }
    }
  }

  drop(graphs: readonly string[]): void {
    for (const graph of graphs) this.store.update(`DROP SILENT GRAPH <${graph}>`)
  }
}
