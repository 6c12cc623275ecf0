import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Job } from './protocol.ts'

/** Maximum number of remembered jobs. */
const REMEMBERED = 1000

/** Remembers which jobs were slow, so that they are not started as quick ones again. */
export class KnownSlow {
  private readonly digests = new LRUCache<string, true>({ max: REMEMBERED })

  /** The digest by which a job is remembered. */
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
