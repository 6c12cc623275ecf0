/** Answers of the store that pages were made of before, so that the next page need not ask again. */
export class KeptData {
  private readonly kept = new Map<string, Promise<unknown>>()
  private readonly most: number

  /** @param most answers that are kept; what was longest not asked for goes first */
  constructor(most: number) {
    this.most = most
  }

  /**
   * What was made under a key before, or what is made now.
   *
   * @param key must hold the version of the data that it is made of
   */
  of<Made>(key: string, make: () => Promise<Made>): Promise<Made> {
    const before = this.kept.get(key)
    if (before !== undefined) {
      this.kept.delete(key)
      this.kept.set(key, before)
      return before as Promise<Made>
    }
    const made = make()
    this.kept.set(key, made)
    made.catch(() => this.kept.delete(key))
    const [oldest] = this.kept.keys()
    if (this.kept.size > this.most && oldest !== undefined) this.kept.delete(oldest)
    return made
  }
}
