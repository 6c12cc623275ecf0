import { memoised } from '../../../model/memoised.ts'
import { collectGarbage } from '../../../runtime/engine-flags.ts'
import type { GraphHeader, SectionNumber } from '../file-layout.ts'
import { GraphColumns } from '../graph.ts'
import { CachedSections, type ColumnsDamaged, Derived, SectionFile, type SectionSource } from '../sections.ts'
import type { GraphPlace, SharedPart } from './protocol.ts'
import type { ColumnThread } from './thread.ts'

/** Sections and derived data that a thread shares with the others. */
export interface PartListener {
  readonly onPart: (graph: string, part: SharedPart) => void
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

interface Entry {
  readonly place: GraphPlace
  columns: GraphColumns
  /** In order of arrival; their number is the revision of the entry. */
  parts: SharedPart[]
  bytes: number
  /** Predicates whose values can be written from memory. */
  loaded: Set<string>
  used: number
}

/** Bytes of memory by their contents. */
export interface ColumnBytes {
  readonly columns: number
  readonly dictionaries: number
  readonly derived: number
}

/** Bytes that were released and may wait for a collection of garbage: at least, and as a share of the limit. */
const WAITING = { least: 64e6, share: 0.25 }

/** The graphs whose columns are served, their data in memory, and which thread has received what. */
export class GraphRegistry {
  private readonly entries = new Map<string, Entry>()
  private readonly holder: GraphHolder
  private clock = 0
  private bytes = 0
  /** Bytes released since garbage was collected. */
  private released = 0
  private readonly limit: number

  /**
   * @param limit bytes of memory that columns may use, excluding graphs that are only in memory
   * @param onDamage returns the error that the reader of a damaged graph in this thread gets
   */
  constructor(limit: number, onDamage: PartListener['onDamage']) {
    this.limit = limit
    this.holder = new GraphHolder({ onPart: () => undefined, onDamage })
  }

  add(place: GraphPlace): void {
    this.entries.set(place.name, {
      place,
      columns: this.holder.attach(place),
      parts: [],
      bytes: 0,
      loaded: new Set(),
      used: this.clock,
    })
  }

  has(name: string): boolean {
    return this.entries.has(name)
  }

  get size(): number {
    return this.entries.size
  }

  /** The columns of a graph for this thread. */
  columns(name: string): GraphColumns | undefined {
    return this.entries.get(name)?.columns
  }

  header(name: string): GraphHeader | undefined {
    return this.entries.get(name)?.place.header
  }

  names(): IterableIterator<string> {
    return this.entries.keys()
  }

  remove(names: readonly string[], threads: Iterable<ColumnThread>): void {
    for (const name of names) {
      const entry = this.entries.get(name)
      if (entry === undefined) continue
      this.bytes -= entry.bytes
      this.released += entry.bytes
      this.entries.delete(name)
    }
    this.holder.detach(names)
    for (const thread of threads) {
      const known = names.filter(name => thread.revisions.delete(name))
      if (known.length > 0) thread.send({ type: 'detach', graphs: known })
    }
    this.collect(threads)
  }

  /** Records that a thread has read the data from which the values of some columns are written. */
  noteLoaded(graph: string, predicates: readonly string[]): void {
    const loaded = this.entries.get(graph)?.loaded
    for (const predicate of predicates) loaded?.add(predicate)
  }

  /** True where the values of some columns can be written without reading a file. */
  isLoaded(graph: string, predicates: readonly string[]): boolean {
    const entry = this.entries.get(graph)
    if (entry === undefined || !predicates.every(predicate => entry.loaded.has(predicate))) return false
    entry.used = ++this.clock
    return true
  }

  /** Adds data that a thread has read or computed. */
  addPart(graph: string, part: SharedPart): void {
    const entry = this.entries.get(graph)
    // Two threads may have read the same data at the same time: the first is cached.
    if (entry === undefined || entry.parts.some(([key]) => key === part[0])) return
    entry.parts.push(part)
    entry.bytes += bytesOf(part)
    this.bytes += bytesOf(part)
    this.holder.addShared(graph, [part])
  }

  /** Sends graphs and all their data in memory to a thread that does not have them. */
  bring(thread: ColumnThread, names: Iterable<string>): void {
    this.clock += 1
    for (const name of names) {
      const entry = this.entries.get(name)
      if (entry === undefined) continue
      entry.used = this.clock
      let known = thread.revisions.get(name)
      if (known === undefined) {
        thread.send({ type: 'attach', place: entry.place })
        known = 0
      }
      if (known < entry.parts.length)
        thread.send({ type: 'share', graph: name, parts: entry.parts.slice(known) })
      thread.revisions.set(name, entry.parts.length)
    }
  }

  /** Releases the least recently used data until the rest is within the limit. */
  shrink(threads: readonly ColumnThread[], inUse: ReadonlySet<string>): void {
    if (this.bytes > this.limit) this.release(threads, inUse)
    this.collect(threads)
  }

  private release(threads: readonly ColumnThread[], inUse: ReadonlySet<string>): void {
    const oldest = [...this.entries.values()]
      .filter(({ bytes, place }) => bytes > 0 && !inUse.has(place.name))
      .sort((a, b) => a.used - b.used)
    for (const entry of oldest) {
      if (this.bytes <= this.limit) return
      this.bytes -= entry.bytes
      this.released += entry.bytes
      entry.bytes = 0
      entry.parts = []
      entry.loaded = new Set()
      entry.columns = this.holder.attach(entry.place)
      for (const thread of threads)
        if (thread.revisions.delete(entry.place.name))
          thread.send({ type: 'detach', graphs: [entry.place.name] })
    }
  }

  /** Gives memory back that was released, here and in the threads, once it is much: nothing else makes the engine do it. */
  private collect(threads: Iterable<ColumnThread>): void {
    if (this.released < Math.max(WAITING.least, WAITING.share * this.limit)) return
    this.released = 0
    for (const thread of threads) thread.send({ type: 'collect' })
    setImmediate(collectGarbage)
  }

  /** Bytes in memory, by their contents. */
  statistics(): ColumnBytes {
    let [columns, dictionaries, derived] = [0, 0, 0]
    for (const { place, parts } of this.entries.values()) {
      const ofDictionaries = dictionarySections(place.header)
      const memory = (place.memory ?? []).map((buffer, section): SharedPart => [section, [buffer]])
      for (const part of [...parts, ...memory])
        if (typeof part[0] === 'string') derived += bytesOf(part)
        else if (ofDictionaries.has(part[0])) dictionaries += bytesOf(part)
        else columns += bytesOf(part)
    }
    return { columns, dictionaries, derived }
  }
}

function bytesOf([, buffers]: SharedPart): number {
  return buffers.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

const DICTIONARY_SECTIONS = new WeakMap<GraphHeader, ReadonlySet<SectionNumber>>()

/** The sections that contain terms. */
function dictionarySections(header: GraphHeader): ReadonlySet<SectionNumber> {
  return memoised(DICTIONARY_SECTIONS, header, () => {
    const others = new Set<SectionNumber | null>([header.subjectResources])
    for (const { subjects, offsets, codes, repeats } of header.columns)
      for (const section of [subjects, offsets, codes, ...Object.values(repeats ?? {})]) others.add(section)
    return new Set([...header.sections.keys()].filter(section => !others.has(section)))
  })
}
