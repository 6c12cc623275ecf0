import type { Term } from '../../../rdf/term.ts'
import type { Domain } from '../evaluate/domain.ts'
import { termOf } from '../evaluate/value.ts'
import { termAt, type Vector } from '../evaluate/vector.ts'

/** Maximum number of cached texts per domain, and of domains with a cache; older entries are evicted. */
const CACHE_SIZE = 2 ** 14
const DOMAINS = 16

/** Below this number of rows nothing is cached: the cache would cost more than it saves. */
const FEW = 256

/** Longer texts are not cached. */
const MAX_CACHED_LENGTH = 400

interface DomainCache {
  readonly ids: Uint32Array
  readonly texts: string[]
}

/** Texts of terms; recently written ones are cached in bounded memory. */
export class Cells {
  private readonly write: (term: Term) => string
  private readonly domains = new Map<Domain, DomainCache>()

  constructor(write: (term: Term) => string) {
    this.write = write
  }

  /** Returns the texts of a vector by row; null where it has no term. */
  of(vector: Vector | undefined): (row: number) => string | null {
    if (vector === undefined) return () => null
    switch (vector.type) {
      case 'constant': {
        const text = vector.id === 0 ? null : this.write(vector.domain.term(vector.id))
        return () => text
      }
      case 'numbers':
        return row => {
          const term = termAt(vector, row, termOf)
          return term === null ? null : this.write(term)
        }
      case 'ids': {
        const { domain, ids } = vector
        if (ids.length < FEW) return row => this.textOf(domain, ids[row] as number)
        const cache = this.cacheOf(domain)
        return row => {
          const id = ids[row] as number
          if (id === 0) return null
          const place = id & (CACHE_SIZE - 1)
          if (cache.ids[place] === id) return cache.texts[place] as string
          const text = this.write(domain.term(id))
          if (text.length > MAX_CACHED_LENGTH) return text
          cache.ids[place] = id
          cache.texts[place] = text
          return text
        }
      }
      default:
        return vector satisfies never
    }
  }

  private textOf(domain: Domain, id: number): string | null {
    return id === 0 ? null : this.write(domain.term(id))
  }

  private cacheOf(domain: Domain): DomainCache {
    const cache = this.domains.get(domain) ?? { ids: new Uint32Array(CACHE_SIZE), texts: [] }
    this.domains.delete(domain)
    this.domains.set(domain, cache)
    for (const [oldest] of this.domains) {
      if (this.domains.size <= DOMAINS) break
      this.domains.delete(oldest)
    }
    return cache
  }
}
