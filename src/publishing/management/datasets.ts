import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { BAD_REQUEST, Fault, isFault } from '../../errors/errors.ts'
import { DATASET_ID, definedDatasets, readDefinition } from '../definition.ts'
import { openMapping } from '../mapping/mapping-file.ts'
import { moveAcross } from '../versions/durable.ts'
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

/** The sorted ids of all datasets with a dataset.yaml or a draft. */
export function idsAtDesk(portal: string): readonly string[] {
  const ids = new Set([...definedDatasets(portal), ...draftedDatasets(portal)])
  return [...ids].filter(id => isAtDesk(portal, id)).sort()
}

/** A dataset as publishers see it. */
export function describeDataset(
  { portal, versions }: Pick<DeskOptions, 'portal' | 'versions'>,
  id: string,
): DeskDataset {
  const manifest = currentManifest(versions, id)
  const draft = findDraft(portal, id)
  const isDefined = existsSync(path.join(portal, 'data', id, DEFINITION))
  const { definition } = readDefinition(draft?.root ?? portal, id)
  const title = definition?.metas.default?.title
  return {
    id,
    title: typeof title === 'string' && title !== '' ? title : (draft?.title ?? id),
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
  if (existsSync(folder)) moveAcross(folder, path.join(away, 'data'))
  const { file } = openMapping(portal, id)
  if (existsSync(file)) moveAcross(file, path.join(away, path.basename(file)))
}

/** Moves away the files of a publication that was cut off before dataset.yaml was there. */
export function moveCutOff(portal: string, id: string, moment: string): void {
  const folder = path.join(portal, 'data', id)
  if (existsSync(folder) && !existsSync(path.join(folder, DEFINITION))) moveAway(portal, id, moment)
}

/** Milliseconds after which nobody is still beginning a draft. */
const ABANDONED = 3_600_000

/** Removes folders of drafts without a note: those of processes that died while they began a draft, or discarded one. */
export function removeCutOffDrafts(portal: string, now: number): void {
  const drafts = path.join(portal, 'var', 'drafts')
  const known = draftedDatasets(portal)
  try {
    for (const id of existsSync(drafts) ? readdirSync(drafts) : []) {
      const folder = path.join(drafts, id)
      if (!known.includes(id) && DATASET_ID.test(id) && Math.abs(now - statSync(folder).mtimeMs) > ABANDONED)
        rmSync(folder, { recursive: true, force: true })
    }
  } catch {
    // A read-only folder keeps them.
  }
}

/** The names of the folders of data/. */
function dataFolders(portal: string): readonly string[] {
  const folder = path.join(portal, 'data')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap(each => (each.isDirectory() ? [each.name] : []))
}

/**
 * A text with its paths from the portal folder on: publishers are not shown where that is on the machine.
 *
 * @param folders of the portal and of a draft, the longer one first
 */
export function pathsInPortal(text: string, folders: readonly string[]): string {
  return folders.reduce((shown, folder) => shown.replaceAll(`${folder}${path.sep}`, ''), text)
}

/** Does something whose faults show paths from the portal folder on. */
export async function withoutFolders<T>(folders: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isFault(error, BAD_REQUEST)) throw error
    const { message, place, hint } = error
    const shown = (text: string) => pathsInPortal(text, folders)
    throw new Fault(
      BAD_REQUEST,
      { reason: shown(message) },
      {
        place: place.file === undefined ? place : { ...place, file: shown(place.file) },
        ...(hint === undefined ? {} : { hint: shown(hint) }),
        cause: error,
      },
    )
  }
}
