/**
 * What is derived from the columns of a graph on first use (permutations, lists of words), under a name, in memory
 * that all threads share: the thread that computed it sends it to the others.
 */
export class Derived {
  private readonly cached = new Map<string, readonly SharedArrayBuffer[]>()
  private readonly onComputed: (name: string, buffers: readonly SharedArrayBuffer[]) => void

  constructor(onCreated: (name: string, buffers: readonly SharedArrayBuffer[]) => void = () => undefined) {
    this.onComputed = onCreated
  }

  has(name: string): boolean {
    return this.cached.has(name)
  }

  get(name: string, make: () => readonly SharedArrayBuffer[]): readonly SharedArrayBuffer[] {
    const known = this.cached.get(name)
    if (known !== undefined) return known
    const buffers = make()
    this.cached.set(name, buffers)
    this.onComputed(name, buffers)
    return buffers
  }

  /** Adds what another thread has computed. */
  add(name: string, buffers: readonly SharedArrayBuffer[]): void {
    this.cached.set(name, buffers)
  }
}
