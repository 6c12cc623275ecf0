import { hash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import type { Field } from '../model/field.ts'
import type { Value } from '../model/value.ts'

const FIRST_SLOTS = 16
/** Maximum number of repeated records that are named. */
const MAX_REPEATS = 3

/**
 * Gives each record its id: 40 hexadecimal digits, a fingerprint of the id fields, else of all values that are not null, by field
 * name, so that neither a new column nor another column order changes it. Records with the same fingerprint get a counter, and
 * repeated ones are counted.
 *
 * A table has the position of each record and 32 bits of its id; if these are equal, the full id of the record at that position
 * decides. That is 11 to 21 bytes a record, in addition to the ids themselves, which may be in a file.
 */
export class Identities {
  /** The assigned ids, in the order of the records. */
  readonly ids: RecordIds
  /** Records with the fingerprint of an earlier record. */
  repeated = 0
  /** The numbers of the first of these, each with that of the earlier one. */
  readonly repeats: (readonly [record: number, earlier: number])[] = []
  private readonly columns: readonly (readonly [name: string, index: number])[]
  private table = newTable(FIRST_SLOTS, false)
  /** Occupied slots. */
  private distinct = 0

  /** @param file where the ids are written; null if the ids are not needed later */
  constructor(fields: readonly Field[], identity: readonly string[], file: string | null = null) {
    this.ids = new RecordIds(file)
    this.columns = fields
      .map((field, index) => [field.name, index] as const)
      .filter(([name]) => identity.length === 0 || identity.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }

  idOf(values: readonly Value[]): string {
    const parts: unknown[] = []
    for (const [name, index] of this.columns) {
      const value = values[index]
      if (value !== null && value !== undefined)
        parts.push(name, typeof value === 'bigint' ? String(value) : value)
    }
    const text = JSON.stringify(parts)
    const first = fingerprint(text)
    const before = this.count(first)
    if (before > 0) this.repeated += 1
    const id = before === 0 ? first : fingerprint(`${text}#${before}`)
    this.ids.add(id)
    return id
  }

  /** Closes the file of ids and frees the index of records: no more records may be added. */
  close(): void {
    this.ids.close()
    this.table = newTable(FIRST_SLOTS, false)
  }

  /** Counts a record; returns how many earlier ones had the same fingerprint. */
  private count(id: string): number {
    if (4 * this.distinct >= 3 * this.table.checks.length) this.grow()
    const check = Number.parseInt(id.slice(0, CHECK_DIGITS), 16)
    const { checks, places } = this.table
    const mask = checks.length - 1
    for (let slot = check & mask; ; slot = (slot + 1) & mask) {
      const place = places[slot] ?? 0
      if (place === 0) {
        checks[slot] = check
        places[slot] = this.ids.length + 1
        this.distinct += 1
        return 0
      }
      if (checks[slot] === check && this.ids.at(place - 1) === id) {
        if (this.repeats.length < MAX_REPEATS) this.repeats.push([this.ids.length + 1, place])
        return this.countAgain(slot)
      }
    }
  }

  private countAgain(slot: number): number {
    this.table.repeats ??= new Uint32Array(this.table.checks.length)
    const repeats = (this.table.repeats[slot] ?? 0) + 1
    this.table.repeats[slot] = repeats
    return repeats
  }

  private grow(): void {
    const old = this.table
    const table = newTable(2 * old.checks.length, old.repeats !== null)
    const mask = table.checks.length - 1
    for (let from = 0; from < old.checks.length; from++) {
      if (old.places[from] === 0) continue
      let slot = (old.checks[from] ?? 0) & mask
      while (table.places[slot] !== 0) slot = (slot + 1) & mask
      table.checks[slot] = old.checks[from] ?? 0
      table.places[slot] = old.places[from] ?? 0
      if (table.repeats !== null) table.repeats[slot] = old.repeats?.[from] ?? 0
    }
    this.table = table
  }
}

/** A hash table with open addressing and linear probing; the number of slots is a power of two. */
interface Table {
  /** The first 32 bits of a fingerprint, which also determine its first slot. */
  readonly checks: Uint32Array
  /** One more than the position of the first record with the fingerprint; 0 marks a free slot. */
  readonly places: Uint32Array
  /** Later records with the fingerprint; null while there are none at all. */
  repeats: Uint32Array | null
}

function newTable(slots: number, hasRepeats: boolean): Table {
  return {
    checks: new Uint32Array(slots),
    places: new Uint32Array(slots),
    repeats: hasRepeats ? new Uint32Array(slots) : null,
  }
}

const CHECK_DIGITS = 8

function fingerprint(text: string): string {
  return hash('sha1', text)
}

/** Bytes of an id: forty hexadecimal digits. */
export const ID_BYTES = 20

/** Ids that are buffered before they are written. */
const PIECE_IDS = 4096

/**
 * The ids of the records of one version in order, twenty bytes each. With a file they are appended to it and read on demand;
 * without a file they stay in memory.
 */
export class RecordIds {
  private file: number | null
  private buffer: Buffer = Buffer.alloc(ID_BYTES * 16)
  private bufferedBytes = 0
  /** Bytes in the file, or in full pieces. */
  private writtenBytes = 0
  /** Full pieces, if there is no file. */
  private readonly pieces: Buffer[] = []
  /** The id that was read last: it is read repeatedly if all records are equal. */
  private read = { offset: -1, id: '' }

  /** @param file where they are written; null if the ids are not needed later */
  constructor(file: string | null) {
    this.file = file === null ? null : openSync(file, 'w+')
  }

  /** Number of ids so far. */
  get length(): number {
    return (this.writtenBytes + this.bufferedBytes) / ID_BYTES
  }

  /** @param id forty hexadecimal digits */
  add(id: string): void {
    if (this.bufferedBytes === this.buffer.length) this.makeRoom()
    this.bufferedBytes += this.buffer.write(id, this.bufferedBytes, ID_BYTES, 'hex')
  }

  /** The id of the record at a position. */
  at(position: number): string {
    const offset = position * ID_BYTES
    const start = offset - this.writtenBytes
    if (start >= 0) return this.buffer.toString('hex', start, start + ID_BYTES)
    if (this.read.offset !== offset) this.read = { offset, id: this.readAt(offset) }
    return this.read.id
  }

  /** Ends the file, which is on disk when this returns. */
  close(): void {
    if (this.file === null) return
    this.writeBuffered(this.file)
    fsyncSync(this.file)
    this.abandon()
  }

  /** Aborts: closes the file, whose content is discarded. */
  abandon(): void {
    if (this.file !== null) closeSync(this.file)
    this.file = null
  }

  private makeRoom(): void {
    if (this.bufferedBytes < ID_BYTES * PIECE_IDS)
      this.buffer = Buffer.concat([this.buffer, Buffer.alloc(this.buffer.length)])
    else if (this.file !== null) this.writeBuffered(this.file)
    else {
      this.pieces.push(this.buffer)
      this.buffer = Buffer.alloc(this.buffer.length)
      this.writtenBytes += this.bufferedBytes
      this.bufferedBytes = 0
    }
  }

  private writeBuffered(file: number): void {
    for (let at = 0; at < this.bufferedBytes; )
      at += writeSync(file, this.buffer, at, this.bufferedBytes - at)
    this.writtenBytes += this.bufferedBytes
    this.bufferedBytes = 0
  }

  private readAt(offset: number): string {
    const piece = this.pieces[Math.floor(offset / (ID_BYTES * PIECE_IDS))]
    const start = offset % (ID_BYTES * PIECE_IDS)
    if (piece !== undefined) return piece.toString('hex', start, start + ID_BYTES)
    const bytes = Buffer.alloc(ID_BYTES)
    if (this.file !== null) readSync(this.file, bytes, 0, ID_BYTES, offset)
    return bytes.toString('hex')
  }
}
