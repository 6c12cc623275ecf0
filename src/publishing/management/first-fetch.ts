import { existsSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { BAD_REQUEST, Fault, faultText } from '../../errors/errors.ts'
import type { Inspection } from '../../sources/inspect.ts'
import { readDefinition } from '../definition.ts'
import { refreshRemote } from '../remote/refresh.ts'
import { remoteFolder, remoteState } from '../remote/state.ts'
import { refuseOtherCredentials } from './credentials.ts'
import { inspectDataset } from './dataset-preview.ts'
import { DEFINITION } from './drafts.ts'

/** Fetches the data of drafts whose addresses were never fetched, so that there is a preview before publication. */
export class FirstFetch {
  private readonly portal: string
  private readonly now: () => number
  private readonly running = new Map<string, Promise<void>>()

  /** @param now milliseconds since 1970 */
  constructor(portal: string, now: () => number) {
    this.portal = portal
    this.now = now
  }

  /**
   * Resolves when a dataset has data, or needs none from an address. Faults: BadRequest, with the reason, if the address cannot
   * be fetched, or if a draft sends credentials that it may not send; after a failure it is retried when due, or immediately.
   *
   * @param root of the portal, or of a draft
   */
  async ensure(root: string, id: string, isAtOnce: boolean): Promise<void> {
    const definition = readDefinition(root, id).definition
    const remote = definition?.remote ?? null
    if (definition === null || remote === null) return
    if (root !== this.portal) refuseOtherCredentials(this.portal, id, definition.text)
    const state = remoteState(this.portal, id)
    // The data of another address remain in force until the draft is published.
    if (state?.file !== undefined) return
    const isBeforeRetry = state?.url === remote.url && Date.parse(state.next ?? '') > this.now()
    if (!isAtOnce && isBeforeRetry)
      throw new Fault(BAD_REQUEST, { reason: state.reason ?? 'The address cannot be fetched.' })
    const running = this.running.get(id) ?? this.begin(id, remote)
    try {
      await running
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      throw new Fault(BAD_REQUEST, { reason: faultText(error) })
    }
  }

  /** Removes the fetched data of a dataset that no longer exists. */
  forget(id: string): void {
    if (existsSync(path.join(this.portal, 'data', id, DEFINITION))) return
    rmSync(remoteFolder(this.portal, id), { recursive: true, force: true })
  }

  private begin(id: string, remote: Parameters<typeof refreshRemote>[2]): Promise<void> {
    const moment = () => new Date(this.now())
    const fetching = refreshRemote(this.portal, id, remote, { now: moment, isForced: true }).finally(() =>
      this.running.delete(id),
    )
    this.running.set(id, fetching)
    return fetching
  }
}

type Options = Parameters<typeof inspectDataset>[2]

/** Maximum inspections that are remembered, and for how many milliseconds. */
const MAX_CACHED = 20
const LIFE = 10 * 60_000

/** Inspections of sources, each of which reads a whole file: one of the same file with the same options is done once. */
export class Inspections {
  private readonly now: () => number
  private readonly cached = new Map<
    string,
    { readonly at: number; readonly inspection: Promise<Inspection> }
  >()

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
    this.now = now
  }

  /** See {@link inspectDataset}. */
  inspect(root: string, id: string, how: Options): Promise<Inspection> {
    const key = keyOf(root, id, how)
    if (key === null) return inspectDataset(root, id, how)
    const found = this.cached.get(key)
    if (found !== undefined && this.now() < found.at + LIFE) return found.inspection
    const inspection = inspectDataset(root, id, how)
    this.cached.delete(key)
    this.cached.set(key, { at: this.now(), inspection })
    const [oldest] = this.cached.keys()
    if (this.cached.size > MAX_CACHED && oldest !== undefined) this.cached.delete(oldest)
    inspection.catch(() => this.cached.delete(key))
    return inspection
  }
}

/** Identifies a file by place, size, time and inode, with the options of reading; null for what is no file of the dataset. */
function keyOf(root: string, id: string, how: Options): string | null {
  const { definition } = readDefinition(root, id)
  if (definition?.source.path === undefined) return null
  const file = path.join(definition.sourceFolder, definition.source.path)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) return null
  return JSON.stringify([file, found.size, found.mtimeMs, found.ino, how])
}
