/** Bytes of a page of WebAssembly memory. */
const PAGE = 65_536

const MEMORY_SECTION = 5
const HEADER_BYTES = 8

/**
 * A WebAssembly module whose memory cannot grow beyond a limit: where it would, the module is told that there is no more
 * (WebAssembly Core Specification 2.0, sections 5.5.8 and 5.3.9). Throws where the module has no memory of its own.
 *
 * @param bytes that the memory may have at most; never less than the module begins with
 */
export function withMemoryLimit(module: Uint8Array, bytes: number): Uint8Array<ArrayBuffer> {
  for (let at = HEADER_BYTES; at < module.length; ) {
    const id = module[at]
    const size = readNumber(module, at + 1)
    const end = size.end + size.value
    if (id === MEMORY_SECTION) {
      const count = readNumber(module, size.end)
      const flags = module[count.end] ?? 0
      const least = readNumber(module, count.end + 1)
      if (count.value !== 1 || flags > 1)
        throw new Error('the memory of the module is of a kind that is not known')
      const most = Math.max(least.value, Math.floor(bytes / PAGE))
      const content = [...number(1), 1, ...number(least.value), ...number(most)]
      const section = [MEMORY_SECTION, ...number(content.length), ...content]
      return Buffer.concat([module.subarray(0, at), Uint8Array.from(section), module.subarray(end)])
    }
    at = end
  }
  throw new Error('the module has no memory of its own')
}

/** Reads a number in LEB128, and tells where it ends. */
function readNumber(bytes: Uint8Array, from: number): { readonly value: number; readonly end: number } {
  let value = 0
  for (let at = from, shift = 0; ; at++, shift += 7) {
    const byte = bytes[at] ?? 0
    value += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) return { value, end: at + 1 }
  }
}

/** A number in LEB128. */
function number(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest]
    bytes.push((rest % 128) | 0x80)
  }
}
