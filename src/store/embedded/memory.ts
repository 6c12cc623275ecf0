/**
 * Estimated bytes of memory of a graph of N-Triples in the engine: 350 per triple, and 1.1 per byte of text beyond the first 120
 * bytes of a line. Terms are stored once, so the IRIs that every line repeats cost nothing; anything longer is assumed to be text
 * that occurs once.
 *
 * Measured on Oxigraph 0.5.11 (bytes a line, bytes a triple in memory, by this formula): facts of 135,000 cities 176, 313, 412;
 * their index with the records as JSON 228, 523, 469; closed lists of long values 213, 248, 452; small integers 74, 238, 350;
 * texts of 4 kB 4,065, 4,726, 4,690; a new IRI as every subject and object 110, 575, 350. For the last kind the estimate is too
 * small, so loads are also measured (worker.ts) and the accounts corrected by their actual use.
 */
export function estimate(triples: number, bytes: number): number {
  return Math.ceil(350 * triples + 1.1 * Math.max(0, bytes - 120 * triples))
}

/**
 * Heap to reserve before a batch is loaded: its own memory, the copy of its text, and as much again for the transaction. Without
 * it the engine's memory grows by 64 KiB at a time, each time with a full garbage collection (54,000 to 270,000 quads per second
 * instead of 400,000).
 */
export function reserveFor(triples: number, bytes: number): number {
  return 2 * estimate(triples, bytes) + bytes
}
