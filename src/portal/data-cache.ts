import { LRUCache } from 'lru-cache'
import { exactJson } from '../model/exact-json.ts'

/** Default maximum of cached characters of all answers, as JSON; one answer may have at most an eighth of them. */
const MAX_CHARACTERS = 4_000_000

/** Cache of answers of the store for pages. */
export class DataCache {
  private readonly answers: LRUCache<string, Promise<unknown>>

  /** @param max maximum number of cached answers; the least recently used are evicted first */
  constructor(max: number, maxCharacters: number = MAX_CHARACTERS) {
    const maxEntrySize = Math.floor(maxCharacters / 8)
    this.answers = new LRUCache({ max, maxSize: maxCharacters, maxEntrySize })
  }

  /**
   * The cached value of a key, or a new one.
   *
   * @param key must contain the version of its data
   */
  of<Value>(key: string, make: () => Promise<Value>): Promise<Value> {
    const before = this.answers.get(key)
    if (before !== undefined) return before as Promise<Value>
    const value = make()
    this.answers.set(key, value, { size: key.length })
    // The size is set when the value is complete; a failed one is not cached.
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
