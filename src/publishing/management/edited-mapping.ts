import type { Diagnostic } from '../../mapping/diagnostic.ts'
import type { DatasetStatistics } from '../../model/dataset.ts'
import { readDefinition } from '../definition.ts'
import { checkMapping, mappingFile, proposedMapping } from '../mapping/mapping-file.ts'
import { StatisticsGatherer } from '../statistics.ts'
import { reading, sourceBytes } from './readings.ts'

/** Records from which a mapping is proposed. */
const EXAMINED = 1000

/** The mapping of a dataset as it is edited. */
export interface EditedMapping {
  readonly text: string
  /** True for a first mapping made of the fields, where the dataset has none of its own. */
  readonly isProposal: boolean
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Checks the saved mapping of a dataset, or proposes a first one. Faults: BadRequest for an unreadable source.
 *
 * @param root of a portal, or of a draft
 * @param published statistics of the version in force, which count more than those of the first records
 */
export async function editedMapping(
  root: string,
  base: string,
  id: string,
  published: DatasetStatistics | null,
): Promise<EditedMapping> {
  const saved = mappingFile(root, id)
  const { definition } = readDefinition(root, id)
  const { fields: previewed, records } = await reading(sourceBytes(root, id), 'previewDataset', [
    root,
    id,
    EXAMINED,
  ])
  const fields = previewed.map(({ field }) => field)
  if (saved !== null)
    return { text: saved.text, isProposal: false, ...checkMapping(saved, { id, base, fields }) }
  if (definition === null || fields.length === 0) return { text: '', isProposal: false, diagnostics: [] }
  const gatherer = new StatisticsGatherer(fields)
  for (const values of records) gatherer.add(values)
  const text = proposedMapping(definition, fields, published ?? gatherer.statistics())
  return { text, isProposal: true, diagnostics: [] }
}
