import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import path from 'node:path'
import { LineSet } from '../../rdf/line-set.ts'
import { ID_BYTES } from '../identity.ts'
import { replaceDurably } from './durable.ts'

/** Maximum number of removed records that are remembered of a dataset: the latest. */
const REMEMBERED = 100_000

/** Name of the file with the ids of the records of a version. */
export const RECORD_IDS_FILE = 'records.ids'
const REMOVED = 'removed.json'

/** Ids of a version that are compared at a time, in 20 megabytes. */
const SHARE = 2 ** 19

/** Ids that are read at a time. */
const PIECE_IDS = 2 ** 14

/**
 * The ids of the removed records of a dataset, so that their addresses respond with 410. They are used only if the version in
 * force has no data of a record, so they may be written before it is.
 *
 * @param home folder of the dataset under var/published
 */
export function removedRecords(home: string): ReadonlySet<string> {
  const file = path.join(home, REMOVED)
  if (!existsSync(file)) return new Set()
  try {
    return new Set(JSON.parse(readFileSync(file, 'utf8')) as readonly string[])
  } catch {
    return new Set()
  }
}

/**
 * Remembers the records of one version that are missing in the next one, and forgets those that came back. The ids are compared
 * part by part, each with a pass over both files, so that memory does not grow with the records.
 *
 * @param before folder of the version in force
 * @param after folder of the version that replaces it; null if the dataset is withdrawn
 * @param share ids that are compared at a time
 */
export function rememberRemoved(
  home: string,
  before: string | null,
  after: string | null,
  share: number = SHARE,
): void {
  const known = removedRecords(home)
  const old = lengthOf(before)
  if (known.size === 0 && old === 0) return
  const parts = Math.max(1, Math.ceil(lengthOf(after) / share))
  const gone = new Uint8Array(old)
  const back = new Set<string>()
  let count = 0
  for (let part = 0; part < parts; part++) {
    const now = new LineSet()
    eachId(after, (bytes, at) => {
      if (partOf(bytes, at, parts) === part) now.addBytes(bytes, at, at + ID_BYTES)
    })
    for (const id of known) {
      const bytes = Buffer.from(id, 'hex')
      if (partOf(bytes, 0, parts) === part && now.hasBytes(bytes, 0, ID_BYTES)) back.add(id)
    }
    eachId(before, (bytes, at, position) => {
      if (partOf(bytes, at, parts) !== part || now.hasBytes(bytes, at, at + ID_BYTES)) return
      gone[position] = 1
      count += 1
    })
  }
  const removed = new Set([...known].filter(id => !back.has(id)))
  if (known.size === 0 && count === 0) return
  let skipped = count - REMEMBERED
  eachId(before, (bytes, at, position) => {
    if (gone[position] === 1 && skipped-- <= 0) removed.add(bytes.toString('hex', at, at + ID_BYTES))
  })
  replaceDurably(path.join(home, REMOVED), JSON.stringify([...removed].slice(-REMEMBERED)))
}

function partOf(bytes: Buffer, at: number, parts: number): number {
  return parts === 1 ? 0 : bytes.readUInt16LE(at) % parts
}

/** Number of ids in the file of a version; 0 for a version without such a file. */
function lengthOf(folder: string | null): number {
  const file = folder === null ? null : path.join(folder, RECORD_IDS_FILE)
  return file === null || !existsSync(file) ? 0 : Math.floor(statSync(file).size / ID_BYTES)
}

function eachId(folder: string | null, take: (bytes: Buffer, at: number, position: number) => void): void {
  if (folder === null || lengthOf(folder) === 0) return
  const file = openSync(path.join(folder, RECORD_IDS_FILE), 'r')
  try {
    const all = Math.floor(fstatSync(file).size / ID_BYTES)
    const piece = Buffer.alloc(ID_BYTES * Math.min(all, PIECE_IDS))
    for (let position = 0; position < all; ) {
      const required = Math.min(piece.length, (all - position) * ID_BYTES)
      for (let read = 0; read < required; ) {
        const more = readSync(file, piece, read, required - read, position * ID_BYTES + read)
        if (more === 0) return
        read += more
      }
      for (let at = 0; at < required; at += ID_BYTES) take(piece, at, position++)
    }
  } finally {
    closeSync(file)
  }
}
