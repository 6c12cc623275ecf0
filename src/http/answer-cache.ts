import type { FastifyReply } from 'fastify'

/** Characters of bodies that are cached where nothing else is said. */
const MAX_CHARACTERS = 32_000_000

/**
 * Bodies of answers by their strong entity tags, so that who asks the same of the same version again is answered without
 * asking the store. What was longest not asked for goes first. A tag names version, address and query, so nothing that is
 * cached is ever wrong; after {@link isFresh} said no, `find` tells the body, and `keep` remembers one.
 */
export class AnswerCache {
  private readonly bodies = new Map<string, string>()
  private readonly max: number
  private size = 0

  /** @param max characters of all bodies together; a body may have an eighth of them */
  constructor(max: number = MAX_CHARACTERS) {
    this.max = max
  }

  /** The body of the answer whose tag stands in the reply. */
  find(reply: FastifyReply): string | undefined {
    const tag = reply.getHeader('etag')
    if (typeof tag !== 'string') return undefined
    const body = this.bodies.get(tag)
    if (body === undefined) return undefined
    this.bodies.delete(tag)
    this.bodies.set(tag, body)
    return body
  }

  /** Remembers a body, where the reply has a tag. */
  keep(reply: FastifyReply, body: string): void {
    this.keeper(reply)(body)
  }

  /** What remembers a body that is known when the headers of the reply are sent. */
  keeper(reply: FastifyReply): (body: string) => void {
    const tag = reply.getHeader('etag')
    return body => {
      if (typeof tag === 'string') this.keepAs(tag, body)
    }
  }

  private keepAs(tag: string, body: string): void {
    if (body.length > this.max / 8 || this.bodies.has(tag)) return
    this.bodies.set(tag, body)
    this.size += body.length
    for (const [oldest, { length }] of this.bodies) {
      if (this.size <= this.max) break
      this.bodies.delete(oldest)
      this.size -= length
    }
  }
}
