import type { Diagnostic } from '../../mapping/diagnostic.ts'
import { checkMapping, type MappingFile, type MappingTarget, type UsableMapping } from './mapping-file.ts'

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
