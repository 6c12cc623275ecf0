import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { isOfRunningProcess } from '../../runtime/processes.ts'
import { replaceDurably } from '../versions/durable.ts'

/** The state of the address of a dataset. Moments are ISO 8601. */
export interface RemoteState {
  readonly url: string
  /** Name of the file that was fetched last and is in force, in the folder of the state; absent before the first. */
  readonly file?: string
  /** The previous file until the new one is published, in case it cannot be. */
  readonly previous?: string
  readonly etag?: string
  readonly lastModified?: string
  readonly size?: number
  /** When the file was fetched, and when the address was last requested. */
  readonly fetched?: string
  readonly asked?: string
  /** When it last responded, with new data or that there are none. */
  readonly confirmed?: string
  /** Number of failures since then, and the reason of the last one. */
  readonly failures: number
  readonly reason?: string
  /** When it is due next; absent for never. */
  readonly next?: string
}

/** The folder of the fetched files of a dataset. */
export function remoteFolder(portal: string, id: string): string {
  return path.join(portal, 'var', 'sources', id)
}

/** The state of the address of a dataset; null before its first request. */
export function remoteState(portal: string, id: string): RemoteState | null {
  try {
    return JSON.parse(readFileSync(stateFile(portal, id), 'utf8')) as RemoteState
  } catch {
    return null
  }
}

/** Writes the state of an address in one step. */
export function writeRemoteState(portal: string, id: string, state: RemoteState): void {
  const file = stateFile(portal, id)
  mkdirSync(path.dirname(file), { recursive: true })
  replaceDurably(file, `${JSON.stringify(state, null, 2)}\n`)
}

/** Removes files that the state no longer names, and that no running process is fetching. */
export function removeUnused(portal: string, id: string, { file, previous }: RemoteState): void {
  const folder = remoteFolder(portal, id)
  for (const name of readdirSync(folder)) {
    const place = path.join(folder, name)
    const changed = statSync(place, { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (!['state.json', file, previous].includes(name) && !isOfRunningProcess(name, changed))
      rmSync(place, { force: true })
  }
}

/** Milliseconds by which a clock that was set back was ahead. */
const CLOCK_SKEW = 3_600_000

/** Whether an address is due: its moment has come, or was reckoned by a clock that was ahead. @param now milliseconds since 1970 */
export function isDue({ asked = '', next }: Pick<RemoteState, 'asked' | 'next'>, now: number): boolean {
  return next !== undefined && (Date.parse(next) <= now || Date.parse(asked) > now + CLOCK_SKEW)
}

/** The datasets whose addresses are due at a moment. @param now milliseconds since 1970 */
export function dueRemotes(portal: string, now: number): readonly string[] {
  return remoteStates(portal).flatMap(([id, state]) => (isDue(state, now) ? [id] : []))
}

/** The state of all requested addresses, by dataset. */
export function remoteStates(portal: string): readonly (readonly [id: string, RemoteState])[] {
  let ids: readonly string[]
  try {
    ids = readdirSync(path.join(portal, 'var', 'sources'))
  } catch {
    return []
  }
  return ids.flatMap(id => {
    const state = remoteState(portal, id)
    return state === null ? [] : [[id, state] as const]
  })
}

function stateFile(portal: string, id: string): string {
  return path.join(remoteFolder(portal, id), 'state.json')
}
