import type { Term } from '../../../rdf/term.ts'
import type { Domain } from '../evaluate/domain.ts'
import { termOf } from '../evaluate/value.ts'
import { termAt, type Vector } from '../evaluate/vector.ts'

/** Terms of a domain whose texts are held, and domains that have such: what is asked of long ago is written anew. */
const HELD = 2 ** 14
const DOMAINS = 16

/** For fewer rows nothing is held: its place would cost more than what is written twice. */
const FEW = 256

/** Longer texts are not held. */
const LONGEST = 400

interface Held {
  readonly ids: Uint32Array
  readonly texts: string[]
}

/** Texts of terms: those that are written again soon are held, in bounded memory. */
export class Cells {
  private readonly write: (term: Term) => string
  private readonly domains = new Map<Domain, Held>()

  constructor(write: (term: Term) => string) {
    this.write = write
  }

  /** Gives the texts of a vector by row; null where it has no term. */
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
        const held = this.heldOf(domain)
        return row => {
          const id = ids[row] as number
          if (id === 0) return null
          const place = id & (HELD - 1)
          if (held.ids[place] === id) return held.texts[place] as string
          const text = this.write(domain.term(id))
          if (text.length > LONGEST) return text
          held.ids[place] = id
          held.texts[place] = text
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

  private heldOf(domain: Domain): Held {
    const held = this.domains.get(domain) ?? { ids: new Uint32Array(HELD), texts: [] }
    this.domains.delete(domain)
    this.domains.set(domain, held)
    for (const [oldest] of this.domains) {
      if (this.domains.size <= DOMAINS) break
      this.domains.delete(oldest)
    }
    return held
  }
}
