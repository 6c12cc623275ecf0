import type { Domain } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import type { IdVector, Vector } from './vector.ts'

/** Of a node that is remembered with its number. */
export const BYTES_A_NODE = 100

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
  /** By number in the pool: the place of its domain and its number there. */
  private readonly known = new Map<number, readonly [domain: number, id: number]>()

  constructor(evaluation: Evaluation) {
    this.evaluation = evaluation
  }

  add(vector: Vector, pooled: Uint32Array): void {
    if (vector.type !== 'ids' || vector.domain === this.evaluation.pool) return
    const before = this.known.size
    const { domain, ids } = vector
    let number = this.domains.indexOf(domain)
    if (number < 0) number = this.domains.push(domain) - 1
    for (let at = 0; at < pooled.length; at++) {
      const node = pooled[at] as number
      if (!this.known.has(node)) this.known.set(node, [number, ids[at] as number])
    }
    this.evaluation.allocate(BYTES_A_NODE * (this.known.size - before))
  }

  /** Nodes as vectors, and the nodes of each of these in its order. */
  vectorsOf(nodes: readonly number[]): readonly { readonly vector: IdVector; readonly nodes: number[] }[] {
    const byDomain = new Map<Domain, { nodes: number[]; ids: number[] }>()
    for (const node of nodes) {
      const home = this.known.get(node)
      const domain = home === undefined ? this.evaluation.pool : (this.domains[home[0]] as Domain)
      let own = byDomain.get(domain)
      if (own === undefined) {
        own = { nodes: [], ids: [] }
        byDomain.set(domain, own)
      }
      own.nodes.push(node)
      own.ids.push(home === undefined ? node : home[1])
    }
    return Array.from(byDomain, ([domain, { nodes: own, ids }]) => ({
      vector: { type: 'ids', domain, ids: Uint32Array.from(ids) },
      nodes: own,
    }))
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

/** The nodes that a closure reaches from a node; steps are remembered, so that each node is left once. */
export class Reach {
  private readonly type: 'zeroOrOne' | 'zeroOrMore' | 'oneOrMore'
  private readonly step: Step
  /** Nodes one step away, by node; one may be named several times. */
  private readonly next = new Map<number, number[]>()
  private readonly homes: NodeHomes

  constructor(type: 'zeroOrOne' | 'zeroOrMore' | 'oneOrMore', evaluation: Evaluation, step: Step) {
    this.type = type
    this.step = step
    this.homes = new NodeHomes(evaluation)
  }

  /** Finds the next nodes of several that will be asked for, together. */
  prepare(starts: ReadonlySet<number>): void {
    this.registerNodes([...starts])
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
        for (const to of this.next.get(node) ?? [])
          if (!found.has(to)) {
            found.add(to)
            further.push(to)
          }
      yield further
      if (this.type === 'zeroOrOne') break
      front = further
    }
  }

  private registerNodes(nodes: readonly number[]): void {
    const unknown = nodes.filter(node => !this.next.has(node))
    if (unknown.length === 0) return
    for (const node of unknown) this.next.set(node, [])
    for (const { vector, nodes: from } of this.homes.vectorsOf(unknown))
      this.step(vector, this.homes, (place, to) => {
        this.next.get(from[place] as number)?.push(to)
      })
  }
}
