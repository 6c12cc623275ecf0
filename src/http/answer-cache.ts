import type { FastifyReply } from 'fastify'
import { LRUCache } from 'lru-cache'

/**
 * Bodies of answers by their strong entity tags, so that the same request on the same version is answered without
 * querying the store. The least recently used body is evicted first. A tag identifies version, address and query, so a cached
 * body is never stale; after {@link isFresh} returned false, `find` returns the body, and `keep` stores one. All routes share
 * one cache, so that its memory is bounded for the whole process.
 */
export class AnswerCache {
  private readonly bodies: LRUCache<string, string>

  /** @param max characters of all bodies together; one body may have at most an eighth of them */
  constructor(max: number) {
    this.bodies = new LRUCache({
      maxSize: max,
      maxEntrySize: Math.floor(max / 8),
      sizeCalculation: ({ length }) => Math.max(1, length),
    })
  }

  /** The cached body for the ETag of the reply. */
  find(reply: FastifyReply): string | undefined {
    const tag = reply.getHeader('etag')
    return typeof tag === 'string' ? this.bodies.get(tag) : undefined
  }

  /** Caches a body, if the reply has a tag. */
  keep(reply: FastifyReply, body: string): void {
    this.keeper(reply)(body)
  }

  /** Returns a function that caches a body under the present tag of the reply, for bodies that are complete only later. */
  keeper(reply: FastifyReply): (body: string) => void {
    const tag = reply.getHeader('etag')
    return body => {
      if (typeof tag === 'string' && !this.bodies.has(tag)) this.bodies.set(tag, body)
    }
  }
}
