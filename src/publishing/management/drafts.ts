import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import path from 'node:path'
import { BAD_REQUEST, CONFLICT, Fault } from '../../errors/errors.ts'
import { lookup } from '../../model/lookup.ts'
import { DATASET_ID } from '../definition.ts'
import { MAPPING_ENDINGS, openMapping } from '../mapping/mapping-file.ts'
import { replaceDurably, requireWritable, shareFile, synchronise, writeDurably } from '../versions/durable.ts'
import { EDIT_CONFLICT } from './desk-types.ts'

/** The changes of a dataset that are not in the portal folder yet. */
export interface DatasetDraft {
  readonly id: string
  /** A folder with `data/{id}` and `mappings/` in the layout of a portal: all code that reads a portal can read it. */
  readonly root: string
  /** The folder of the dataset within it. */
  readonly folder: string
  /** ISO 8601 moment at which the draft was created, and its creator. */
  readonly begun: string
  readonly by: string | null
  /** Digest of dataset.yaml and mapping at that moment: `none` for a dataset that did not exist. */
  readonly taken: string
  /** The title of a dataset whose dataset.yaml is not written yet, if it was given one. */
  readonly title?: string
  /** By name of a file of data/ that the draft began with: the state of that file, and of the file in the draft. */
  readonly shared?: Readonly<Record<string, readonly [own: string, drafted: string]>>
}

const NOTE = 'draft.json'
/** In a draft whose files are being put in place. */
const APPLYING = 'applying'
/** The folder var as seen from a draft: a portal may be moved. */
const VAR = path.join('..', '..')
export const DEFINITION = 'dataset.yaml'

function rootOf(portal: string, id: string): string {
  if (!DATASET_ID.test(id))
    throw new Fault(BAD_REQUEST, {
      reason: `${JSON.stringify(id.slice(0, 110))} is no dataset id: lower-case letters, digits, - and _ are expected, at most 100.`,
    })
  return path.join(portal, 'var', 'drafts', id)
}

/** The ids of the datasets with a draft. */
export function draftedDatasets(portal: string): readonly string[] {
  try {
    return readdirSync(path.join(portal, 'var', 'drafts')).filter(
      id => DATASET_ID.test(id) && existsSync(path.join(portal, 'var', 'drafts', id, NOTE)),
    )
  } catch {
    return []
  }
}

/** The draft of a dataset; null if there is none. */
export function findDraft(portal: string, id: string): DatasetDraft | null {
  const root = rootOf(portal, id)
  try {
    const note = JSON.parse(readFileSync(path.join(root, NOTE), 'utf8')) as Omit<
      DatasetDraft,
      'id' | 'root' | 'folder'
    >
    linkFetched(root)
    return { ...note, id, root, folder: path.join(root, 'data', id) }
  } catch {
    return null
  }
}

/** What is fetched stays where it is: a link leads there, which a draft of a back-up lacks, or has in another form. */
function linkFetched(root: string): void {
  const link = path.join(root, 'var')
  try {
    if (readlinkSync(link) === VAR) return
  } catch {
    // It is missing, or a folder.
  }
  rmSync(link, { recursive: true, force: true })
  symlinkSync(VAR, link)
}

/**
 * The draft of a dataset, created from the files of the portal folder if there is none: files of its data folder are hard links, so
 * that data are not copied. Files of a draft are replaced, never modified in place.
 */
export function openDraft(
  portal: string,
  id: string,
  by: string | null,
  now: Date,
  title?: string,
): DatasetDraft {
  const found = findDraft(portal, id)
  if (found !== null) return found
  const root = rootOf(portal, id)
  rmSync(root, { recursive: true, force: true })
  const folder = path.join(root, 'data', id)
  mkdirSync(folder, { recursive: true })
  mkdirSync(path.join(root, 'mappings'))
  linkFetched(root)
  const own = path.join(portal, 'data', id)
  const shared = existsSync(own) ? shareFolder(own, folder) : {}
  for (const file of mappingsOf(portal, id))
    copyFileSync(path.join(portal, 'mappings', file), path.join(root, 'mappings', file))
  const note = {
    begun: now.toISOString(),
    by,
    taken: stateOf(portal, id),
    shared,
    ...(title === undefined ? {} : { title }),
  }
  replaceDurably(path.join(root, NOTE), JSON.stringify(note))
  return { ...note, id, root, folder }
}

/** Discards a draft; the portal folder is unchanged. Without its note, which goes first, the rest is none. */
export function discardDraft(portal: string, id: string): void {
  const root = rootOf(portal, id)
  rmSync(path.join(root, NOTE), { force: true })
  rmSync(root, { recursive: true, force: true })
}

/** Completes what was cut off while the files of drafts were put in place: new data must not be served as an old dataset.yaml says. */
export function completeDrafts(portal: string): void {
  for (const id of draftedDatasets(portal)) {
    const draft = findDraft(portal, id)
    if (draft === null || !existsSync(path.join(draft.root, APPLYING))) continue
    try {
      applyDraft(portal, draft)
    } catch {
      // It stays a draft, which can be published again.
    }
  }
}

/**
 * Puts the files of a draft into the portal folder, dataset.yaml last and each in one step. A file that only the portal folder has in
 * another state stays there. Faults: Conflict if dataset.yaml or the mapping were changed by hand after the draft was created, or
 * a file was changed both by hand and in the draft.
 */
export function applyDraft(portal: string, draft: DatasetDraft): void {
  const { id, root, folder, taken } = draft
  const own = path.join(portal, 'data', id)
  const names = filesIn(folder).filter(name => name !== DEFINITION)
  const states = names.map(name => changeOf(name, draft, own))
  const begun = path.join(root, APPLYING)
  if ((stateOf(portal, id) !== taken && !existsSync(begun)) || states.includes('both'))
    throw new Fault(CONFLICT, {
      reason: `The files of ${id} were changed in the portal folder since this draft was begun. Discard the draft, and begin again with what is there now.`,
    })
  requireWritable(existsSync(own) ? own : path.join(portal, 'data'))
  writeDurably(begun, '')
  try {
    putInPlace(
      portal,
      draft,
      names.filter((_, at) => states[at] !== 'by hand'),
    )
  } catch (error) {
    // What is there by now is no change by hand; where a full disk takes no note of that, the draft stays one that is being applied.
    const { id: _, root: __, folder: ___, ...note } = draft
    replaceDurably(path.join(root, NOTE), JSON.stringify({ ...note, taken: stateOf(portal, id) }))
    rmSync(begun)
    throw error
  }
  discardDraft(portal, id)
}

function putInPlace(portal: string, { id, root, folder }: DatasetDraft, names: readonly string[]): void {
  const own = path.join(portal, 'data', id)
  mkdirSync(own, { recursive: true })
  for (const name of names) replaceFile(path.join(folder, name), path.join(own, name))
  const mappings = mappingsOf(root, id)
  if (mappings.length > 0) mkdirSync(path.join(portal, 'mappings'), { recursive: true })
  for (const name of mappings)
    replaceFile(path.join(root, 'mappings', name), path.join(portal, 'mappings', name))
  for (const name of mappingsOf(portal, id))
    if (!mappings.includes(name)) rmSync(path.join(portal, 'mappings', name), { force: true })
  replaceDurably(path.join(own, DEFINITION), readFileSync(path.join(folder, DEFINITION), 'utf8'))
  synchronise(own)
}

/** Where a file of a draft differs from that of data/ since the draft was begun. */
function changeOf(
  name: string,
  { folder, shared }: DatasetDraft,
  own: string,
): 'in the draft' | 'by hand' | 'both' {
  const [drafted, there] = [fileState(path.join(folder, name)), fileState(path.join(own, name))]
  if (shared === undefined || there === null || isSameState(there, drafted)) return 'in the draft'
  const [begun, copy] = lookup(shared, name) ?? [null, null]
  if (isSameState(drafted, copy)) return 'by hand'
  return isSameState(there, begun) ? 'in the draft' : 'both'
}

/** Identifies the state of a file without reading it, also after a back-up was restored; null where there is none. */
function fileState(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? null : `${found.size}-${found.mtimeMs}`
}

/** Milliseconds by which the time of a restored file may differ. */
const TIME_PRECISION = 2

/** True for equal states; those of earlier releases begin with numbers of the disk. */
function isSameState(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return one === other
  const numbersOf = (state: string) => state.split('-').slice(-2).map(Number)
  const [[size, time = Number.NaN], [otherSize, otherTime = Number.NaN]] = [numbersOf(one), numbersOf(other)]
  return size === otherSize && Math.abs(time - otherTime) < TIME_PRECISION
}

/** Identifies the state of the files of a dataset that can be edited by hand. */
function stateOf(portal: string, id: string): string {
  const files = [
    path.join(portal, 'data', id, DEFINITION),
    ...mappingsOf(portal, id).map(name => path.join(portal, 'mappings', name)),
  ]
  const texts = files.flatMap(file =>
    existsSync(file) ? [[path.basename(file), readFileSync(file, 'utf8')]] : [],
  )
  return texts.length === 0 ? 'none' : createHash('sha256').update(JSON.stringify(texts)).digest('hex')
}

function mappingsOf(root: string, id: string): readonly string[] {
  return MAPPING_ENDINGS.map(ending => `${id}${ending}`).filter(name =>
    existsSync(path.join(root, 'mappings', name)),
  )
}

/** Paths of the files of a folder and its subfolders; links are left out. */
function filesIn(folder: string, within = ''): readonly string[] {
  return readdirSync(path.join(folder, within), { withFileTypes: true }).flatMap(entry => {
    const name = path.join(within, entry.name)
    if (entry.isDirectory()) return filesIn(folder, name)
    return entry.isFile() ? [name] : []
  })
}

/** Links the files of a folder into another; returns the states of both by name ({@link DatasetDraft.shared}). */
function shareFolder(from: string, to: string): Readonly<Record<string, readonly [string, string]>> {
  const shared: [string, readonly [string, string]][] = []
  for (const name of filesIn(from)) {
    const [own, drafted] = [path.join(from, name), path.join(to, name)]
    mkdirSync(path.dirname(drafted), { recursive: true })
    shareFile(own, drafted)
    shared.push([name, [fileState(own) ?? '', fileState(drafted) ?? '']])
  }
  return Object.fromEntries(shared)
}

/** A hard link in both folders is already the same file. The draft keeps its own: if the process dies, it can be applied again. */
function replaceFile(from: string, to: string): void {
  const [one, other] = [statSync(from), statSync(to, { throwIfNoEntry: false })]
  if (other !== undefined && one.ino === other.ino && one.dev === other.dev) return
  mkdirSync(path.dirname(to), { recursive: true })
  rmSync(`${to}.new`, { force: true })
  shareFile(from, `${to}.new`)
  renameSync(`${to}.new`, to)
}

/** A text of a dataset that forms edit. */
export type EditedPart = 'definition' | 'mapping'

/** Identifies a text of a dataset: `none` if there is none. @param root of a portal, or of a draft */
export function editedDigest(root: string, id: string, part: EditedPart): string {
  if (part === 'mapping') return openMapping(root, id).digest
  const text = definitionText({ folder: path.join(root, 'data', id) })
  return text === '' ? 'none' : createHash('sha256').update(text).digest('hex')
}

/** Throws if a part was changed since a form was made from it. Faults: EditConflict. @param opened digest of the text of the form */
export function refuseOutdated(root: string, id: string, part: EditedPart, opened: string | undefined): void {
  if (opened !== undefined && opened !== editedDigest(root, id, part))
    throw new Fault(EDIT_CONFLICT, { what: part, id })
}

/** The text of dataset.yaml of a draft; empty if there is none yet. */
export function definitionText({ folder }: Pick<DatasetDraft, 'folder'>): string {
  const file = path.join(folder, DEFINITION)
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

export function writeDefinition({ folder }: DatasetDraft, text: string): void {
  replaceDurably(path.join(folder, DEFINITION), text)
}

/** Why a dataset whose dataset.yaml is not written yet is not published. */
export const noSource = (id: string) => `The dataset ${id} has no source yet: upload a file first.`
