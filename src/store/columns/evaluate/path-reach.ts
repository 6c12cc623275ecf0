import type { Domain } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import type { IdVector, Vector } from './vector.ts'

/** Of a step from one node to another. */
const BYTES_A_STEP = 40

/**
 * Goes one step of a path from some nodes.
 *
 * @param homes where nodes that are reached have numbers of their own
 * @param reached is called with the place among the nodes where a step begins and the number in the pool where it ends
 */
type Step = (nodes: IdVector, homes: NodeHomes, reached: (place: number, to: number) => void) => void

/**
 * Where the nodes of a path were found: by the number of a node in the pool the domain of the graph that has it and its
 * number there, by which the next step finds it without a search.
 */
export class NodeHomes {
  private readonly evaluation: Evaluation
  private readonly domains: Domain[] = []
  /** By number in the pool: one more than the place of its domain, 0 where none is known; and its number there. */
  private places = new Uint32Array(64)
  private numbers = new Uint32Array(64)

  constructor(evaluation: Evaluation) {
    this.evaluation = evaluation
  }

  add(vector: Vector, pooled: Uint32Array): void {
    if (vector.type !== 'ids' || vector.domain === this.evaluation.pool) return
    this.makeRoom()
    const { places, numbers } = this
    const { domain, ids } = vector
    let place = this.domains.indexOf(domain) + 1
    if (place === 0) place = this.domains.push(domain)
    for (let at = 0; at < pooled.length; at++) {
      const node = pooled[at] as number
      if (places[node] !== 0) continue
      places[node] = place
      numbers[node] = ids[at] as number
    }
  }

  /** Nodes as vectors, and the nodes of each of these in its order. */
  vectorsOf(nodes: readonly number[]): readonly { readonly vector: IdVector; readonly nodes: number[] }[] {
    const byDomain = new Map<Domain, { nodes: number[]; ids: number[] }>()
    for (const node of nodes) {
      const place = node < this.places.length ? (this.places[node] as number) : 0
      const domain = place === 0 ? this.evaluation.pool : (this.domains[place - 1] as Domain)
      let own = byDomain.get(domain)
      if (own === undefined) {
        own = { nodes: [], ids: [] }
        byDomain.set(domain, own)
      }
      own.nodes.push(node)
      own.ids.push(place === 0 ? node : (this.numbers[node] as number))
    }
    return Array.from(byDomain, ([domain, { nodes: own, ids }]) => ({
      vector: { type: 'ids', domain, ids: Uint32Array.from(ids) },
      nodes: own,
    }))
  }

  /** Room for all terms of the pool. */
  private makeRoom(): void {
    const { size } = this.evaluation.pool
    if (size < this.places.length) return
    const room = 2 * size
    this.evaluation.allocate(8 * (room - this.places.length))
    const [places, numbers] = [new Uint32Array(room), new Uint32Array(room)]
    places.set(this.places)
    numbers.set(this.numbers)
    this.places = places
    this.numbers = numbers
  }
}

/** Nodes by their numbers in the pool. */
export class NodeSet {
  private flags = new Uint8Array(64)

  /** False for a node that is there already. */
  add(node: number): boolean {
    if (node >= this.flags.length) {
      const larger = new Uint8Array(2 * node)
      larger.set(this.flags)
      this.flags = larger
    }
    const isNew = this.flags[node] === 0
    this.flags[node] = 1
    return isNew
  }
}

/** Solutions of a closure: a row of the batch that is joined, the node where a path begins and the one where it ends. */
export class ReachedPairs {
  readonly rows: number[] = []
  readonly near: number[] = []
  readonly far: number[] = []

  get size(): number {
    return this.rows.length
  }

  add(row: number, near: number, far: number): void {
    this.rows.push(row)
    this.near.push(near)
    this.far.push(far)
  }
}

/** A node that no step leaves. */
const NOWHERE: readonly number[] = []

/** The nodes that a closure reaches from a node; steps are remembered, so that each node is left once. */
export class Reach {
  readonly homes: NodeHomes
  private readonly type: 'zeroOrOne' | 'zeroOrMore' | 'oneOrMore'
  private readonly step: Step
  private readonly evaluation: Evaluation
  /** Nodes one step away, by node, for those that were left; one may be named several times. */
  private readonly next: (readonly number[] | undefined)[] = []

  constructor(type: 'zeroOrOne' | 'zeroOrMore' | 'oneOrMore', evaluation: Evaluation, step: Step) {
    this.type = type
    this.step = step
    this.evaluation = evaluation
    this.homes = new NodeHomes(evaluation)
  }

  /** Finds the next nodes of several that will be asked for, together. */
  prepare(starts: readonly number[]): void {
    this.registerNodes(starts)
  }

  /** Each node that is reached, once, after each number of steps. */
  *from(start: number, isNode: (id: number) => boolean): Generator<readonly number[]> {
    const found = new Set<number>()
    if (this.type !== 'oneOrMore' && isNode(start)) {
      found.add(start)
      yield [start]
    }
    let front: readonly number[] = [start]
    while (front.length > 0) {
      this.registerNodes(front)
      const further: number[] = []
      for (const node of front)
        for (const to of this.next[node] ?? NOWHERE)
          if (!found.has(to)) {
            found.add(to)
            further.push(to)
          }
      if (further.length > 0) yield further
      if (this.type === 'zeroOrOne') break
      front = further
    }
  }

  private registerNodes(nodes: readonly number[]): void {
    const { next } = this
    const unknown = nodes.filter(node => next[node] === undefined)
    if (unknown.length === 0) return
    const before = next.length
    for (const node of unknown) {
      while (next.length <= node) next.push(undefined)
      next[node] = NOWHERE
    }
    this.evaluation.allocate(8 * (next.length - before))
    let steps = 0
    for (const { vector, nodes: from } of this.homes.vectorsOf(unknown))
      this.step(vector, this.homes, (place, to) => {
        const node = from[place] as number
        const others = next[node] as number[]
        if (others === NOWHERE) next[node] = [to]
        else others.push(to)
        steps += 1
      })
    this.evaluation.allocate(BYTES_A_STEP * steps)
  }
}
