import { closeSync, copyFileSync, fsyncSync, linkSync, openSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** Replaces a file in one step: whatever moment the process dies at, a reader finds the old text or the new one. */
export function replaceDurably(file: string, text: string): void {
  // The name identifies its owner if the process dies before the next line.
  const fresh = `${file}.${process.pid}.new`
  writeDurably(fresh, text)
  renameSync(fresh, file)
  synchronise(path.dirname(file))
}

/** Writes a file; it is on the disk when this returns. */
export function writeDurably(file: string, text: string): void {
  writeFileSync(file, text, { flush: true })
}

/** Waits until a file or folder is on the disk. */
export function synchronise(file: string): void {
  const handle = openSync(file, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Gives a file that never changes a second name, or where the file system cannot do that, a copy. */
export function shareFile(file: string, other: string): void {
  try {
    linkSync(file, other)
  } catch {
    copyFileSync(file, other)
  }
}
