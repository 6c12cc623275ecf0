import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import path from 'node:path'
import { DATASET_ID, definedDatasets, readDefinition } from '../definition.ts'
import { openMapping } from '../mapping/mapping-edit.ts'
import { currentManifest, isWithdrawn } from '../versions/versions.ts'
import type { DeskDataset, DeskOptions } from './desk-types.ts'
import { DEFINITION, draftedDatasets, findDraft } from './drafts.ts'

/** The ids that no new dataset can have: also those of data without dataset.yaml, which are published all the same. */
export function takenIds(portal: string): ReadonlySet<string> {
  return new Set([...dataFolders(portal), ...definedDatasets(portal), ...draftedDatasets(portal)])
}

/** True for a dataset with a dataset.yaml or a draft: files without a description cannot be edited at the desk. */
export function isAtDesk(portal: string, id: string): boolean {
  if (!DATASET_ID.test(id)) return false
  return existsSync(path.join(portal, 'data', id, DEFINITION)) || findDraft(portal, id) !== null
}

/** A dataset as publishers see it. @param named title of a dataset whose dataset.yaml is not written yet */
export function describeDataset(
  { portal, versions }: Pick<DeskOptions, 'portal' | 'versions'>,
  id: string,
  named: string | undefined,
): DeskDataset {
  const manifest = currentManifest(versions, id)
  const draft = findDraft(portal, id)
  const isDefined = existsSync(path.join(portal, 'data', id, DEFINITION))
  const { definition } = readDefinition(draft?.root ?? portal, id)
  const title = definition?.metas.default?.title
  return {
    id,
    title: typeof title === 'string' && title !== '' ? title : (named ?? id),
    state:
      manifest !== null
        ? 'published'
        : !isDefined
          ? 'draft'
          : isWithdrawn(versions, id)
            ? 'withdrawn'
            : 'unpublished',
    hasDraft: draft !== null,
    visibility: definition?.visibility ?? 'restricted',
    manifest,
  }
}

/** Moves the files of a dataset to var/deleted. @param moment ISO 8601 */
export function moveAway(portal: string, id: string, moment: string): void {
  const away = path.join(portal, 'var', 'deleted', `${id}-${moment.replaceAll(':', '-')}`)
  mkdirSync(away, { recursive: true })
  const folder = path.join(portal, 'data', id)
  if (existsSync(folder)) renameSync(folder, path.join(away, 'data'))
  const { file } = openMapping(portal, id)
  if (existsSync(file)) renameSync(file, path.join(away, path.basename(file)))
}

/** The names of the folders of data/. */
function dataFolders(portal: string): readonly string[] {
  const folder = path.join(portal, 'data')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap(each => (each.isDirectory() ? [each.name] : []))
}
