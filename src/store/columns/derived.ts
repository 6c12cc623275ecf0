/**
 * What is made of the columns of a graph when it is first needed (permutations, lists of words), under a name, in memory
 * that all threads see: the thread that made it tells the others.
 */
export class Derived {
  private readonly held = new Map<string, readonly SharedArrayBuffer[]>()
  private readonly onMade: (name: string, buffers: readonly SharedArrayBuffer[]) => void

  constructor(onCreated: (name: string, buffers: readonly SharedArrayBuffer[]) => void = () => undefined) {
    this.onMade = onCreated
  }

  has(name: string): boolean {
    return this.held.has(name)
  }

  get(name: string, make: () => readonly SharedArrayBuffer[]): readonly SharedArrayBuffer[] {
    const known = this.held.get(name)
    if (known !== undefined) return known
    const made = make()
    this.held.set(name, made)
    this.onMade(name, made)
    return made
  }

  /** Takes what another thread has made. */
  hold(name: string, buffers: readonly SharedArrayBuffer[]): void {
    this.held.set(name, buffers)
  }
}
