import { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { FastifyRequest } from 'fastify'
import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import type { Form } from '../../http/form.ts'
import { lookup } from '../../model/lookup.ts'
import type { FieldEdit } from '../../publishing/edit-definition.ts'
import { METADATA, writtenValue } from './metadata.ts'

/** The fields of a form, in their order. */
export function formFields(form: Form): readonly FieldEdit[] {
  const fields: FieldEdit[] = []
  for (let at = 0; form.has(`name.${at}`); at++) {
    const name = form.get(`name.${at}`) ?? ''
    const given = (part: string) => form.get(`${part}.${at}`)?.trim() ?? ''
    const description = given('description')
    fields.push({
      name,
      type: given('type'),
      label: given('label') === '' || given('label') === name ? null : given('label'),
      description: description === '' ? null : description,
      annotations: { facet: form.has(`facet.${at}`) ? [] : null },
    })
  }
  if (fields.length === 0) throw new Fault(BAD_REQUEST, { reason: 'The form names no fields.' })
  return fields
}

/** Metadata and visibility of a form. */
export function describedBy(form: Form) {
  const metas: Record<string, Record<string, ReturnType<typeof writtenValue>>> = {}
  for (const field of METADATA) {
    const { template, name } = field
    const text = form.get(`${template}.${name}`)
    if (text === undefined) continue
    metas[template] = { ...lookup(metas, template), [name]: writtenValue(field, text) }
  }
  const visibility = form.get('visibility')
  if (visibility !== 'public' && visibility !== 'restricted') return { metas }
  return { metas, visibility } as const
}

/** The last step of an address, or its host. */
export function nameInAddress(url: string): string {
  if (!URL.canParse(url))
    throw new Fault(BAD_REQUEST, {
      reason: 'An address that begins with https://, http://, ftps:// or ftp:// is expected.',
    })
  const { pathname, hostname } = new URL(url)
  return pathname.split('/').findLast(step => step !== '') ?? hostname
}

/** An unused dataset id for a file. */
export function newId(name: string, taken: ReadonlySet<string>): string {
  const plain = name
    .replace(/^.*[\\/]/, '')
    .replace(/\..*$/, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 80)
  const first = plain === '' ? 'dataset' : plain
  for (let number = 1; ; number++) {
    const id = number === 1 ? first : `${first}-${number}`
    if (!taken.has(id)) return id
  }
}

/** A form with a file, of which the fields are read: the file streams. */
export interface UploadForm {
  readonly form: Form
  readonly name: string
  readonly stream: Readable
}

/** Maximum fields before the file, and bytes of each. */
const MAX_FIELDS = 20
const MAX_FIELD_BYTES = 4096

/**
 * Reads a form with one file (RFC 7578) up to the beginning of the file: the fields precede it, so that they are checked before any
 * byte of the file is stored. Faults: BadRequest for a form without a file or that cannot be parsed.
 */
export function readUpload({ headers, body }: FastifyRequest): Promise<UploadForm> {
  const source = body instanceof Readable ? body : Readable.from([])
  return new Promise((resolve, reject) => {
    const refuse = (reason: string) => {
      source.unpipe()
      source.resume()
      reject(new Fault(BAD_REQUEST, { reason }))
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
