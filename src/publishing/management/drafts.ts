import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { BAD_REQUEST, CONFLICT, Fault } from '../../errors/errors.ts'
import { DATASET_ID } from '../definition.ts'
import { MAPPING_ENDINGS } from '../mapping/mapping-file.ts'
import { replaceDurably, synchronise } from '../versions/durable.ts'

/** What of a dataset is being changed and is not in the portal folder yet. */
export interface DatasetDraft {
  readonly id: string
  /** A folder with `data/{id}` and `mappings/`, as the portal has them: all that reads a portal reads it. */
  readonly root: string
  /** The folder of the dataset within it. */
  readonly folder: string
  /** ISO 8601 moment at which the files were taken, and who did so. */
  readonly begun: string
  readonly by: string | null
  /** Digest of dataset.yaml and mapping when they were taken: `none` for a dataset that there was not. */
  readonly taken: string
}

const NOTE = 'draft.json'
export const DEFINITION = 'dataset.yaml'

function rootOf(portal: string, id: string): string {
  if (!DATASET_ID.test(id))
    throw new Fault(BAD_REQUEST, {
      reason: `${JSON.stringify(id.slice(0, 110))} is no dataset id: lower-case letters, digits, - and _ are expected, at most 100.`,
    })
  return path.join(portal, 'var', 'drafts', id)
}

/** The ids of the datasets of which there is a draft. */
export function draftedDatasets(portal: string): readonly string[] {
  try {
    return readdirSync(path.join(portal, 'var', 'drafts')).filter(
      id => DATASET_ID.test(id) && existsSync(path.join(portal, 'var', 'drafts', id, NOTE)),
    )
  } catch {
    return []
  }
}

/** The draft of a dataset; null where there is none. */
export function findDraft(portal: string, id: string): DatasetDraft | null {
  const root = rootOf(portal, id)
  try {
    const note = JSON.parse(readFileSync(path.join(root, NOTE), 'utf8')) as Omit<
      DatasetDraft,
      'id' | 'root' | 'folder'
    >
    return { ...note, id, root, folder: path.join(root, 'data', id) }
  } catch {
    return null
  }
}

/**
 * The draft of a dataset, begun with the files of the portal folder where there is none: they get second names, so that nothing is
 * copied. Files of a draft are replaced and never written to.
 */
export function openDraft(portal: string, id: string, by: string | null, now: Date): DatasetDraft {
  const found = findDraft(portal, id)
  if (found !== null) return found
  const root = rootOf(portal, id)
  rmSync(root, { recursive: true, force: true })
  const folder = path.join(root, 'data', id)
  mkdirSync(folder, { recursive: true })
  mkdirSync(path.join(root, 'mappings'))
  // What was fetched from addresses stays where it is.
  symlinkSync(path.join(portal, 'var'), path.join(root, 'var'))
  const own = path.join(portal, 'data', id)
  if (existsSync(own)) shareFolder(own, folder)
  for (const file of mappingsOf(portal, id))
    copyFileSync(path.join(portal, 'mappings', file), path.join(root, 'mappings', file))
  const note = { begun: now.toISOString(), by, taken: stateOf(portal, id) }
  replaceDurably(path.join(root, NOTE), JSON.stringify(note))
  return { ...note, id, root, folder }
}

/** Forgets a draft; what lies in the portal folder stays. */
export function discardDraft(portal: string, id: string): void {
  rmSync(rootOf(portal, id), { recursive: true, force: true })
}

/**
 * Puts the files of a draft into the portal folder, dataset.yaml last and each in one step. Faults: Conflict where dataset.yaml or
 * the mapping were changed by hand since the draft was begun.
 */
export function applyDraft(portal: string, draft: DatasetDraft): void {
  const { id, root, folder, taken } = draft
  if (stateOf(portal, id) !== taken)
    throw new Fault(CONFLICT, {
      reason: `The files of ${id} were changed in the portal folder since this draft was begun. Discard the draft, and begin again with what is there now.`,
    })
  const own = path.join(portal, 'data', id)
  mkdirSync(own, { recursive: true })
  const names = filesIn(folder).filter(name => name !== DEFINITION)
  for (const name of names) moveFile(path.join(folder, name), path.join(own, name))
  const mappings = mappingsOf(root, id)
  if (mappings.length > 0) mkdirSync(path.join(portal, 'mappings'), { recursive: true })
  for (const name of mappings)
    moveFile(path.join(root, 'mappings', name), path.join(portal, 'mappings', name))
  for (const name of mappingsOf(portal, id))
    if (!mappings.includes(name)) rmSync(path.join(portal, 'mappings', name), { force: true })
  replaceDurably(path.join(own, DEFINITION), readFileSync(path.join(folder, DEFINITION), 'utf8'))
  synchronise(own)
  discardDraft(portal, id)
}

/** Identifies the state of the files of a dataset that may be edited by hand. */
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

/** Paths of the files of a folder and of those in it; links are left out. */
function filesIn(folder: string, within = ''): readonly string[] {
  return readdirSync(path.join(folder, within), { withFileTypes: true }).flatMap(entry => {
    const name = path.join(within, entry.name)
    if (entry.isDirectory()) return filesIn(folder, name)
    return entry.isFile() ? [name] : []
  })
}

function shareFolder(from: string, to: string): void {
  for (const name of filesIn(from)) {
    mkdirSync(path.dirname(path.join(to, name)), { recursive: true })
    try {
      linkSync(path.join(from, name), path.join(to, name))
    } catch {
      copyFileSync(path.join(from, name), path.join(to, name))
    }
  }
}

/** A file that two folders share is one file already. */
function moveFile(from: string, to: string): void {
  const [one, other] = [statSync(from), statSync(to, { throwIfNoEntry: false })]
  if (other !== undefined && one.ino === other.ino && one.dev === other.dev) return
  mkdirSync(path.dirname(to), { recursive: true })
  try {
    renameSync(from, to)
  } catch {
    copyFileSync(from, `${to}.new`)
    renameSync(`${to}.new`, to)
  }
}

/** The text of dataset.yaml of a draft; empty where there is none yet. */
export function definitionText({ folder }: DatasetDraft): string {
  const file = path.join(folder, DEFINITION)
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

export function writeDefinition({ folder }: DatasetDraft, text: string): void {
  const file = path.join(folder, DEFINITION)
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}
