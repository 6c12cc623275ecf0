import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { firstMapping } from '../../mapping/init.ts'
import { mappingKind } from '../../mapping/read.ts'
import type { DatasetStatistics } from '../../model/dataset.ts'
import type { Field } from '../../model/field.ts'
import type { Metas } from '../../model/metadata.ts'
import { DATASET_ID, type Definition } from '../definition.ts'
import { replaceDurably } from '../versions/durable.ts'
import { MAPPING_ENDINGS, mappingFile } from './mapping-file.ts'

/** The mapping of a dataset as an editor opens it. */
export interface OpenedMapping {
  readonly file: string
  /** null if the dataset has no mapping of its own. */
  readonly text: string | null
  /** Identifies this text for {@link saveMapping}. */
  readonly digest: string
}

/** The result of saving: a file that was changed since it was opened is left unchanged. */
export type SavedMapping =
  | { readonly type: 'saved' }
  | { readonly type: 'conflict' }
  /** The portal folder is not writable: with the error code of the system. */
  | { readonly type: 'unwritable'; readonly code: string }

/** Maximum backups of replaced mappings of a dataset. */
const MAX_BACKUPS = 20

/** Opens the mapping of a dataset for editing, or the path of the one that it does not have yet. */
export function openMapping(portal: string, dataset: string): OpenedMapping {
  if (!DATASET_ID.test(dataset)) throw new Error(`not the id of a dataset: ${dataset}`)
  const found = mappingFile(portal, dataset)
  const file = found?.file ?? path.join(portal, 'mappings', `${dataset}.yml`)
  const text = found?.text ?? null
  return { file, text, digest: text === null ? 'none' : createHash('sha256').update(text).digest('hex') }
}

/** The file in which a text is saved: the one that was opened, unless the text is in the other language, which has a file of its own. */
export function fileForText(file: string, text: string): string {
  const kind = mappingKind(text, file)
  if (kind === mappingKind('', file)) return file
  const ending = MAPPING_ENDINGS.find(each => file.endsWith(each)) ?? ''
  return `${file.slice(0, file.length - ending.length)}${kind === 'rml' ? '.rml.ttl' : '.yml'}`
}

/**
 * Saves the mapping of a dataset in one step, unless it was changed since it was opened. The previous text is stored in
 * var/mappings; a text in the other language replaces it in a file of its own. A running server finds the file and publishes it.
 *
 * @param opened digest of the text that was edited
 */
export function saveMapping(
  portal: string,
  dataset: string,
  text: string,
  opened: string,
  now: Date,
): SavedMapping {
  // From here to the end the code is synchronous: no other request of this process intervenes.
  const before = openMapping(portal, dataset)
  if (before.digest !== opened) return { type: 'conflict' }
  if (before.text === text) return { type: 'saved' }
  try {
    if (before.text !== null) keepBackup(portal, dataset, before.file, now)
    mkdirSync(path.dirname(before.file), { recursive: true })
    const file = fileForText(before.file, text)
    replaceDurably(file, text)
    if (file !== before.file) rmSync(before.file, { force: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return { type: 'unwritable', code }
  }
  return { type: 'saved' }
}

function keepBackup(portal: string, dataset: string, file: string, now: Date): void {
  const folder = path.join(portal, 'var', 'mappings', dataset)
  mkdirSync(folder, { recursive: true })
  const ending = path.basename(file).slice(dataset.length)
  copyFileSync(file, path.join(folder, `${now.toISOString().replaceAll(':', '-')}${ending}`))
  const old = readdirSync(folder).sort().slice(0, -MAX_BACKUPS)
  for (const name of old) rmSync(path.join(folder, name), { force: true })
}

/** A first mapping of a dataset, generated from its fields. */
export function proposedMapping(
  { id, identity, metas }: Pick<Definition, 'id' | 'identity' | 'metas'>,
  fields: readonly Field[],
  statistics: DatasetStatistics,
): string {
  return firstMapping({ id, fields, identity, statistics, language: languageOf(metas) })
}

/** The one language of a dataset, if its metadata declare it. */
function languageOf(metas: Metas): string | null {
  const described = metas.default?.language
  const only = Array.isArray(described) && described.length === 1 ? (described[0] as unknown) : described
  return typeof only === 'string' && /^[a-z]{2}$/.test(only) ? only : null
}
