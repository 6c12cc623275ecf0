import { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { FastifyRequest } from 'fastify'
import { Fault } from '../../errors/errors.ts'
import type { Form } from '../../http/form.ts'

/** A form with a file, as far as it has come: the file streams. */
export interface UploadForm {
  readonly form: Form
  readonly name: string
  readonly stream: Readable
}

/** Fields before the file, and bytes of each. */
const MAX_FIELDS = 20
const MAX_FIELD_BYTES = 4096

/**
 * Reads a form with one file (RFC 7578) up to the beginning of the file: the fields stand before it, so that what they say is checked
 * before a byte of the file is stored. Faults: BadRequest for a form without a file or that cannot be read.
 */
export function readUpload({ headers, body }: FastifyRequest): Promise<UploadForm> {
  const source = body instanceof Readable ? body : Readable.from([])
  return new Promise((resolve, reject) => {
    const refuse = (reason: string) => {
      source.unpipe()
      source.resume()
      reject(new Fault('BadRequest', { reason }))
    }
    try {
      const parser = new Busboy({
        headers: headers as BusboyHeaders,
        limits: { fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES, files: 1, parts: MAX_FIELDS + 1 },
      })
      const form = new Map<string, string>()
      parser.on('field', (name: string, value: string) => form.set(name, value))
      parser.on('file', (_: string, stream: Readable, name: string | undefined) => {
        if (name === undefined || name === '') {
          stream.resume()
          refuse('No file was chosen.')
        } else resolve({ form, name, stream })
      })
      parser.on('finish', () => refuse('No file was chosen.'))
      parser.on('error', (error: unknown) =>
        refuse(`The form cannot be read: ${String((error as Error).message)}.`),
      )
      source.on('error', reject)
      source.pipe(parser)
    } catch (error) {
      refuse(`The form cannot be read: ${(error as Error).message}.`)
    }
  })
}
