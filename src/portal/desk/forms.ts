import { finished, PassThrough, Readable } from 'node:stream'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { FastifyRequest } from 'fastify'
import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import type { Form } from '../../http/form.ts'
import { LANGUAGES } from '../../model/language.ts'
import { lookup } from '../../model/lookup.ts'
import type { Metas, MetaValue } from '../../model/metadata.ts'
import { readableName } from '../../model/readable-name.ts'
import type { FieldEdit } from '../../publishing/edit-definition.ts'
import { messageKey } from '../../site/page-context.ts'

/** What the form of the fields has of one. */
export interface FormField {
  readonly name: string
  readonly type: string
  readonly label: string
  readonly description: string
  readonly isFacet: boolean
}

/** The change of a field that a form has. */
export function fieldEdit({ name, type, label, description, isFacet }: FormField): FieldEdit {
  const [called, described] = [label.trim(), description.trim()]
  return {
    name,
    type: type.trim(),
    label: called === '' || called === name ? null : called,
    description: described === '' ? null : described,
    annotations: { facet: isFacet ? [] : null },
  }
}

/** The fields of a form, in their order. */
export function formFields(form: Form): readonly FieldEdit[] {
  const fields: FieldEdit[] = []
  for (let at = 0; form.has(`name.${at}`); at++) {
    const given = (part: string) => form.get(`${part}.${at}`) ?? ''
    fields.push(
      fieldEdit({
        name: given('name'),
        type: given('type'),
        label: given('label'),
        description: given('description'),
        isFacet: form.has(`facet.${at}`),
      }),
    )
  }
  if (fields.length === 0) throw new Fault(BAD_REQUEST, { reason: 'The form names no fields.' })
  return fields
}

/** The metadata and the visibility that a form changes. @param saved as the form was made from it; lists stay lists */
export function describedBy(
  form: Form,
  saved: { readonly metas: Metas; readonly visibility?: string | undefined },
) {
  const metas: Record<string, Record<string, ReturnType<typeof writtenValue>>> = {}
  for (const field of METADATA) {
    const { template, name } = field
    const text = form.get(`${template}.${name}`)
    const before = lookup(lookup(saved.metas, template) ?? {}, name)
    if (text === undefined || text.replaceAll('\r\n', '\n').trim() === valueText(before).trim()) continue
    const kind = Array.isArray(before) ? 'list' : field.kind
    metas[template] = { ...lookup(metas, template), [name]: writtenValue({ kind }, text) }
  }
  const visibility = form.get('visibility')
  const isOther = visibility !== saved.visibility
  if (!isOther || (visibility !== 'public' && visibility !== 'restricted')) return { metas }
  return { metas, visibility } as const
}

/** The last step of an address, or its host. */
export function nameInAddress(url: string): string {
  if (!URL.canParse(url))
    throw new Fault(BAD_REQUEST, {
      reason: 'An address that begins with https://, http://, ftps:// or ftp:// is expected.',
    })
  const { pathname, hostname } = new URL(url)
  const last = pathname.split('/').findLast(step => step !== '')
  return last === undefined ? hostname : readableName(last)
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
 * byte of the file is stored. The stream of the file fails if the form ends in it, or if the request is cut off. Faults: BadRequest
 * for a form without a file, that cannot be parsed, or that ends before the file.
 */
export function readUpload({ headers, body }: FastifyRequest): Promise<UploadForm> {
  const source = body instanceof Readable ? body : Readable.from([])
  const file = new PassThrough()
  // Its reader learns that it failed; without a reader nobody has to.
  file.on('error', () => undefined)
  return new Promise((resolve, reject) => {
    const refuse = (reason: string) => {
      const fault = new Fault(BAD_REQUEST, { reason })
      source.unpipe()
      source.resume()
      file.destroy(fault)
      reject(fault)
    }
    try {
      const parser = new Busboy({
        headers: headers as BusboyHeaders,
        limits: { fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES, files: 1, parts: MAX_FIELDS + 1 },
      })
      const form = new Map<string, string>()
      let hasFile = false
      parser.on('field', (name: string, value: string) => form.set(name, value))
      parser.on('file', (_: string, stream: Readable, name: string | undefined) => {
        stream.on('error', () => refuse(CUT_OFF))
        if (name === undefined || name === '') {
          stream.resume()
          refuse('No file was chosen.')
          return
        }
        hasFile = true
        file.on('close', () => stream.resume())
        stream.pipe(file)
        // Browsers escape quotes of names, and only those and line ends (HTML, multipart form data).
        resolve({ form, name: name.replaceAll('%22', '"'), stream: file })
      })
      parser.on('finish', () => {
        if (!hasFile) refuse('No file was chosen.')
      })
      parser.on('error', (error: unknown) =>
        refuse(`The form cannot be read: ${String((error as Error).message)}.`),
      )
      // The end of a pipe is not the end of its parser if the client, or the time limit of requests, cuts the request off.
      finished(source, { writable: false }, error => {
        if (error != null) refuse(CUT_OFF)
      })
      source.pipe(parser)
    } catch (error) {
      refuse(`The form cannot be read: ${(error as Error).message}.`)
    }
  })
}

const CUT_OFF = 'The upload ended before its form was complete.'

/** A metadata field of the desk's form. */
export interface MetadataField {
  readonly template: 'default' | 'dcat'
  readonly name: string
  /** In English: it is translated for display. */
  readonly label: string
  readonly kind: 'text' | 'list'
  readonly isLong: boolean
  /** Values of the vocabularies of DCAT-AP that are offered; others can be entered. */
  readonly options: readonly string[]
}

/** The themes of the EU's data theme vocabulary (DCAT-AP). */
const THEMES = [
  'Agriculture, fisheries, forestry and food',
  'Economy and finance',
  'Education, culture and sport',
  'Energy',
  'Environment',
  'Government and public sector',
  'Health',
  'International issues',
  'Justice, legal system and public safety',
  'Population and society',
  'Regions and cities',
  'Science and technology',
  'Transport',
]

const LICENSES = [
  'CC0 1.0',
  'CC BY 4.0',
  'CC BY-SA 4.0',
  'Open Licence v2.0',
  'ODbL 1.0',
  'ODC-By 1.0',
  'PDDL 1.0',
]
const FREQUENCIES = 'CONT HOURLY DAILY WEEKLY MONTHLY QUARTERLY ANNUAL IRREG NEVER UNKNOWN'.split(' ')

function field(
  name: string,
  label: string,
  more: Partial<Pick<MetadataField, 'template' | 'kind' | 'isLong' | 'options'>> = {},
): MetadataField {
  return { template: 'default', name, label, kind: 'text', isLong: false, options: [], ...more }
}

export const METADATA: readonly MetadataField[] = [
  field('title', messageKey('Title')),
  field('description', messageKey('Description'), { isLong: true }),
  field('keyword', messageKey('Keyword'), { kind: 'list' }),
  field('theme', messageKey('Theme'), { kind: 'list', options: THEMES }),
  field('license', messageKey('Licence'), { options: LICENSES }),
  field('license_url', messageKey('Address of the licence')),
  field('publisher', messageKey('Publisher')),
  field('language', messageKey('Language'), { options: [...LANGUAGES].sort() }),
  field('accrualperiodicity', messageKey('Update frequency'), { template: 'dcat', options: FREQUENCIES }),
]

export function valueText(value: MetaValue | undefined): string {
  if (value === undefined || value === null) return ''
  return Array.isArray(value) ? value.join('; ') : String(value)
}

/** The value of an entered text; null if it is empty. */
export function writtenValue({ kind }: Pick<MetadataField, 'kind'>, text: string): MetaValue | null {
  const whole = text.replaceAll('\r\n', '\n').trim()
  if (whole === '') return null
  if (kind === 'text') return whole
  return whole
    .split(';')
    .map(part => part.trim())
    .filter(part => part !== '')
}
