import type { Store } from '../store/store.ts'

/** Triples asked for at a time: an answer is one string and passes between threads whole. */
const PIECE = 20_000

/** All triples of a graph in the store's order, in bounded pieces of N-Triples; what is not read is not asked. */
export async function* graphTriples(store: Store, graph: string, piece: number = PIECE): AsyncGenerator<string> {
  for (let offset = 0; ; offset += piece) {
    const { triples, count } = await store.match(graph, {}, { offset, limit: piece })
    if (triples !== '') yield triples
    if (offset + piece >= count) return
  }
}
