import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** Replaces a file in one step: whatever moment the process dies at, a reader finds the old text or the new one. */
export function replaceDurably(file: string, text: string): void {
  writeDurably(`${file}.new`, text)
  renameSync(`${file}.new`, file)
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
