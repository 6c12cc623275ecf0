import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** An action on a dataset. */
export const ACTIONS = [
  'create',
  'update',
  'upload',
  'publish',
  'publish failed',
  'withdraw',
  'roll back',
  'delete',
] as const
export type Action = (typeof ACTIONS)[number]

/** An entry of the history of a dataset. */
export interface HistoryEntry {
  /** ISO 8601. */
  readonly at: string
  /** Name of the user; null for changes made in the portal folder. */
  readonly by: string | null
  readonly action: Action
  /** The version that is in force since then; null if the action created none. */
  readonly version: string | null
  /** What was changed: parts of dataset.yaml, or the name of a file. */
  readonly changed: readonly string[]
}

/** Maximum entries of a history: the latest. */
const MAX_ENTRIES = 500

function fileOf(portal: string, id: string): string {
  return path.join(portal, 'var', 'history', `${id}.jsonl`)
}

/**
 * Appends an action on a dataset to its history: the only place where audit entries of datasets are created. A portal whose
 * folder is not writable has no history.
 */
export function noteHistory(portal: string, id: string, entry: HistoryEntry): void {
  const file = fileOf(portal, id)
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    appendFileSync(file, `${JSON.stringify(entry)}\n`)
  } catch {
    // The action itself has succeeded.
  }
}

/** The actions on a dataset, the latest first. */
export function historyOf(portal: string, id: string): readonly HistoryEntry[] {
  let text: string
  try {
    text = readFileSync(fileOf(portal, id), 'utf8')
  } catch {
    return []
  }
  const lines = text.split('\n').slice(-MAX_ENTRIES - 1)
  return lines.flatMap(readEntry).reverse()
}

/** An entry that a crash or a full disk truncated is left out; the next one follows it in its line. */
function readEntry(line: string): readonly HistoryEntry[] {
  try {
    return [JSON.parse(line.slice(Math.max(0, line.lastIndexOf('{"at":')))) as HistoryEntry]
  } catch {
    return []
  }
}
