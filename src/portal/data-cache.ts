import { exactJson } from '../model/exact-json.ts'

/** Characters of all that is cached, as JSON would write it, where nothing else is said; one answer may have an eighth of them. */
const MAX_CHARACTERS = 4_000_000

/** Answers of the store that pages were made of before, so that the next page need not ask again. */
export class DataCache {
  private readonly answers = new Map<string, { readonly made: Promise<unknown>; size: number }>()
  private readonly max: number
  private readonly maxCharacters: number
  private size = 0

  /** @param max answers that are cached; what was longest not asked for goes first */
  constructor(max: number, maxCharacters: number = MAX_CHARACTERS) {
    this.max = max
    this.maxCharacters = maxCharacters
  }

  /**
   * What was made under a key before, or what is made now.
   *
   * @param key must hold the version of the data that it is made of
   */
  of<Value>(key: string, make: () => Promise<Value>): Promise<Value> {
    const before = this.answers.get(key)
    if (before !== undefined) {
      this.answers.delete(key)
      this.answers.set(key, before)
      return before.made as Promise<Value>
    }
    const made = make()
    const entry = { made, size: key.length }
    this.answers.set(key, entry)
    this.size += entry.size
    made.then(
      answer => this.weigh(key, entry, answer),
      () => this.drop(key, entry),
    )
    this.dropOldest()
    return made
  }

  private weigh(key: string, entry: { size: number }, answer: unknown): void {
    if (this.answers.get(key) !== entry) return
    const size = exactJson(answer)?.length ?? 0
    if (size > this.maxCharacters / 8) {
      this.drop(key, entry)
      return
    }
    entry.size += size
    this.size += size
    this.dropOldest()
  }

  private drop(key: string, entry: { readonly size: number }): void {
    if (this.answers.get(key) !== entry) return
    this.answers.delete(key)
    this.size -= entry.size
  }

  private dropOldest(): void {
    for (const [key, entry] of this.answers) {
      if (this.answers.size <= this.max && this.size <= this.maxCharacters) return
      this.drop(key, entry)
    }
  }
}
