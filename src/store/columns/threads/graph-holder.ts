import { GraphColumns } from '../graph.ts'
import { CachedSections, type ColumnsDamaged, Derived, SectionFile, type SectionSource } from '../sections.ts'
import type { GraphPlace, SharedPart } from './protocol.ts'

/** Sections and derived data that a thread shares with the others. */
export interface PartListener {
  readonly onPart: (graph: string, part: SharedPart) => void
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
    const { onPart, onDamage } = this.listener
    const derived = new Derived((key, buffers) => onPart(name, [key, buffers]))
    const file =
      path === null
        ? null
        : new SectionFile(
            path,
            header,
            (section, bytes) => onPart(name, [section, [bytes]]),
            damage => onDamage(name, damage),
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
  addShared(graph: string, parts: readonly SharedPart[]): void {
    const opened = this.graphs.get(graph)
    for (const [key, buffers] of parts)
      if (typeof key === 'string') opened?.columns.derived.add(key, buffers)
      else opened?.file?.add(key, buffers[0] as SharedArrayBuffer)
  }

  get(name: string): GraphColumns | undefined {
    return this.graphs.get(name)?.columns
  }
}
