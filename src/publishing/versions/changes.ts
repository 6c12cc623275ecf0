import { readFileSync } from 'node:fs'
import path from 'node:path'
import { LRUCache } from 'lru-cache'
import { Fault, UNPROCESSABLE_ENTITY } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { STORE_BUSY } from '../../runtime/fair-queue.ts'
import { runJob } from '../../runtime/job.ts'
import type { GraphDifference } from '../../store/columns/graph-difference.ts'
import type { Comparison } from './changes-worker.ts'
import { refuseUnreadable } from './damage.ts'
import { replaceCached } from './durable.ts'
import { withColumns } from './graph-sources.ts'
import { graphPath, type VersionManifest, type Versions, versionFolder } from './versions.ts'

/** Maximum number of cached differences. */
const MAX_CACHED = 32

/** Maximum number of comparisons that wait for the running one. */
const MAX_WAITING = 20

/** Timeout of a comparison in milliseconds. */
const DEADLINE = 120_000

/** Records of one version by their positions there, ascending, that are not in another version. */
export type VersionDifference = GraphDifference

/**
 * Which records differ between two versions of a dataset. A thread compares their columns, one pair at a time, and the result is
 * cached next to the later version, which never changes.
 */
export class VersionChanges {
  private readonly versions: Versions
  private readonly cached = new LRUCache<string, Promise<VersionDifference>>({ max: MAX_CACHED })
  private working: Promise<unknown> = Promise.resolve()
  private waiting = 0

  constructor(versions: Versions) {
    this.versions = versions
  }

  /** Faults: StoreBusy if too many comparisons are waiting, UnprocessableEntity if it takes too long, Gone if a file is damaged. */
  between(earlier: VersionManifest, later: VersionManifest): Promise<VersionDifference> {
    const [from, to] = [factsOf(earlier), factsOf(later)]
    if (from === undefined || to === undefined || nameOf(earlier) === nameOf(later))
      return Promise.resolve(NO_DIFFERENCE)
    const key = `${later.dataset.id} ${earlier.version} ${later.version}`
    const known = this.cached.get(key)
    if (known !== undefined) return known
    const found = this.find(earlier, later)
    this.cached.set(key, found)
    found.catch(() => this.cached.delete(key))
    return found
  }

  private async find(earlier: VersionManifest, later: VersionManifest): Promise<VersionDifference> {
    const { versions } = this
    const folder = versionFolder(versions, later.dataset.id, later.version)
    const file = path.join(folder, `changes-${earlier.version}.bin`)
    const cached = readDifference(file)
    if (cached !== null) return cached
    if (this.waiting >= MAX_WAITING) throw new Fault(STORE_BUSY)
    this.waiting += 1
    const found = this.working
      .then(() =>
        withColumns(versions, [earlier, later], () =>
          compare(columnsOf(versions, earlier), columnsOf(versions, later)),
        ),
      )
      .catch(async error => {
        for (const manifest of [earlier, later]) await refuseUnreadable(versions, manifest)
        throw error
      })
      .finally(() => {
        this.waiting -= 1
      })
    this.working = ignoreRejection(found, 'whoever asked gets it')
    const difference = await found
    writeDifference(file, difference)
    return difference
  }
}

const NO_DIFFERENCE: VersionDifference = {
  added: new Uint32Array(0),
  removed: new Uint32Array(0),
  before: new Uint32Array(0),
  after: new Uint32Array(0),
}

/** The graph of the records of a version. */
function factsOf({ graphs }: VersionManifest) {
  return graphs.find(({ role }) => role === 'facts')
}

/** Identifies the graph of the records: versions with the same records share it. */
function nameOf(manifest: VersionManifest): string {
  return factsOf(manifest)?.since ?? manifest.version
}

function columnsOf(versions: Versions, manifest: VersionManifest): string {
  return graphPath(versions, manifest, factsOf(manifest)?.columns ?? '')
}

async function compare(earlier: string, later: string): Promise<VersionDifference> {
  const comparison: Comparison = { earlier, later }
  const difference = await runJob<GraphDifference>(import.meta.url, './changes-worker', comparison, {
    name: 'lodestone-comparer',
    deadline: DEADLINE,
  })
  if (difference !== null) return difference
  throw new Fault(UNPROCESSABLE_ENTITY, {
    reason: `Comparing these versions takes longer than ${DEADLINE / 1000} s.`,
  })
}

/** Changes with the file format. */
const MARK = 0x4c_43_48_01

function writeDifference(file: string, { added, removed, before, after }: VersionDifference): void {
  const head = Uint32Array.of(MARK, added.length, removed.length, before.length)
  const parts = [head, added, removed, before, after].map(
    ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
  )
  // The version may have been removed by now; where it cannot be written, it is compared again next time.
  replaceCached(file, Buffer.concat(parts))
}

/** Null if the file is missing or damaged. */
function readDifference(file: string): VersionDifference | null {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch {
    return null
  }
  const words = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~3)))
  const [mark, added = 0, removed = 0, changed = 0] = words
  if (mark !== MARK || words.length !== 4 + added + removed + 2 * changed) return null
  let at = 4
  const take = (count: number) => {
    at += count
    return words.slice(at - count, at)
  }
  return { added: take(added), removed: take(removed), before: take(changed), after: take(changed) }
}
