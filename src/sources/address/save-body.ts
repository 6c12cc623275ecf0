import { createWriteStream } from 'node:fs'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Fault } from '../../errors/errors.ts'
import { Passing, refusedAddress } from './failures.ts'
import type { FetchLimits } from './limits.ts'

/**
 * Writes a body into a file; returns its bytes. Faults: SourceUnreadable for more bytes than allowed, for none, and for silence.
 * A connection that breaks is {@link Passing}.
 *
 * @param expected announced bytes; NaN if unknown
 */
export async function saveBody(
  body: Readable,
  file: string,
  url: URL,
  limits: FetchLimits,
  expected: number,
): Promise<number> {
  const tooLong = () =>
    refusedAddress(url, `it sends more than ${limits.size} bytes; source_size allows more`)
  if (expected > limits.size) {
    body.destroy()
    throw tooLong()
  }
  let size = 0
  let isSilent = false
  let timer: NodeJS.Timeout | undefined
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      isSilent = true
      body.destroy()
    }, limits.idle)
  }
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      wait()
      size += chunk.length
      if (size > limits.size) done(tooLong())
      else done(null, chunk)
    },
  })
  wait()
  try {
    await pipeline(body, counted, createWriteStream(file))
  } catch (error) {
    if (isSilent) throw refusedAddress(url, `it sends nothing for ${limits.idle / 1000} s`)
    throw error instanceof Fault ? error : new Passing(`the connection broke after ${size} bytes`)
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
  if (Number.isFinite(expected) && size < expected)
    throw new Passing(`the connection broke after ${size} of ${expected} bytes`)
  if (size === 0) throw refusedAddress(url, 'it sends nothing')
  return size
}
