import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { CONFIG_INVALID } from '../../config/faults.ts'
import { loadConfig } from '../../config/load.ts'
import { Fault, faultText } from '../../errors/errors.ts'
import { lookup } from '../../model/lookup.ts'
import { nextTime } from '../../runtime/cron.ts'
import { PROCESS_NAME } from '../../runtime/processes.ts'
import { atAddress } from '../../sources/address/failures.ts'
import { fetchAddress } from '../../sources/address/fetch.ts'
import type { FetchLimits } from '../../sources/address/limits.ts'
import { openFile, type SourceFolders, type SourceOptions } from '../../sources/open.ts'
import { isUndecided } from '../../sources/source.ts'
import {
  isDue,
  type RemoteState,
  remoteFolder,
  remoteState,
  removeUnused,
  writeRemoteState,
} from './state.ts'

/** The address of a dataset, and how often it is fetched. */
export interface Remote {
  readonly url: string
  /** Name of the environment variable with the value of the Authorization header. */
  readonly authorization?: string
  readonly schedule?: string
  /** How the data are read: the file of an archive, an encoding. */
  readonly options?: SourceOptions
}

/** When and how an address is requested. */
interface RefreshContext {
  readonly now: () => Date
  readonly isForced: boolean
  readonly signal?: AbortSignal
}

/** File extensions by media type, for addresses without one. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ['text/csv', 'csv'],
  ['text/tab-separated-values', 'tsv'],
  ['application/json', 'json'],
  ['application/geo+json', 'geojson'],
  ['application/vnd.geo+json', 'geojson'],
  ['application/x-ndjson', 'jsonl'],
  ['application/jsonl', 'jsonl'],
  ['application/xml', 'xml'],
  ['text/xml', 'xml'],
  ['text/turtle', 'ttl'],
  ['text/n3', 'n3'],
  ['application/n-triples', 'nt'],
  ['application/n-quads', 'nq'],
  ['application/trig', 'trig'],
  ['application/rdf+xml', 'rdf'],
  ['application/ld+json', 'jsonld'],
  ['application/vnd.google-earth.kml+xml', 'kml'],
  ['application/gpx+xml', 'gpx'],
])

/**
 * Requests the address of a dataset if it is due: new data replace the old in one step, any other response leaves them unchanged.
 * The state of the address is stored next to them. Faults: SourceUnreadable if there are no data, old or new.
 *
 * @param context `isForced`: whether it is fetched even before it is due; `signal` gives it up, and leaves the state unchanged
 */
export async function refreshRemote(
  portal: string,
  id: string,
  remote: Remote,
  { now, isForced, signal }: RefreshContext,
): Promise<void> {
  const known = stateFor(portal, id, remote)
  const isRequested = isForced || known.file === undefined || isDue(known, now().getTime())
  if (!isRequested) return reschedule(portal, id, remote, now())
  const folder = remoteFolder(portal, id)
  mkdirSync(folder, { recursive: true })
  const part = path.join(folder, `fetching-${PROCESS_NAME}-${randomUUID()}`)
  const requested = now().toISOString()
  try {
    const fetched = await fetchAddress(
      remote.url,
      part,
      known.file === undefined ? {} : known,
      { ...limitsOf(portal), ...(signal === undefined ? {} : { signal }) },
      sourceCredentials(remote.authorization),
    )
    // A command, or the desk, may have fetched it meanwhile.
    const state = stateFor(portal, id, remote)
    if (fetched.type === 'unchanged') {
      finish(
        portal,
        id,
        { ...withoutReason(state), asked: requested, confirmed: requested, failures: 0 },
        remote,
      )
      return
    }
    const { etag: _, lastModified: __, ...rest } = withoutReason(state)
    const ending = endingOf(fetched.name, fetched.mediaType)
    const confirmed = { ...rest, ...fetched.validators, asked: requested, confirmed: requested, failures: 0 }
    const isNamedAlike = state.file?.replace(/^data-\w+/, '') === ending
    if (isNamedAlike && (await haveSameBytes(part, path.join(folder, state.file ?? '')))) {
      finish(portal, id, confirmed, remote)
      return
    }
    const file = `data-${Date.parse(requested).toString(36)}${ending}`
    renameSync(part, path.join(folder, file))
    try {
      refuseOther(file, remote, { datasetFolder: folder, portalFolder: portal })
    } catch (error) {
      rmSync(path.join(folder, file), { force: true })
      throw atAddress(error, file, remote.url)
    }
    const next = { ...confirmed, file, size: fetched.size, fetched: requested }
    finish(portal, id, state.file === undefined ? next : { ...next, previous: state.file }, remote)
  } catch (error) {
    if (!(error instanceof Fault) || signal?.aborted === true) throw error
    const state = stateFor(portal, id, remote)
    finish(
      portal,
      id,
      { ...state, asked: requested, failures: state.failures + 1, reason: faultText(error) },
      remote,
    )
    if (state.file === undefined) throw error
  } finally {
    rmSync(part, { force: true })
  }
}

/** Throws for fetched bytes that are no data. Which file of an archive are the data may still be decided in dataset.yaml. */
function refuseOther(file: string, { options = {} }: Remote, folders: SourceFolders): void {
  try {
    openFile({ path: file, options }, folders)
  } catch (error) {
    if (!isUndecided(error)) throw error
  }
}

/** Many servers answer no conditional requests: data that are as they were make no version, for which an older one would go. */
async function haveSameBytes(file: string, other: string): Promise<boolean> {
  if (statSync(file).size !== statSync(other, { throwIfNoEntry: false })?.size) return false
  const [one, two] = [await open(file), await open(other)]
  const [piece, before] = [Buffer.alloc(2 ** 20), Buffer.alloc(2 ** 20)]
  try {
    for (;;) {
      const { bytesRead } = await one.read(piece)
      if (bytesRead === 0) return true
      await two.read(before, 0, bytesRead)
      if (piece.compare(before, 0, bytesRead, 0, bytesRead) !== 0) return false
    }
  } finally {
    await one.close()
    await two.close()
  }
}

/** Whether there are data of the present address of a dataset. */
export function isFetched(portal: string, id: string, remote: Remote): boolean {
  return stateFor(portal, id, remote).file !== undefined
}

/** Whether the address of a dataset is to be requested: when that is due, at once if it never was. @param now milliseconds since 1970 */
export function isFetchDue(portal: string, id: string, remote: Remote, now: number): boolean {
  const state = stateFor(portal, id, remote)
  return isDue(state, now) || (state.file === undefined && state.next === undefined)
}

/** The state of the present address. A file that was removed is fetched anew, whatever the validators of the address say. */
function stateFor(portal: string, id: string, { url }: Remote): RemoteState {
  const known = remoteState(portal, id)
  if (known?.url !== url) return { url, failures: 0 }
  if (known.file === undefined || existsSync(path.join(remoteFolder(portal, id), known.file))) return known
  const { file: _, etag: __, lastModified: ___, next: ____, ...rest } = known
  return rest
}

/** The data that were fetched last cannot be published: the previous data are in force again, and the address is fetched again. */
export function rejectRemote(portal: string, id: string, remote: Remote, reason: string): void {
  const state = remoteState(portal, id)
  if (state === null || state.previous === undefined) return
  const { etag: _, lastModified: __, previous, ...rest } = state
  finish(portal, id, { ...rest, file: previous, failures: state.failures + 1, reason }, remote)
}

/**
 * The data of a file are published: if they are those that were fetched last, the previous data are not needed any more, whatever
 * prevents a later publication.
 */
export function acceptRemote(portal: string, id: string, file: string | undefined): void {
  const known = remoteState(portal, id)
  if (known?.previous === undefined || known.file !== file) return
  const { previous: _, ...state } = known
  writeRemoteState(portal, id, state)
  removeUnused(portal, id, state)
}

/** Marks the address of a dataset as due at the next check: its catalog reports a change. */
export function expireRemote(portal: string, id: string, now: Date): void {
  const state = remoteState(portal, id)
  if (state !== null) writeRemoteState(portal, id, { ...state, next: now.toISOString() })
}

function finish(portal: string, id: string, state: RemoteState, { schedule }: Remote): void {
  const { next: _, ...rest } = state
  const next = nextTime(schedule, Date.parse(state.asked ?? ''), state.failures)
  const whole = next === null ? rest : { ...rest, next: new Date(next).toISOString() }
  writeRemoteState(portal, id, whole)
  removeUnused(portal, id, whole)
}

/** A changed schedule takes effect immediately. An address that is due stays so: its catalog may have reported a change. */
export function reschedule(portal: string, id: string, remote: Remote, now: Date): void {
  const state = stateFor(portal, id, remote)
  if (state.asked === undefined || isDue(state, now.getTime())) return
  const next = nextTime(remote.schedule, Date.parse(state.asked), state.failures)
  const text = next === null ? undefined : new Date(next).toISOString()
  if (text === state.next) return
  const { next: _, ...rest } = state
  writeRemoteState(portal, id, text === undefined ? rest : { ...rest, next: text })
}

function withoutReason({ reason: _, ...state }: RemoteState): RemoteState {
  return state
}

/** The extension of a fetched file: its own, else that of its media type. */
export function endingOf(name: string, mediaType: string): string {
  const own = /\.[a-z0-9]{1,8}(?:\.gz)?$/i.exec(name)?.[0].toLowerCase()
  const described = ENDINGS.get(mediaType)
  return own !== undefined && !/^\.(?:php|aspx?|jsp|cgi|html?)$/.test(own)
    ? own
    : described === undefined
      ? ''
      : `.${described}`
}

/** Only variables with such a name can be sent: a dataset.yaml must not reveal other secrets of the server. */
const VARIABLE = /^SOURCE_AUTH_[A-Z0-9_]+$/

/** The value of the Authorization header from an environment variable. Faults: ConfigInvalid. */
export function sourceCredentials(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const value = VARIABLE.test(authorization) ? lookup(process.env, authorization) : undefined
  if (value !== undefined && /^[\x20-\x7e]+$/.test(value)) return value
  throw new Fault(CONFIG_INVALID, {
    reason: `authorization names ${authorization}: an environment variable SOURCE_AUTH_… that holds the value of the header is expected`,
  })
}

/** The limits of fetches according to the settings of a portal. */
export function limitsOf(portal: string): FetchLimits {
  const { sourceHosts, sourcePrivateHosts, sourceSize, sourceTimeout, sourceDuration } = loadConfig(
    { portal, base: 'http://localhost' },
    process.env,
  )
  return {
    ...(sourceHosts === undefined ? {} : { hosts: sourceHosts }),
    privateHosts: sourcePrivateHosts,
    size: sourceSize,
    idle: sourceTimeout * 1000,
    duration: sourceDuration * 1000,
    pauses: [1000, 4000],
  }
}
