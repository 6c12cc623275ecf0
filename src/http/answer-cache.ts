import type { FastifyReply } from 'fastify'
import { LRUCache } from 'lru-cache'

/**
 * Bodies of answers by their strong entity tags, so that the same request on the same version is answered without
 * asking the store. What was longest not asked for goes first. A tag names version, address and query, so nothing that is
 * cached is ever wrong; after {@link isFresh} said no, `find` tells the body, and `keep` remembers one. All routes share one,
 * so that the memory of the process bounds it.
 */
export class AnswerCache {
  private readonly bodies: LRUCache<string, string>

  /** @param max characters of all bodies together; a body may have an eighth of them */
  constructor(max: number) {
    this.bodies = new LRUCache({
      maxSize: max,
      maxEntrySize: Math.floor(max / 8),
      sizeCalculation: ({ length }) => Math.max(1, length),
    })
  }

  /** The body of the answer whose tag stands in the reply. */
  find(reply: FastifyReply): string | undefined {
    const tag = reply.getHeader('etag')
    return typeof tag === 'string' ? this.bodies.get(tag) : undefined
  }

  /** Remembers a body, where the reply has a tag. */
  keep(reply: FastifyReply, body: string): void {
    this.keeper(reply)(body)
  }

  /** What remembers a body that is known when the headers of the reply are sent. */
  keeper(reply: FastifyReply): (body: string) => void {
    const tag = reply.getHeader('etag')
    return body => {
      if (typeof tag === 'string' && !this.bodies.has(tag)) this.bodies.set(tag, body)
    }
  }
}
