/** Bytes of all lists that are kept where nothing else is said: eight million records. */
const MOST_BYTES = 32_000_000

/**
 * The positions of the records of answers in their order, by what names the answer, so that the last page costs what the
 * second does: nothing is searched and nothing sorted again. What was longest not asked for goes first. A name must hold
 * the version of the data; then nothing that is kept is ever wrong.
 */
export class Bookmarks {
  private readonly lists = new Map<string, Int32Array>()
  private readonly most: number
  private size = 0

  /** @param most bytes of all lists together; a list may have a quarter of them */
  constructor(most: number = MOST_BYTES) {
    this.most = most
  }

  find(name: string): Int32Array | undefined {
    const list = this.lists.get(name)
    if (list === undefined) return undefined
    this.lists.delete(name)
    this.lists.set(name, list)
    return list
  }

  keep(name: string, list: Int32Array): void {
    if (costOf(name, list) > this.most / 4 || this.lists.has(name)) return
    this.lists.set(name, list)
    this.size += costOf(name, list)
    for (const [oldest, { byteLength }] of this.lists) {
      if (this.size <= this.most) break
      this.lists.delete(oldest)
      this.size -= costOf(oldest, { byteLength })
    }
  }
}

function costOf(name: string, { byteLength }: Pick<Int32Array, 'byteLength'>): number {
  return byteLength + 2 * name.length
}
