import { LineSet } from '../../rdf/line-set.ts'

const NEWLINE = 0x0a

/** Removes duplicate lines of N-Triples or N-Quads: RDF is a set, and several records may state the same. */
export class DistinctLines {
  /** Number of distinct lines so far. */
  count = 0
  private readonly written = new LineSet()

  /** The pieces without lines that occurred before, and the return value of the generator of the pieces. */
  async *of<T>(pieces: AsyncGenerator<Buffer, T>): AsyncGenerator<Buffer, T> {
    try {
      for (;;) {
        const next = await pieces.next()
        if (next.done === true) return next.value
        // Empty pieces are yielded too: the writer of pieces relies on their order.
        yield this.keepNew(next.value)
      }
    } finally {
      await pieces.return(undefined as never)
    }
  }

  /** Moves the new lines of a piece to its front and returns that part of it. */
  private keepNew(piece: Buffer): Buffer {
    let length = 0
    // Start of the current run of lines to be moved together.
    let run = 0
    const move = (to: number) => {
      if (length < run) piece.copyWithin(length, run, to)
      length += to - run
    }
    for (let from = 0; from < piece.length; ) {
      const end = piece.indexOf(NEWLINE, from)
      const to = end < 0 ? piece.length : end + 1
      if (this.written.addBytes(piece, from, to)) this.count += 1
      else {
        move(from)
        run = to
      }
      from = to
    }
    move(piece.length)
    return piece.subarray(0, length)
  }
}
