import { LRUCache } from 'lru-cache'
import { exactJson } from '../model/exact-json.ts'

/** Characters of all that is cached, as JSON would write it, where nothing else is said; one answer may have an eighth of them. */
const MAX_CHARACTERS = 4_000_000

/** Answers of the store that pages were made of before, so that the next page need not ask again. */
export class DataCache {
  private readonly answers: LRUCache<string, Promise<unknown>>

  /** @param max answers that are cached; the least recently used are evicted first */
  constructor(max: number, maxCharacters: number = MAX_CHARACTERS) {
    const maxEntrySize = Math.floor(maxCharacters / 8)
    this.answers = new LRUCache({ max, maxSize: maxCharacters, maxEntrySize })
  }

  /**
   * What was made under a key before, or what is made now.
   *
   * @param key must hold the version of the data that it is made of
   */
  of<Value>(key: string, make: () => Promise<Value>): Promise<Value> {
    const before = this.answers.get(key)
    if (before !== undefined) return before as Promise<Value>
    const value = make()
    this.answers.set(key, value, { size: key.length })
    // What is known of its size counts once it is made; an answer that failed is asked for again.
    const settle = (size: number | null) => {
      if (this.answers.peek(key) !== value) return
      this.answers.delete(key)
      if (size !== null) this.answers.set(key, value, { size: key.length + size })
    }
    value.then(
      answer => settle(exactJson(answer)?.length ?? 0),
      () => settle(null),
    )
    return value
  }
}
