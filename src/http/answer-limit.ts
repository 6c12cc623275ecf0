import type { ServerResponse } from 'node:http'

/** Answers under way: of one client, and of all together. */
interface Limit {
  readonly what: string
  readonly own: number
  /** Beyond these, a client may have one. */
  readonly all: number
}

const ANSWERS: Limit = { what: 'requests', own: 200, all: 2000 }
const EXPORTS: Limit = { what: 'exports', own: 16, all: 32 }

/** What is answered with all there is, in pieces. */
const EXPORT = /\/exports\/|^\/explore\/dataset\/[^/?]+\/download|\/rdf-graph-store/

/** Why a request is not answered now. */
export interface Excess extends Readonly<Record<string, string | number>> {
  readonly found: number
  readonly what: string
}

/** Bounds how many answers are under way at a time: each holds memory until its client has read it. */
export class AnswerLimit {
  private readonly answers = new Counts(ANSWERS)
  private readonly exports = new Counts(EXPORTS)

  /** Counts an answer until its connection is done with it; where it is one too many, says so instead. */
  enter(client: string, url: string, response: ServerResponse): Excess | null {
    const counts = EXPORT.test(url) ? [this.exports, this.answers] : [this.answers]
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
