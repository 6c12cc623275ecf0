import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import path from 'node:path'
import { isOfRunningProcess } from '../../runtime/processes.ts'

/** Ends the process at a signal, and removes files and folders before; the result ends this. */
export function removeAtSignals(files: () => readonly string[]): () => void {
  const end = (signal: NodeJS.Signals) => {
    for (const file of files()) if (file !== '') rmSync(file, { recursive: true, force: true })
    process.exit(128 + constants.signals[signal])
  }
  process.on('SIGINT', end).on('SIGTERM', end)
  return () => void process.off('SIGINT', end).off('SIGTERM', end)
}

/** Removes what earlier processes, which are dead, have left in a folder, under names that begin so. */
export function removeAbandoned(folder: string, start: string): void {
  const names = existsSync(folder) ? readdirSync(folder).filter(name => name.startsWith(start)) : []
  for (const name of names) {
    const left = path.join(folder, name)
    const { mtimeMs = 0, uid } = statSync(left, { throwIfNoEntry: false }) ?? {}
    if (uid === process.getuid?.() && !isOfRunningProcess(name, mtimeMs))
      rmSync(left, { recursive: true, force: true })
  }
}
