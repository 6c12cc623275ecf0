import { randomUUID } from 'node:crypto'
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { finished, type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { BAD_REQUEST, CONTENT_TOO_LARGE, Fault } from '../../errors/errors.ts'
import { type Definition, readDefinition } from '../definition.ts'
import { changedDefinition, type DefinitionChange } from '../edit-definition.ts'
import { asBadRequest, type ReplacedSource, understandFile } from './dataset-preview.ts'
import { type DatasetDraft, DEFINITION, definitionText, writeDefinition } from './drafts.ts'

/** An uploaded file under a safe name; see {@link uploadName}. */
export interface UploadedFile {
  readonly name: string
  readonly stream: Readable
  readonly isTruncated?: () => boolean
}

/**
 * Receives a file into a draft and makes it the source; returns its size, and the name under which it is stored. Faults: ContentTooLarge, BadRequest.
 *
 * @param limit maximum bytes
 * @param title of a dataset whose dataset.yaml is not written yet, if it has one already
 */
export async function receiveFile(
  draft: DatasetDraft,
  { name, stream, isTruncated }: UploadedFile,
  limit: number,
  title: string | undefined,
): Promise<{ readonly name: string; readonly bytes: number }> {
  const place = path.join(draft.root, 'uploads', randomUUID())
  mkdirSync(place, { recursive: true })
  let bytes = 0
  const counted = new Transform({
    transform(piece: Buffer, _, done) {
      bytes += piece.length
      if (bytes > limit) done(tooLarge(limit))
      else done(null, piece)
    },
  })
  try {
    finished(stream, error => error && counted.destroy(error))
    await pipeline(stream.pipe(counted), createWriteStream(path.join(place, name), { flush: true }))
    if (isTruncated?.() === true) throw tooLarge(limit)
    if (bytes === 0) throw new Fault(BAD_REQUEST, { reason: `The file ${name} is empty.` })
    return { name: await putInPlace(draft, place, name, title), bytes }
  } finally {
    // The rest of a refused file is dropped: a connection that is not read to the end is neither used again nor closed.
    stream.unpipe(counted).resume()
    rmSync(place, { recursive: true, force: true })
  }
}

/** Moves an uploaded file to its place, and returns its name there; a dataset without fields gets the inferred ones. */
async function putInPlace(
  draft: DatasetDraft,
  place: string,
  name: string,
  named: string | undefined,
): Promise<string> {
  const { id, folder, root } = draft
  const before = definitionText(draft)
  const isFirst = before.trim() === ''
  const definition = isFirst ? null : readDefinition(root, id).definition
  const { title, ...found } = await understandFile(place, name, root, replacedBy(definition))
  if (found.fields?.length === 0)
    throw new Fault(BAD_REQUEST, { reason: `The file ${name} has no records, so it has no fields.` })
  const isRecords = found.fields !== undefined
  const stored = unusedName(folder, name, definition?.remote === null ? definition.source.path : undefined)
  const metas = { default: { title: named ?? title, description: '' } }
  const change: DefinitionChange = {
    ...(isFirst ? { metas, visibility: 'public' as const } : {}),
    ...found,
    source: { path: stored },
    // Declared fields stay, and are matched with the new file; fields after steps are inferred at publication.
    fields:
      definition?.fields != null && isRecords
        ? undefined
        : (definition?.processors.length ?? 0) > 0
          ? null
          : (found.fields ?? null),
    ...(isRecords ? {} : { id: null, processors: null }),
  }
  const text = await asBadRequest(() => changedDefinition(before, change))
  renameSync(path.join(place, name), path.join(folder, stored))
  writeDefinition(draft, text)
  return stored
}

/** What a file replaces: the file of a definition, or of its address. */
function replacedBy(definition: Definition | null): ReplacedSource | null {
  if (definition?.source.options === undefined) return null
  // Steps have columns of their own.
  const fields = definition.processors.length > 0 ? null : definition.fields
  const columns = fields?.flatMap(({ name, from }) => from ?? name) ?? null
  const { options } = definition.source
  if (columns !== null) return { options, columns }
  // Without fields nothing shows whether the header is still where it was.
  const { header: _, delimiter: __, quote: ___, widths: ____, ...others } = options
  return { options: others, columns }
}

/** A name for an upload: only the source is replaced, no other file of the dataset, such as an attachment or what a step looks up. */
function unusedName(folder: string, name: string, source: string | undefined): string {
  const [ending] = /(?:\.[^.]*)?(?:\.gz)?$/i.exec(name) ?? ['']
  const stem = name.slice(0, name.length - ending.length)
  const replaced = source === undefined ? null : path.normalize(source)
  for (let number = 1; ; number++) {
    const found = number === 1 ? name : `${stem}-${number}${ending}`
    if (found === replaced || !existsSync(path.join(folder, found))) return found
  }
}

function tooLarge(limit: number): Fault {
  return new Fault(CONTENT_TOO_LARGE, {
    reason: `The file has more than ${limit} bytes, which is the limit of this portal (upload_limit).`,
  })
}

/** A safe file name for an upload: no path, and no special characters. */
export function uploadName(given: string): string {
  const last = given.replaceAll('\\', '/').split('/').at(-1) ?? ''
  const name = last
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._ ()-]/gu, '-')
    .replace(/^[.\s-]+/, '')
    .trim()
  if (name === '' || name.length > 120 || name.toLowerCase() === DEFINITION || /[. ]$/.test(name))
    throw new Fault(BAD_REQUEST, {
      reason: `${JSON.stringify(given.slice(0, 130))} is no name of a file to upload: letters, digits, dots, blanks, - and _ are expected, at most 120, and not dataset.yaml.`,
    })
  return name
}
