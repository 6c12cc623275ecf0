import type { SectionNumber } from '../format.ts'
import { GraphColumns } from '../graph.ts'
import { CachedSections, type ColumnsDamaged, Derived, SectionFile, type SectionSource } from '../sections.ts'
import type { GraphPlace, SharedParts } from './protocol.ts'

/** Sections and derived data that a thread shares with the others. */
export interface PartListener {
  readonly onSection: (graph: string, section: SectionNumber, bytes: SharedArrayBuffer) => void
  readonly onDerived: (graph: string, name: string, buffers: readonly SharedArrayBuffer[]) => void
  /** Returns the error that the reader of a damaged graph gets. */
  readonly onDamage: (graph: string, damage: ColumnsDamaged) => Error
}

interface OpenedGraph {
  readonly columns: GraphColumns
  readonly file: SectionFile | null
}

/** The graphs that a thread has opened. */
export class GraphHolder {
  private readonly graphs = new Map<string, OpenedGraph>()
  private readonly listener: PartListener

  constructor(listener: PartListener) {
    this.listener = listener
  }

  attach({ name, header, path, memory }: GraphPlace): GraphColumns {
    const derived = new Derived((derivedName, buffers) => this.listener.onDerived(name, derivedName, buffers))
    const file =
      path === null
        ? null
        : new SectionFile(
            path,
            header,
            (section, bytes) => this.listener.onSection(name, section, bytes),
            damage => this.listener.onDamage(name, damage),
          )
    const source: SectionSource = file ?? new CachedSections(memory ?? [])
    const columns = new GraphColumns(header, source, derived)
    this.graphs.set(name, { columns, file })
    return columns
  }

  detach(names: readonly string[]): void {
    for (const name of names) this.graphs.delete(name)
  }

  /** Adds data that other threads have read or computed. */
  addShared({ graph, sections, derived }: SharedParts): void {
    const opened = this.graphs.get(graph)
    if (opened === undefined) return
    for (const [section, bytes] of sections) opened.file?.add(section, bytes)
    for (const [name, buffers] of derived) opened.columns.derived.add(name, buffers)
  }

  get(name: string): GraphColumns | undefined {
    return this.graphs.get(name)?.columns
  }
}
