import { createWriteStream } from 'node:fs'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Fault } from '../../errors/errors.ts'
import type { BodyDecoder } from './content-codings.ts'
import { refusedAddress, TransientFailure } from './failures.ts'
import type { FetchContext } from './limits.ts'

/**
 * Writes a body into a file; returns its bytes. Faults: SourceUnreadable for more bytes than allowed, for none, and for silence.
 * A connection that breaks is {@link TransientFailure}.
 *
 * @param expected announced bytes; NaN if unknown
 * @param decode removes the codings of the body: the limit is that of the decoded bytes
 */
export async function saveBody(
  body: Readable,
  file: string,
  url: URL,
  limits: FetchContext,
  expected: number,
  decode: BodyDecoder | null = null,
): Promise<number> {
  const tooLong = () =>
    refusedAddress(
      url,
      `it sends more than ${limits.size} bytes${limits.origin?.size ?? '; source_size allows more'}`,
    )
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
    const options = { signal: limits.late }
    if (decode === null) await pipeline(body, counted, createWriteStream(file), options)
    else await pipeline(body, decode, counted, createWriteStream(file), options)
  } catch (error) {
    if (isSilent) throw refusedAddress(url, `it sends nothing for ${limits.idle / 1000} s`)
    throw error instanceof Fault ? error : new TransientFailure(`the connection broke after ${size} bytes`)
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
  if (decode === null && Number.isFinite(expected) && size < expected)
    throw new TransientFailure(`the connection broke after ${size} of ${expected} bytes`)
  if (size === 0) throw refusedAddress(url, 'it sends nothing')
  return size
}
