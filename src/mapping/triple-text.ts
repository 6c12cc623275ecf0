/**
 * Gathers N-Triples text and gives it out in bounded pieces: a piece ends after a whole record, once it holds about a
 * hundred thousand triples or eight million characters.
 */
export class TripleText {
  text = ''
  /** Triples in `text`. */
  pending = 0
  /** Triples of all pieces so far. */
  triples = 0

  /** Adds whole lines of N-Triples. */
  add(lines: string, triples: number): void {
    this.text += lines
    this.pending += triples
    this.triples += triples
  }

  /** True once the piece is large enough to be given out. */
  isFull(): boolean {
    return this.pending >= 100_000 || this.text.length >= 8_000_000
  }

  /** The piece, which is then empty again. */
  take(): Buffer {
    const piece = Buffer.from(this.text, 'utf8')
    this.text = ''
    this.pending = 0
    return piece
  }
}
