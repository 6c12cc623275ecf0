import { createHash } from 'node:crypto'
import type { Job } from './protocol.ts'

/** Jobs that are remembered. */
const REMEMBERED = 1000

/** Remembers which jobs were not quick, so that they are not tried as such again. */
export class KnownSlow {
  private readonly digests = new Set<string>()

  /** The name of a job by which it is remembered. */
  static digest(job: Job): string {
    return createHash('sha1').update(JSON.stringify(job)).digest('base64')
  }

  has(digest: string): boolean {
    return this.digests.has(digest)
  }

  add(digest: string): void {
    this.digests.delete(digest)
    this.digests.add(digest)
    if (this.digests.size <= REMEMBERED) return
    const [oldest] = this.digests
    if (oldest !== undefined) this.digests.delete(oldest)
  }

  delete(digest: string): void {
    this.digests.delete(digest)
  }

  get isEmpty(): boolean {
    return this.digests.size === 0
  }
}
