const LINE_FEED = 0x0a

/** Splits bytes into chunks of whole lines, each of at least the given number of bytes; the last is the remainder. */
export async function* wholeLines(pieces: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let buffered: Buffer[] = []
  let [length, end] = [0, 0]
  for await (const piece of pieces) {
    const feed = piece.lastIndexOf(LINE_FEED)
    if (feed >= 0) end = length + feed + 1
    buffered.push(piece)
    length += piece.length
    if (length < bytes || end === 0) continue
    const whole = Buffer.concat(buffered)
    buffered = [whole.subarray(end)]
    length -= end
    const lines = whole.subarray(0, end)
    end = 0
    yield lines
  }
  if (length > 0) yield Buffer.concat(buffered)
}

/** Number of line feeds. */
export function lineFeeds(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) lines++
  return lines
}
