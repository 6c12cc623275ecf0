import { createHash } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
} from 'node:fs'
import path from 'node:path'
import {
  type Diagnostic,
  DOCUMENT_START,
  diagnosticOf,
  hasErrors,
  withoutRepeats,
} from '../../mapping/diagnostic.ts'
import { firstMapping } from '../../mapping/init.ts'
import type { Mapping } from '../../mapping/ir.ts'
import { mappingKind, portalPrefixes, readMapping } from '../../mapping/read.ts'
import { type MappedDataset, validateMapping } from '../../mapping/validate.ts'
import type { DatasetStatistics } from '../../model/dataset.ts'
import type { Field } from '../../model/field.ts'
import type { Metas } from '../../model/metadata.ts'
import { DATASET_ID, type Definition } from '../definition.ts'
import { compileFor } from '../graphs/mapped-graphs.ts'
import { replaceDurably } from '../versions/durable.ts'

/** A dataset's own mapping in the portal folder (docs/portal.md). */
export interface MappingFile {
  readonly file: string
  readonly text: string
}

/** A valid mapping with the meaning of its text. */
export interface UsableMapping extends MappingFile {
  readonly mapping: Mapping
}

/** Extensions of mapping files, the preferred first: YARRRML, and RML in Turtle. */
export const MAPPING_ENDINGS = ['.yml', '.yaml', '.rml.ttl', '.ttl'] as const

/** Maximum length that is read of a file: the reader refuses the truncated text as too large. */
const MAX_LENGTH = 2 ** 21

/** The mapping of a dataset; null if it has none of its own. */
export function mappingFile(portal: string, dataset: string): MappingFile | null {
  const [file] = mappingFiles(portal, dataset)
  return file === undefined ? null : { file, text: beginning(file) }
}

/** The files that could be the mapping of a dataset: only the first is used. */
export function mappingFiles(portal: string, dataset: string): readonly string[] {
  return MAPPING_ENDINGS.map(ending => path.join(portal, 'mappings', `${dataset}${ending}`)).filter(file =>
    existsSync(file),
  )
}

/** Files in mappings/ that belong to none of the datasets. */
export function unusedMappings(portal: string, datasets: readonly string[]): readonly string[] {
  const folder = path.join(portal, 'mappings')
  if (!existsSync(folder)) return []
  const own = new Set(datasets.flatMap(id => MAPPING_ENDINGS.map(ending => `${id}${ending}`)))
  return readdirSync(folder)
    .filter(name => MAPPING_ENDINGS.some(ending => name.endsWith(ending)) && !own.has(name))
    .sort()
    .map(name => path.join(folder, name))
}

/** Reports that a file is not the mapping of its dataset, because another one is. */
export function ignoredMappingText(file: string, used: string): string {
  return `${file} is ignored: ${used} is the mapping of the dataset`
}

function beginning(file: string): string {
  const handle = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(MAX_LENGTH)
    let length = 0
    for (let read = -1; read !== 0 && length < MAX_LENGTH; length += read)
      read = readSync(handle, bytes, length, MAX_LENGTH - length, null)
    return bytes.toString('utf8', 0, length)
  } finally {
    closeSync(handle)
  }
}

/** Reads and checks a mapping. The mapping is null if it has an error; an exception of the reader is reported as an error too. */
export function checkMapping(
  { file, text }: MappingFile,
  dataset: MappedDataset,
): { readonly mapping: Mapping | null; readonly diagnostics: readonly Diagnostic[] } {
  try {
    const { mapping, diagnostics } = readMapping(text, path.basename(file), {
      prefixes: portalPrefixes(dataset.base, dataset.id),
    })
    if (mapping === null) return { mapping, diagnostics: withoutRepeats(diagnostics) }
    const all = withoutRepeats([...diagnostics, ...validateMapping(mapping, dataset)])
    if (!hasErrors(all)) compileFor(mapping, { ...dataset, dataset: dataset.id })
    return { mapping: hasErrors(all) ? null : mapping, diagnostics: all }
  } catch (error) {
    const message = `The mapping cannot be read: ${String((error as Error).message).slice(0, 300)}`
    return { mapping: null, diagnostics: [diagnosticOf('unsupported', DOCUMENT_START, message)] }
  }
}

/** A mapping that is not used, and what remains in force instead. */
export interface MappingRefusal {
  readonly file: string
  readonly diagnostics: readonly Diagnostic[]
  /** The previous mapping, the direct mapping, or the whole version if the previous mapping is no longer valid either. */
  readonly kept: 'previous' | 'direct' | 'version'
}

/** The mapping from which a version is built. */
export interface ChosenMapping {
  /** null for the direct mapping. */
  readonly mapping: UsableMapping | null
  readonly refusal: MappingRefusal | null
  /** Further diagnostics of the mapping. */
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Chooses between the mapping in the portal folder and the last valid one: an error leaves the previous mapping in
 * force (Mapping 4.1).
 *
 * @param file the mapping file; null for none, which selects the direct mapping
 * @param before the mapping of the version in force
 */
export function chooseMapping(
  file: MappingFile | null,
  before: UsableMapping | null,
  dataset: MappedDataset,
): ChosenMapping {
  if (file === null) return { mapping: null, refusal: null, diagnostics: [] }
  const { mapping, diagnostics } = checkMapping(file, dataset)
  if (mapping !== null) return { mapping: { ...file, mapping }, refusal: null, diagnostics }
  const refuse = (kept: MappingRefusal['kept']) => ({ file: file.file, diagnostics, kept })
  if (before === null) return { mapping: null, refusal: refuse('direct'), diagnostics: [] }
  const again = before.text === file.text ? null : checkMapping(before, dataset).mapping
  return {
    mapping: again === null ? before : { ...before, mapping: again },
    refusal: refuse(again === null ? 'version' : 'previous'),
    diagnostics: [],
  }
}

/** An RDF file has no records that could be mapped. */
export function refuseForRdf(file: MappingFile | null): MappingRefusal | null {
  if (file === null) return null
  const message = 'The source of the dataset is RDF: it has triples and no records that could be mapped.'
  const hint = 'Remove the mapping: the triples are served as they are.'
  const diagnostics = [diagnosticOf('unsupported', DOCUMENT_START, message, hint)]
  return { file: file.file, diagnostics, kept: 'direct' }
}

/** The mapping of a dataset as an editor opens it. */
export interface OpenedMapping {
  readonly file: string
  /** null if the dataset has no mapping of its own. */
  readonly text: string | null
  /** Identifies this text for {@link saveMapping}. */
  readonly digest: string
}

/** The result of saving: a file that was changed since it was opened is left unchanged. */
type SavedMapping =
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
