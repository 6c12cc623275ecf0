import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { replaceDurably } from './durable.ts'

/** Removed records that are remembered of a dataset: the latest. */
const REMEMBERED = 100_000

const ID_BYTES = 20
/** Name of the file with the ids of the records of a version. */
export const RECORDS = 'records.ids'
const REMOVED = 'removed.json'

/** The ids of the records of one version, as they are written beside its graphs: twenty bytes each. */
export class RecordIds {
  private bytes: Buffer = Buffer.alloc(ID_BYTES * 1024)
  private length = 0

  /** @param id forty hexadecimal digits */
  add(id: string): void {
    if (this.length === this.bytes.length)
      this.bytes = Buffer.concat([this.bytes, Buffer.alloc(this.bytes.length)])
    this.length += this.bytes.write(id, this.length, ID_BYTES, 'hex')
  }

  write(folder: string): void {
    writeFileSync(path.join(folder, RECORDS), this.bytes.subarray(0, this.length), { flush: true })
  }
}

/**
 * The ids of the records that a dataset had once and has no more, so that their addresses can say so (410). They are
 * looked at only where the version in force has nothing of a record, so they may be written before it is.
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
 * Remembers the records of one version that the next one lacks, and forgets those that came back.
 *
 * @param before folder of the version in force
 * @param after folder of the version that replaces it; null where the dataset is withdrawn
 */
export function rememberRemoved(home: string, before: string | null, after: string | null): void {
  const removed = new Set(removedRecords(home))
  const known = removed.size
  const old = before === null ? [] : idsOf(before)
  if (known === 0 && old.length === 0) return
  const now = new Set(after === null ? [] : idsOf(after))
  for (const id of old) if (!now.has(id)) removed.add(id)
  for (const id of removed) if (now.has(id)) removed.delete(id)
  if (known === 0 && removed.size === 0) return
  replaceDurably(path.join(home, REMOVED), JSON.stringify([...removed].slice(-REMEMBERED)))
}

function idsOf(folder: string): readonly string[] {
  const file = path.join(folder, RECORDS)
  if (!existsSync(file)) return []
  const bytes = readFileSync(file)
  return Array.from({ length: bytes.length / ID_BYTES }, (_, index) =>
    bytes.toString('hex', index * ID_BYTES, (index + 1) * ID_BYTES),
  )
}
