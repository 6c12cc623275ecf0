import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import type { Attachment, Dataset } from '../model/dataset.ts'
import { lookup } from '../model/lookup.ts'
import { words } from '../model/words.ts'

/** An open attachment: read its content, or close it. */
export interface OpenAttachment {
  readonly name: string
  readonly bytes: number
  /** Identifies the content: it changes with the size and the modification time. */
  readonly version: string
  /** The bytes; reading them to the end, or destroying the stream, closes the file. */
  content(): Readable
  close(): Promise<void>
}

/** An attachment as declared in dataset.yaml. */
interface NamedFile {
  readonly path: string
  readonly title?: string | undefined
  readonly mimetype?: string | undefined
}

/** Media types by file extension, for attachments that declare none. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  geojson: 'application/geo+json',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odt: 'application/vnd.oasis.opendocument.text',
  pdf: 'application/pdf',
  png: 'image/png',
  rdf: 'application/rdf+xml',
  svg: 'image/svg+xml',
  ttl: 'text/turtle',
  txt: 'text/plain',
  webp: 'image/webp',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  zip: 'application/zip',
}

/** The attachments of a dataset with their ids: the file name, with a number appended if an earlier one has the same id. */
export function describeAttachments(files: readonly NamedFile[]): readonly Attachment[] {
  const taken = new Set<string>()
  return files.map(({ path: file, title, mimetype }) => {
    const name = path.basename(file)
    const plain = name.replaceAll('.', '_').toLowerCase()
    let id = plain
    for (let number = 2; taken.has(id); number++) id = `${plain}_${number}`
    taken.add(id)
    const ending = path.extname(name).slice(1).toLowerCase()
    const known = lookup(MEDIA_TYPES, ending)
    return {
      id,
      title: title ?? name,
      mimetype: mimetype ?? known ?? 'application/octet-stream',
      path: file,
    }
  })
}

/** The attachment of a dataset by id; undefined if there is none. */
export function attachmentNamed(dataset: Dataset, id: string): Attachment | undefined {
  return dataset.attachments.find(attachment => attachment.id === id)
}

/**
 * Opens the file of an attachment. Null if there is no readable file, or if its path, or a link on the way to it, leaves the
 * folder of the dataset: no other file of the machine is ever served.
 */
export async function openAttachment(
  portal: string,
  dataset: Pick<Dataset, 'id'>,
  attachment: Attachment,
): Promise<OpenAttachment | null> {
  try {
    const file = await fileWithin(path.join(portal, 'data', dataset.id), attachment.path)
    return file === null ? null : await openFile(file)
  } catch (error) {
    if (UNREADABLE.has(String((error as NodeJS.ErrnoException).code))) return null
    throw error
  }
}

/** Error codes of paths that name no readable file. */
const UNREADABLE: ReadonlySet<string> = new Set(
  words('EACCES EISDIR ELOOP ENAMETOOLONG ENOENT ENOTDIR ENXIO EPERM ERR_INVALID_ARG_VALUE'),
)

/** The real path of the file, with all links resolved; null if it is not below the folder. */
async function fileWithin(folder: string, relative: string): Promise<string | null> {
  const named = path.resolve(folder, relative)
  if (path.isAbsolute(relative) || !isBelow(path.resolve(folder), named)) return null
  const [home, file] = await Promise.all([realpath(folder), realpath(named)])
  return isBelow(home, file) ? file : null
}

function isBelow(folder: string, file: string): boolean {
  const relative = path.relative(folder, file)
  return (
    relative !== '' &&
    relative !== '..' &&
    !relative.startsWith(`..${path.sep}`) &&
    !path.isAbsolute(relative)
  )
}

/** Links are resolved before the file is opened; pipes and devices are no files, and opening them does not block. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

async function openFile(file: string): Promise<OpenAttachment | null> {
  const handle = await open(file, READ_ONLY)
  try {
    const { size, mtimeNs, isFile } = await stateOf(handle)
    if (isFile) return opened(handle, path.basename(file), size, mtimeNs)
  } catch (error) {
    await handle.close()
    throw error
  }
  await handle.close()
  return null
}

async function stateOf(handle: FileHandle) {
  const state = await handle.stat({ bigint: true })
  return { size: Number(state.size), mtimeNs: state.mtimeNs, isFile: state.isFile() }
}

function opened(handle: FileHandle, name: string, bytes: number, mtimeNs: bigint): OpenAttachment {
  return {
    name,
    bytes,
    version: `${bytes}-${mtimeNs}`,
    close: () => handle.close(),
    // The content length is already sent: bytes that are appended meanwhile are not part of this response.
    content: () =>
      bytes === 0 ? emptied(handle) : handle.createReadStream({ start: 0, end: bytes - 1, autoClose: true }),
  }
}

function emptied(handle: FileHandle): Readable {
  return new Readable({
    read() {
      this.push(null)
    },
    destroy(error, done) {
      handle.close().then(
        () => done(error),
        (failure: Error) => done(error ?? failure),
      )
    },
  })
}
