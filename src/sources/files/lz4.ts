/**
 * Decompresses a block of LZ4 (LZ4 Block Format), also within Hadoop frames. Throws RangeError for damaged data.
 *
 * @param length bytes of the decompressed block
 */
export function unpackLz4(input: Uint8Array, length: number): Uint8Array {
  try {
    return unpackBlock(input, length)
  } catch (error) {
    if (input.length < 8) throw error
    return unpackFrames(input, length)
  }
}

/** Hadoop writes the sizes of the decompressed and of the compressed block before each, big-endian. */
function unpackFrames(input: Uint8Array, length: number): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength)
  const output = new Uint8Array(length)
  let written = 0
  for (let at = 0; at + 8 <= input.length && written < length; ) {
    const size = view.getUint32(at)
    const packed = view.getUint32(at + 4)
    if (size > length - written) throw new RangeError('LZ4: a block beyond the page')
    output.set(unpackBlock(input.subarray(at + 8, at + 8 + packed), size), written)
    written += size
    at += 8 + packed
  }
  if (written !== length) throw new RangeError('LZ4: the data end too soon')
  return output
}

function unpackBlock(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length)
  let [from, to] = [0, 0]
  const more = (start: number) => {
    let sum = start
    if (start < 15) return sum
    for (;;) {
      const byte = input[from++]
      if (byte === undefined) throw new RangeError('LZ4: the data end too soon')
      sum += byte
      if (byte !== 255) return sum
    }
  }
  while (from < input.length) {
    const token = input[from++] as number
    const literals = more(token >> 4)
    if (from + literals > input.length || to + literals > length) throw new RangeError('LZ4: damaged')
    output.set(input.subarray(from, from + literals), to)
    from += literals
    to += literals
    if (from >= input.length) break
    const offset = (input[from] as number) | ((input[from + 1] ?? 0) << 8)
    from += 2
    const size = more(token & 15) + 4
    if (offset === 0 || offset > to || to + size > length) throw new RangeError('LZ4: damaged')
    for (let i = 0; i < size; i++) output[to + i] = output[to + i - offset] as number
    to += size
  }
  if (to !== length) throw new RangeError('LZ4: the data end too soon')
  return output
}
