import t from 'tap'
import { unpackLz4 } from '../src/sources/files/parquet.ts'
import { between, startFrom } from './support/random.ts'

/** Blocks as Parquet files have them, made here by the format: sequences of literals and of copies of what was before. */
interface Block {
  readonly packed: Uint8Array
  readonly plain: Uint8Array
}

function rest(length: number, start = 15): readonly number[] {
  if (length < start) return []
  const bytes: number[] = []
  let left = length - start
  for (; left >= 255; left -= 255) bytes.push(255)
  return [...bytes, left]
}

function makeBlock(sequences: number): Block {
  const [packed, plain]: [number[], number[]] = [[], []]
  for (let number = 0; number <= sequences; number++) {
    const isLast = number === sequences
    const literals = between(
      number === 0 || isLast ? 1 : 0,
      [4, 14, 15, 16, 300, 900][between(0, 5)] as number,
    )
    const size = isLast ? 0 : between(4, [5, 18, 19, 20, 280, 800][between(0, 5)] as number)
    packed.push((Math.min(literals, 15) << 4) | Math.max(0, Math.min(size - 4, 15)), ...rest(literals))
    for (let at = 0; at < literals; at++) {
      const byte = between(0, 255)
      packed.push(byte)
      plain.push(byte)
    }
    if (isLast) break
    const offset = between(1, Math.min(plain.length, 65_535))
    packed.push(offset & 255, offset >> 8, ...rest(size - 4))
    for (let at = 0; at < size; at++) plain.push(plain[plain.length - offset] as number)
  }
  return { packed: Uint8Array.from(packed), plain: Uint8Array.from(plain) }
}

function framed(blocks: readonly Block[]): Uint8Array {
  return Buffer.concat(
    blocks.map(({ packed, plain }) => {
      const sizes = Buffer.alloc(8)
      sizes.writeUInt32BE(plain.length, 0)
      sizes.writeUInt32BE(packed.length, 4)
      return Buffer.concat([sizes, packed])
    }),
  )
}

t.test('blocks are unpacked, also within the frames of Hadoop', t => {
  startFrom(7)
  const blocks = Array.from({ length: 60 }, (_, at) => makeBlock(at % 9))
  for (const { packed, plain } of blocks) {
    t.same(unpackLz4(packed, plain.length), plain)
    t.throws(() => unpackLz4(packed, plain.length + 1), RangeError)
    t.throws(() => unpackLz4(packed.subarray(0, -1), plain.length), RangeError)
  }
  const all = Buffer.concat(blocks.map(({ plain }) => plain))
  t.same(Buffer.from(unpackLz4(framed(blocks), all.length)), all)
  t.throws(() => unpackLz4(framed(blocks).subarray(0, -20), all.length), RangeError)
  t.end()
})

t.test('damaged blocks are refused', t => {
  // "abcd", then four bytes from one place before the beginning, from no place, and beyond the end.
  for (const [bytes, length] of [
    [[0x40, 97, 98, 99, 100, 5, 0], 8],
    [[0x40, 97, 98, 99, 100, 0, 0], 8],
    [[0x4f, 97, 98, 99, 100, 1, 0, 200], 8],
    [[0xf0, 255], 8],
    [[], 1],
  ] as const)
    t.throws(() => unpackLz4(Uint8Array.from(bytes), length), RangeError)
  t.same(unpackLz4(Uint8Array.from([0x40, 97, 98, 99, 100, 1, 0]), 8), Buffer.from('abcddddd'))
  t.end()
})
