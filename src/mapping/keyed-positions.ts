import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'

/** Numbers of a run that are read at a time. */
const PIECE = 2 ** 14

const NUMBER_BYTES = 4

/** What a lot of pairs became: positions by key, keys and positions rising. */
interface Run {
  /** The positions of the next key, where it is below a limit; null where there is none. */
  readonly below: (limit: number) => Uint32Array | null
}

/** Where numbers of a run come from: copies some from a place into a piece. */
type Source = (into: Uint32Array, from: number) => void

/** Pairs that are held, in 20 megabytes; more are sorted and written to the disk. */
const LOT = 2 ** 20
const FIRST_LOT = 2 ** 12

/**
 * Gathers in which records keys are, for far more pairs of key and position than memory should hold: lots of them are sorted
 * by key into runs, which are read together at the end.
 */
export class KeyedPositions {
  private readonly path: string
  private readonly most: number
  private readonly lot: number
  private keys = new Uint32Array(FIRST_LOT)
  private positions = new Uint32Array(FIRST_LOT)
  private length = 0
  private runs: Runs | null = null
  private readers: readonly Run[] | null = null

  /**
   * @param path of a file for what memory should not hold; it is there for as long as it is needed
   * @param most keys, which are numbers from 0 on
   * @param lot pairs that are held
   */
  constructor(path: string, most: number, lot: number = LOT) {
    this.path = path
    this.most = most
    this.lot = lot
  }

  /** Notes that a key is in a record; positions rise. */
  add(key: number, position: number): void {
    if (this.length === this.keys.length) this.makeRoom()
    this.keys[this.length] = key
    this.positions[this.length] = position
    this.length += 1
  }

  /**
   * The positions of the keys below a limit that were not asked for before, in lists that each belong to one key; those of
   * one key follow one another in the order in which they came. Nothing is added once this was asked.
   */
  below(limit: number): readonly Uint32Array[] {
    this.readers ??= [...(this.runs?.runs() ?? []), heldRun(this.sorted())]
    const lists: Uint32Array[] = []
    for (const run of this.readers)
      for (let list = run.below(limit); list !== null; list = run.below(limit)) lists.push(list)
    return lists
  }

  /** Removes what is on the disk. */
  close(): void {
    this.runs?.remove()
    this.runs = null
  }

  private makeRoom(): void {
    if (this.length < this.lot) {
      this.keys = grown(this.keys)
      this.positions = grown(this.positions)
      return
    }
    this.runs ??= new Runs(this.path)
    this.runs.add(this.sorted())
    this.length = 0
  }

  private sorted(): Uint32Array {
    return sortRun(this.keys, this.positions, this.length, this.most)
  }
}

function grown(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * numbers.length)
  larger.set(numbers)
  return larger
}

/**
 * Sorts pairs of key and position by key, those of a key in the order in which they came. The result is, for each key,
 * the key, the number of its positions, and these.
 */
function sortRun(keys: Uint32Array, positions: Uint32Array, length: number, most: number): Uint32Array {
  const ends = new Uint32Array(most)
  let distinct = 0
  for (let at = 0; at < length; at++) {
    const key = keys[at] ?? 0
    if (ends[key] === 0) distinct += 1
    ends[key] = (ends[key] ?? 0) + 1
  }
  const run = new Uint32Array(length + 2 * distinct)
  let end = 0
  for (let key = 0; key < most; key++) {
    const count = ends[key] ?? 0
    if (count === 0) continue
    run[end] = key
    run[end + 1] = count
    ends[key] = end + 2
    end += 2 + count
  }
  for (let at = 0; at < length; at++) {
    const key = keys[at] ?? 0
    const place = ends[key] ?? 0
    run[place] = positions[at] ?? 0
    ends[key] = place + 1
  }
  return run
}

/** A sorted run that is held. */
function heldRun(run: Uint32Array): Run {
  return new RunReader(run.length, (into, from) => into.set(run.subarray(from, from + into.length)))
}

/** Sorted runs that are kept in one file, which is removed at the end. */
class Runs {
  private readonly path: string
  private readonly file: number
  private readonly starts: number[] = []
  private end = 0

  constructor(path: string) {
    this.path = path
    this.file = openSync(path, 'w+')
  }

  add(run: Uint32Array): void {
    this.starts.push(this.end)
    for (let at = 0; at < run.byteLength; ) at += writeSync(this.file, run, at, run.byteLength - at)
    this.end += run.length
  }

  /** The runs in the order in which they came, each read from its start. */
  runs(): readonly Run[] {
    return this.starts.map((start, index) => {
      const length = (this.starts[index + 1] ?? this.end) - start
      return new RunReader(length, (into, from) => this.read(into, start + from))
    })
  }

  remove(): void {
    closeSync(this.file)
    rmSync(this.path, { force: true })
  }

  private read(into: Uint32Array, from: number): void {
    for (let at = 0; at < into.byteLength; ) {
      const read = readSync(this.file, into, at, into.byteLength - at, from * NUMBER_BYTES + at)
      if (read === 0) throw new Error(`${this.path} ends too soon`)
      at += read
    }
  }
}

class RunReader implements Run {
  private readonly length: number
  private readonly source: Source
  private readonly piece: Uint32Array
  /** Numbers that were taken from the source, those of them that were given out, and the end of the piece. */
  private taken = 0
  private at = 0
  private end = 0

  constructor(length: number, source: Source) {
    this.length = length
    this.source = source
    this.piece = new Uint32Array(Math.min(length, PIECE))
  }

  readonly below = (limit: number): Uint32Array | null => {
    if (this.at === this.end && this.taken === this.length) return null
    if (this.peek() >= limit) return null
    this.at += 1
    const positions = new Uint32Array(this.next())
    for (let index = 0; index < positions.length; index++) positions[index] = this.next()
    return positions
  }

  private next(): number {
    const number = this.peek()
    this.at += 1
    return number
  }

  private peek(): number {
    if (this.at === this.end) {
      this.end = Math.min(this.piece.length, this.length - this.taken)
      this.source(this.piece.subarray(0, this.end), this.taken)
      this.taken += this.end
      this.at = 0
    }
    return this.piece[this.at] ?? 0
  }
}
