import { memoised } from '../../../../model/memoised.ts'
import { grown, NumberList } from '../../bytes.ts'
import { placesByNumber } from '../../sorting.ts'
import type { Evaluation } from '../evaluation.ts'
import type { Domain } from '../vectors/domain.ts'
import type { IdVector, Vector } from '../vectors/vector.ts'

/**
 * Goes one step of a path from some nodes.
 *
 * @param homes where reached nodes have their own numbers
 * @param reached called with the index of the node where a step begins and the pool number of the node where it ends
 */
type Step = (nodes: IdVector, homes: NodeHomes, reached: (place: number, to: number) => void) => void

/**
 * Where the nodes of a path were found: by pool number the domain of the graph that contains a node and its number there, so that
 * the next step needs no search.
 */
export class NodeHomes {
  private readonly evaluation: Evaluation
  private readonly domains: Domain[] = []
  /** By pool number: one more than the index of the domain, 0 where it is unknown; and the number there. */
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

  /** Nodes as vectors, and the nodes of each vector in its order. */
  vectorsOf(nodes: readonly number[]): readonly { readonly vector: IdVector; readonly nodes: number[] }[] {
    const byDomain = new Map<Domain, { nodes: number[]; ids: number[] }>()
    for (const node of nodes) {
      const place = node < this.places.length ? (this.places[node] as number) : 0
      const domain = place === 0 ? this.evaluation.pool : (this.domains[place - 1] as Domain)
      const own = memoised(byDomain, domain, () => ({ nodes: [], ids: [] }))
      own.nodes.push(node)
      own.ids.push(place === 0 ? node : (this.numbers[node] as number))
    }
    return Array.from(byDomain, ([domain, { nodes: own, ids }]) => ({
      vector: { type: 'ids', domain, ids: Uint32Array.from(ids) },
      nodes: own,
    }))
  }

  /** Makes room for all terms of the pool. */
  private makeRoom(): void {
    const { evaluation } = this
    this.places = evaluation.grown(this.places, evaluation.pool.size + 1)
    this.numbers = evaluation.grown(this.numbers, evaluation.pool.size + 1)
  }
}

/** A set of nodes by their pool numbers. */
export class NodeSet {
  private flags = new Uint8Array(64)

  /** False for a node that is already present. */
  add(node: number): boolean {
    this.flags = grown(this.flags, node + 1)
    const isNew = this.flags[node] === 0
    this.flags[node] = 1
    return isNew
  }
}

/** Solutions of a closure: a row of the joined batch, the node where a path begins and the one where it ends. */
export class ReachedPairs {
  readonly rows = new NumberList()
  readonly near = new NumberList()
  readonly far = new NumberList()

  get size(): number {
    return this.rows.size
  }

  add(row: number, near: number, far: number): void {
    this.rows.add(row)
    this.near.add(near)
    this.far.add(far)
  }

  addAll(row: number, near: number, { values, size }: NumberList): void {
    for (let at = 0; at < size; at++) this.add(row, near, values[at] as number)
  }

  clear(): void {
    for (const list of [this.rows, this.near, this.far]) list.clear()
  }
}

/** Of a node that is being expanded. */
const REQUESTED = 2 ** 32 - 1

/** Maximum number of nodes that are expanded together before a walk needs all of them. */
const MAX_EXPANDED = 1024

/** The nodes that a closure reaches from a node; steps are cached, so that each node is expanded once. */
export class Reach {
  readonly homes: NodeHomes
  private readonly type: 'zeroOrOne' | 'zeroOrMore' | 'oneOrMore'
  private readonly step: Step
  private readonly evaluation: Evaluation
  /** By node: one more than the index of its first step in the ends, 0 for a node that was not expanded, or {@link REQUESTED}. */
  private begins = new Uint32Array(64)
  /** By node: the number of its steps. */
  private counts = new Uint32Array(64)
  /** The nodes where steps end, possibly with duplicates. */
  private readonly ends = new NumberList()
  /** The number of nodes that were expanded, and of ends that were looked at for more to expand. */
  private expanded = 0
  private visited = 0
  /** By node: the number of the last walk that reached it. */
  private walks = new Uint32Array(64)
  private walk = 0
  /** The nodes of the current frontier, and those one step further. */
  private front = new NumberList()
  private further = new NumberList()

  constructor(type: 'zeroOrOne' | 'zeroOrMore' | 'oneOrMore', evaluation: Evaluation, step: Step) {
    this.type = type
    this.step = step
    this.evaluation = evaluation
    this.homes = new NodeHomes(evaluation)
  }

  /** Expands several start nodes together. */
  prepare(starts: readonly number[]): void {
    this.registerNodes({ values: starts, size: starts.length })
  }

  /**
   * Each reached node, once, by number of steps: a list is valid until the next is requested. One walk must end before another
   * begins.
   */
  *from(start: number, isNode: (id: number) => boolean): Generator<NumberList> {
    this.walk += 1
    this.front.clear()
    this.front.add(start)
    if (this.type !== 'oneOrMore' && isNode(start)) {
      this.makeRoom()
      this.walks[start] = this.walk
      yield this.front
    }
    while (this.front.size > 0) {
      this.registerNodes(this.front)
      this.goOn()
      if (this.front.size > 0) yield this.front
      if (this.type === 'zeroOrOne') break
    }
  }

  /** Advances to the nodes one step away that the walk has not reached. */
  private goOn(): void {
    const { begins, counts, evaluation, walks, walk, front, further } = this
    const ends = this.ends.values
    further.clear()
    for (let place = 0; place < front.size; place++) {
      const node = front.values[place] as number
      const from = (begins[node] as number) - 1
      const to = from + (counts[node] as number)
      evaluation.advance(1 + to - from)
      for (let at = from; at < to; at++) {
        const end = ends[at] as number
        if (walks[end] === walk) continue
        walks[end] = walk
        further.add(end)
      }
    }
    this.front = further
    this.further = front
  }

  private registerNodes({
    values,
    size,
  }: {
    readonly values: ArrayLike<number>
    readonly size: number
  }): void {
    this.makeRoom()
    const unknown: number[] = []
    for (let at = 0; at < size; at++) this.request(values[at] as number, unknown)
    if (unknown.length === 0) return
    this.requestMore(unknown)
    for (const { vector, nodes: left } of this.homes.vectorsOf(unknown)) {
      const [places, ends] = [new NumberList(), new NumberList()]
      this.step(vector, this.homes, (place, to) => {
        places.add(place)
        ends.add(to)
      })
      this.makeRoom()
      this.addSteps(left, places.view(), ends.view())
    }
  }

  private request(node: number, unknown: number[]): void {
    if (this.begins[node] !== 0) return
    this.begins[node] = REQUESTED
    unknown.push(node)
  }

  /** Adds nodes to which steps have come, as many as were expanded before: a step from many nodes costs little more than from one. */
  private requestMore(unknown: number[]): void {
    const { ends } = this
    const count = this.type === 'zeroOrOne' ? 0 : Math.min(MAX_EXPANDED, this.expanded)
    while (unknown.length < count && this.visited < ends.size)
      this.request(ends.values[this.visited++] as number, unknown)
    this.expanded += unknown.length
  }

  /**
   * Stores the steps of some nodes.
   *
   * @param places by step: the index of the node where it begins
   * @param ends by step: the node where it ends
   */
  private addSteps(nodes: readonly number[], places: Uint32Array, ends: Uint32Array): void {
    const { begins, counts } = this
    this.evaluation.allocate(4 * ends.length)
    const { starts, places: order } = placesByNumber(places, nodes.length)
    this.evaluation.check()
    const first = this.ends.size + 1
    nodes.forEach((node, at) => {
      begins[node] = first + (starts[at] as number)
      counts[node] = (starts[at + 1] as number) - (starts[at] as number)
    })
    for (const at of order) this.ends.add(ends[at] as number)
    this.evaluation.check()
  }

  /** Makes room for all terms of the pool. */
  private makeRoom(): void {
    const { evaluation } = this
    const size = evaluation.pool.size + 1
    this.begins = evaluation.grown(this.begins, size)
    this.counts = evaluation.grown(this.counts, size)
    this.walks = evaluation.grown(this.walks, size)
  }
}
