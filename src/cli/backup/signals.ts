import { rmSync } from 'node:fs'
import { constants } from 'node:os'

/** Ends the process at a signal, and removes files and folders before; the result ends this. */
export function removeAtSignals(files: () => readonly string[]): () => void {
  const end = (signal: NodeJS.Signals) => {
    for (const file of files()) if (file !== '') rmSync(file, { recursive: true, force: true })
    process.exit(128 + constants.signals[signal])
  }
  process.on('SIGINT', end).on('SIGTERM', end)
  return () => void process.off('SIGINT', end).off('SIGTERM', end)
}
