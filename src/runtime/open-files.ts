import { readFileSync } from 'node:fs'

/** Files that a server opens beside connections: descriptors for its threads, columns, logs and databases. */
export const RESERVED_FILES = 160

/** Files and connections that this process may have open; null where the system does not tell. */
export function openFilesLimit(): number | null {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return found === undefined ? null : Number(found)
  } catch {
    return null
  }
}
