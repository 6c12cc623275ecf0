import { randomUUID } from 'node:crypto'
import { createWriteStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { finished, type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { LRUCache } from 'lru-cache'
import { BAD_REQUEST, CONTENT_TOO_LARGE, Fault, faultText } from '../../errors/errors.ts'
import { isOfRunningProcess, PROCESS_NAME } from '../../runtime/processes.ts'
import type { Inspection } from '../../sources/inspect.ts'
import { type Definition, readDefinition } from '../definition.ts'
import { changedDefinition, type DefinitionChange } from '../edit-definition.ts'
import { refreshRemote } from '../remote/refresh.ts'
import { remoteFolder, remoteState } from '../remote/state.ts'
import { synchronise } from '../versions/durable.ts'
import { lastChange } from '../versions/versions.ts'
import { asBadRequest, type inspectDataset, type ReplacedSource, type Suggestion } from './dataset-preview.ts'
import { type DatasetDraft, DEFINITION, definitionText, findDraft, writeDefinition } from './drafts.ts'
import { reading, sourceBytes, textBytes } from './readings.ts'
import { refuseOtherCredentials } from './source-credentials.ts'

/** An uploaded file under a safe name; see {@link uploadName}. */
export interface UploadedFile {
  readonly name: string
  readonly stream: Readable
  readonly isTruncated?: () => boolean
  /** Gives the upload up, and leaves the draft as it was. */
  readonly signal?: AbortSignal
}

/** The dataset that an upload is for. */
interface UploadTarget {
  readonly portal: string
  readonly id: string
  readonly open: () => DatasetDraft
}

/** A file as it was stored, with its size and how it may be read better. */
export interface ReceivedFile {
  readonly name: string
  readonly bytes: number
  readonly suggestions: readonly Suggestion[]
}

/** The folder in which files arrive: drafts may be published or discarded meanwhile. */
const folderOf = (portal: string) => path.join(portal, 'var', 'uploads')

/** Removes files that were arriving when their process died. */
export function removeCutOffUploads(portal: string): void {
  const folder = folderOf(portal)
  try {
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const place = path.join(folder, name)
      if (!isOfRunningProcess(name, lastChange(place))) rmSync(place, { recursive: true, force: true })
    }
  } catch {
    // A read-only folder keeps them.
  }
}

/**
 * Receives a file and makes it the source of the draft of a dataset. Faults: ContentTooLarge, BadRequest.
 *
 * @param target its member `open` creates the draft if there is none, and is called when the file is not refused
 * @param limit maximum bytes
 */
export async function receiveFile(
  { portal, id, open }: UploadTarget,
  { name, stream, isTruncated, signal }: UploadedFile,
  limit: number,
): Promise<ReceivedFile> {
  const place = path.join(folderOf(portal), `${PROCESS_NAME}-${randomUUID()}`)
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
    return { bytes, ...(await putInPlace({ portal, id, open }, place, name, signal)) }
  } finally {
    // The rest of a refused file is dropped: a connection that is not read to the end is neither used again nor closed.
    stream.unpipe(counted).resume()
    rmSync(place, { recursive: true, force: true })
  }
}

/** Moves an uploaded file to its place, and returns its name there with suggestions; a dataset without fields gets the inferred ones. */
async function putInPlace(
  target: UploadTarget,
  place: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Omit<ReceivedFile, 'bytes'>> {
  const { portal, id, open } = target
  const { root = portal, title: named } = findDraft(portal, id) ?? {}
  const folder = path.join(root, 'data', id)
  const before = definitionText({ folder })
  const isFirst = before.trim() === ''
  const definition = isFirst ? null : readDefinition(root, id).definition
  const replaced = replacedBy(definition)
  const { title, suggestions, ...found } = await reading(
    textBytes(path.join(place, name)),
    'understandFile',
    [place, name, root, replaced],
    signal,
  )
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
  // It was changed, published or discarded while the file was read. A draft that is begun is written at once: no other upload is in it.
  const now = path.join(findDraft(portal, id)?.root ?? portal, 'data', id)
  if (definitionText({ folder: now }) !== before) return putInPlace(target, place, name, signal)
  const draft = open()
  writeDefinition(draft, text)
  renameSync(path.join(place, name), path.join(draft.folder, stored))
  synchronise(draft.folder)
  return { name: stored, suggestions }
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

/** Fetches the data of drafts whose addresses were never fetched, so that there is a preview before publication. */
export class FirstFetch {
  private readonly portal: string
  private readonly now: () => number
  private readonly running = new Map<string, Promise<void>>()

  /** @param now milliseconds since 1970 */
  constructor(portal: string, now: () => number) {
    this.portal = portal
    this.now = now
  }

  /**
   * Resolves when a dataset has data, or needs none from an address. Faults: BadRequest, with the reason, if the address cannot
   * be fetched, or if a draft sends credentials that it may not send; after a failure it is retried when due, or immediately.
   *
   * @param root of the portal, or of a draft
   */
  async ensure(root: string, id: string, isAtOnce: boolean): Promise<void> {
    const definition = readDefinition(root, id).definition
    const remote = definition?.remote ?? null
    if (definition === null || remote === null) return
    if (root !== this.portal) refuseOtherCredentials(this.portal, id, definition.text)
    const state = remoteState(this.portal, id)
    // The data of another address remain in force until the draft is published.
    if (state?.file !== undefined) return
    const isBeforeRetry = state?.url === remote.url && Date.parse(state.next ?? '') > this.now()
    if (!isAtOnce && isBeforeRetry)
      throw new Fault(BAD_REQUEST, { reason: state.reason ?? 'The address cannot be fetched.' })
    const running = this.running.get(id) ?? this.begin(id, remote)
    try {
      await running
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      throw new Fault(BAD_REQUEST, { reason: faultText(error) })
    }
  }

  /** Removes the fetched data of a dataset that no longer exists. */
  forget(id: string): void {
    if (existsSync(path.join(this.portal, 'data', id, DEFINITION))) return
    rmSync(remoteFolder(this.portal, id), { recursive: true, force: true })
  }

  private begin(id: string, remote: Parameters<typeof refreshRemote>[2]): Promise<void> {
    const moment = () => new Date(this.now())
    const fetching = refreshRemote(this.portal, id, remote, { now: moment, isForced: true }).finally(() =>
      this.running.delete(id),
    )
    this.running.set(id, fetching)
    return fetching
  }
}

type Options = Parameters<typeof inspectDataset>[2]

/** Maximum inspections that are remembered, and for how many milliseconds. */
const MAX_CACHED = 20
const LIFE = 10 * 60_000

/** Inspections of sources, each of which reads a whole file: one of the same file with the same options is done once. */
export class Inspections {
  private readonly cached: LRUCache<string, Promise<Inspection>>

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
    this.cached = new LRUCache({ max: MAX_CACHED, ttl: LIFE, ttlResolution: 0, perf: { now } })
  }

  /** See {@link inspectDataset}. */
  inspect(root: string, id: string, how: Options): Promise<Inspection> {
    const key = keyOf(root, id, how)
    const known = key === null ? undefined : this.cached.get(key)
    if (known !== undefined) return known
    const inspection = reading(sourceBytes(root, id), 'inspectDataset', [root, id, how])
    if (key === null) return inspection
    this.cached.set(key, inspection)
    inspection.catch(() => this.cached.delete(key))
    return inspection
  }
}

/** Identifies a file by place, size, time and inode, with the options of reading; null for what is no file of the dataset. */
function keyOf(root: string, id: string, how: Options): string | null {
  const { definition } = readDefinition(root, id)
  if (definition?.source.path === undefined) return null
  const file = path.join(definition.sourceFolder, definition.source.path)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) return null
  return JSON.stringify([file, found.size, found.mtimeMs, found.ino, how])
}
