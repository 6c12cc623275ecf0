import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import path from 'node:path'
import { type Diagnostic, hasErrors, withoutRepeats } from '../../mapping/diagnostic.ts'
import type { Mapping } from '../../mapping/ir.ts'
import { readMapping } from '../../mapping/read.ts'
import { validateMapping } from '../../mapping/validate.ts'
import { portalPrefixes } from '../../mapping/vocabulary.ts'
import type { DatasetStatistics } from '../../model/dataset.ts'
import type { Field } from '../../model/field.ts'
import { compileFor } from '../graphs/mapped-graphs.ts'

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

/** What a mapping is checked against: the fields that its references name. */
interface MappingTarget {
  readonly id: string
  readonly base: string
  readonly fields: readonly Field[]
  readonly statistics?: DatasetStatistics
}

/** Reads and checks a mapping. The mapping is null if it has an error; an exception of the reader is reported as an error too. */
export function checkMapping(
  { file, text }: MappingFile,
  dataset: MappingTarget,
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
    const place = { line: 1, column: 1, endLine: 1, endColumn: 1, path: '' }
    return { mapping: null, diagnostics: [{ code: 'unsupported', severity: 'error', message, place }] }
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
  dataset: MappingTarget,
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
  const place = { line: 1, column: 1, endLine: 1, endColumn: 1, path: '' }
  const message = 'The source of the dataset is RDF: it has triples and no records that could be mapped.'
  const hint = 'Remove the mapping: the triples are served as they are.'
  return {
    file: file.file,
    diagnostics: [{ code: 'unsupported', severity: 'error', message, place, hint }],
    kept: 'direct',
  }
}
