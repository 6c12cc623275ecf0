import type { ServerResponse } from 'node:http'

/** Maximum number of concurrent answers: of one client, and of all together. */
interface Limit {
  readonly what: string
  readonly own: number
  /** Beyond this total, each client may have only one. */
  readonly all: number
}

const ANSWERS: Limit = { what: 'requests', own: 200, all: 2000 }
const EXPORTS: Limit = { what: 'exports', own: 16, all: 32 }

/** Paths of addresses whose answers stream whole datasets. */
const EXPORT = /\/exports\/|^\/explore\/dataset\/[^/?]+\/download|\/rdf-graph-store/

/** Why a request is not answered now. */
export interface Excess extends Readonly<Record<string, string | number>> {
  readonly found: number
  readonly what: string
}

/** Limits the number of concurrent answers: each holds memory until its client has read it. */
export class AnswerLimit {
  private readonly answers = new Counts(ANSWERS)
  private readonly exports = new Counts(EXPORTS)

  /** Counts an answer until its response is closed; returns the excess instead if it exceeds a limit. */
  enter(client: string, url: string, response: ServerResponse): Excess | null {
    const counts = EXPORT.test(url.replace(/\?.*$/s, '')) ? [this.exports, this.answers] : [this.answers]
    for (const count of counts) {
      const excess = count.excess(client)
      if (excess !== null) return excess
    }
    for (const count of counts) count.add(client, 1)
    response.once('close', () => {
      for (const count of counts) count.add(client, -1)
    })
    return null
  }
}

class Counts {
  private readonly limit: Limit
  private readonly own = new Map<string, number>()
  private all = 0

  constructor(limit: Limit) {
    this.limit = limit
  }

  excess(client: string): Excess | null {
    const { own, all, what } = this.limit
    const found = this.own.get(client) ?? 0
    return found >= own || (this.all >= all && found > 0) ? { found, what } : null
  }

  add(client: string, change: 1 | -1): void {
    const count = (this.own.get(client) ?? 0) + change
    if (count <= 0) this.own.delete(client)
    else this.own.set(client, count)
    this.all += change
  }
}
