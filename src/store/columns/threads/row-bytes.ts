import { memoised } from '../../../model/memoised.ts'
import type { Term } from '../../../rdf/term.ts'
import {
  type CellForm,
  type CellWriter,
  type RowLayout,
  type TermKind,
  termCell,
} from '../../../sparql/result-formats.ts'
import { TermBytes } from '../dictionary-texts.ts'
import type { Batch } from '../evaluate/vectors/batch.ts'
import type { Domain } from '../evaluate/vectors/domain.ts'
import { termAt, type Vector } from '../evaluate/vectors/vector.ts'
import type { PieceBytes } from './piece-bytes.ts'

/** Maximum number of cached cells of a variable. */
const CACHE_SIZE = 2 ** 14

/** Below this number of rows nothing is cached: the cache would cost more than it saves. */
const MIN_CACHED_ROWS = 256

/** Number of cells after which a cache is disabled if fewer than one in the second number of them were found in it. */
const TRIED = 4096
const HITS = 8

/** Writes the cell of a row; false where it has none. */
type WriteCell = (row: number) => boolean

/** Cached cells of one variable, by the numbers of their terms. */
class CellCache {
  private readonly bytes: PieceBytes
  private readonly ids = new Uint32Array(CACHE_SIZE)
  private readonly domains: Domain[] = []
  private readonly starts = new Uint32Array(CACHE_SIZE)
  private readonly lengths = new Uint32Array(CACHE_SIZE)
  private epoch = 0
  private sought = 0
  private found = 0

  constructor(bytes: PieceBytes) {
    this.bytes = bytes
  }

  /** True where hardly any cell is repeated: usually for subjects. */
  get isUseless(): boolean {
    return this.sought > TRIED && HITS * this.found < this.sought
  }

  /** Copies a cell; false where it is not cached. */
  copy(domain: Domain, id: number): boolean {
    const place = id & (CACHE_SIZE - 1)
    this.sought += 1
    if (this.ids[place] !== id || this.domains[place] !== domain || this.epoch !== this.bytes.epoch)
      return false
    this.found += 1
    this.bytes.copy(this.starts[place] as number, this.lengths[place] as number)
    return true
  }

  /** Caches the cell that was written from a position on. */
  add(domain: Domain, id: number, from: number): void {
    const start = this.bytes.cache(from)
    if (start < 0) return
    if (this.epoch !== this.bytes.epoch) this.ids.fill(0)
    this.epoch = this.bytes.epoch
    const place = id & (CACHE_SIZE - 1)
    this.ids[place] = id
    this.domains[place] = domain
    this.starts[place] = start
    this.lengths[place] = this.bytes.place - from
  }
}

/** The texts around the values of one kind of terms. */
interface Around {
  readonly before: Uint8Array
  readonly after: Uint8Array
  readonly plain: Uint8Array
}

/** Maximum number of cached kinds of terms of a variable. */
const MAX_KINDS = 1000

/** The texts around the values of a variable. */
class Sides {
  private readonly writer: CellWriter
  private readonly before: string
  private readonly after: string
  private readonly known = new Map<CellForm, Around>()

  constructor(writer: CellWriter, before: string, after: string) {
    this.writer = writer
    this.before = before
    this.after = after
  }

  of(kind: TermKind): Around {
    const form = this.writer.form(kind)
    if (this.known.size >= MAX_KINDS) this.known.clear()
    return memoised(this.known, form, () => ({
      before: Buffer.from(this.before + form.before),
      after: Buffer.from(form.after + this.after),
      plain: form.plain,
    }))
  }
}

/** Writes rows of batches into a chunk. A cell that repeats a recent one is copied instead. */
export class RowBytes {
  private readonly bytes: PieceBytes
  private readonly writer: CellWriter
  private readonly found = new TermBytes()
  private readonly layout: RowLayout
  private readonly variables: readonly string[]
  private readonly caches: readonly CellCache[]
  private readonly sides: readonly Sides[]
  private readonly separator: Uint8Array
  private readonly end: Uint8Array
  private readonly next: Uint8Array
  private begin: Uint8Array
  private cells: readonly WriteCell[] = []

  constructor(bytes: PieceBytes, writer: CellWriter, variables: readonly string[]) {
    this.bytes = bytes
    this.writer = writer
    this.layout = writer.layout(variables)
    this.variables = variables
    this.caches = variables.map(() => new CellCache(bytes))
    this.sides = this.layout.before.map(before => new Sides(writer, before, this.layout.after))
    this.begin = Buffer.from(this.layout.first)
    this.next = Buffer.from(this.layout.begin)
    this.separator = Buffer.from(this.layout.separator)
    this.end = Buffer.from(this.layout.end)
  }

  /** Sets the batch whose rows are to be written. */
  read(batch: Batch): void {
    this.cells = this.variables.map((name, number) => this.writerOf(batch.get(name), number))
  }

  row(row: number): void {
    const { bytes, cells, layout, separator } = this
    bytes.encoded(this.begin)
    let written = 0
    for (let number = 0; number < cells.length; number++) {
      const place = bytes.place
      if ((layout.isSparse ? written : number) > 0) bytes.encoded(separator)
      if ((cells[number] as WriteCell)(row)) written += 1
      else if (layout.isSparse) bytes.backTo(place)
    }
    bytes.encoded(this.end)
    this.begin = this.next
  }

  private writerOf(vector: Vector | undefined, number: number): WriteCell {
    if (vector === undefined) return () => false
    const { bytes, writer } = this
    const { after } = this.layout
    const before = this.layout.before[number] as string
    const write = (term: Term) => bytes.text(`${before}${termCell(writer, term)}${after}`)
    switch (vector.type) {
      case 'constant': {
        const { domain, id } = vector
        if (id === 0) return () => false
        const text = Buffer.from(`${before}${termCell(writer, domain.term(id))}${after}`)
        return () => {
          bytes.encoded(text)
          return true
        }
      }
      case 'numbers':
        return row => {
          const term = termAt(vector, row)
          if (term === null) return false
          write(term)
          return true
        }
      case 'ids': {
        const { domain, ids } = vector
        const own = this.caches[number] as CellCache
        const cache = ids.length < MIN_CACHED_ROWS || own.isUseless ? null : own
        const sides = this.sides[number] as Sides
        return row => {
          const id = ids[row] as number
          if (id === 0) return false
          if (cache?.copy(domain, id) === true) return true
          const from = bytes.place
          if (!this.writeBytes(domain, id, sides)) {
            bytes.backTo(from)
            write(domain.term(id))
          }
          cache?.add(domain, id, from)
          return true
        }
      }
    }
  }

  /** Writes a cell whose value needs no conversion from the bytes of the graph; false for other cells. */
  private writeBytes(domain: Domain, id: number, sides: Sides): boolean {
    const { bytes, found } = this
    if (domain.bytes === undefined || !domain.bytes(id, found)) return false
    const { before, after, plain } = sides.of(found)
    bytes.encoded(before)
    if (!bytes.plain(found.bytes, found.from, found.to, plain)) return false
    bytes.encoded(after)
    return true
  }
}
