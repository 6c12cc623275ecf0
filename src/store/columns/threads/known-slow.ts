import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Job } from './protocol.ts'

/** Jobs that are remembered. */
const REMEMBERED = 1000

/** Remembers which jobs were not quick, so that they are not tried as such again. */
export class KnownSlow {
  private readonly digests = new LRUCache<string, true>({ max: REMEMBERED })

  /** The name of a job by which it is remembered. */
  static digest(job: Job): string {
    return createHash('sha1').update(JSON.stringify(job)).digest('base64')
  }

  has(digest: string): boolean {
    return this.digests.has(digest)
  }

  add(digest: string): void {
    this.digests.set(digest, true)
  }

  delete(digest: string): void {
    this.digests.delete(digest)
  }

  get isEmpty(): boolean {
    return this.digests.size === 0
  }
}
