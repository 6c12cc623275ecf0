import { readFileSync } from 'node:fs'

/** Files that a server opens in addition to connections: descriptors for its threads, columns, logs and databases. */
export const RESERVED_FILES = 160

/** Maximum open files and connections of this process; null if the system does not report it. */
export function openFilesLimit(): number | null {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return found === undefined ? null : Number(found)
  } catch {
    return null
  }
}
