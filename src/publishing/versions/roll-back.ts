import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import { BAD_REQUEST, CONFLICT, Fault, NOT_FOUND_RESOURCE, VERSION_UNKNOWN } from '../../errors/errors.ts'
import { mayDefine, readDefinition } from '../definition.ts'
import { fingerprintOf } from '../source-digest.ts'
import { absenceHint } from '../suggested-dataset.ts'
import { refuseUnreadable } from './damage.ts'
import { shareFile } from './durable.ts'
import { RECORD_IDS_FILE } from './tombstones.ts'
import {
  commitVersion,
  currentManifest,
  prepareVersion,
  retainedVersions,
  sharedGraph,
  VERSION_FORMAT,
  type VersionManifest,
  type Versions,
  versionFolder,
} from './versions.ts'

export interface RollBackContext {
  readonly versions: Versions
  /** Public address: a version that was published for another one has other IRIs. */
  readonly base: string
  readonly now: () => Date
}

/**
 * Puts the records and triples of an older version in force again: as a new version that shares the files of the old one, so that
 * the sequence of versions records what was served when. It stays in force until the portal folder changes or the dataset is
 * published by name. Only the ids of records are read.
 *
 * Faults: NotFoundResource for a dataset without versions, VersionUnknown for a version that is not retained, Gone for one whose
 * files are damaged; BadRequest for the one in force; Conflict if another version is put in force meanwhile.
 *
 * @param required name of the version; null for the one before the one in force
 */
export async function rollBack(
  id: string,
  required: string | null,
  { versions, base, now }: RollBackContext,
): Promise<VersionManifest> {
  const current = currentManifest(versions, id)
  if (current === null)
    throw new Fault(NOT_FOUND_RESOURCE, { kind: 'published dataset', id }, absenceHint(versions, id))
  const target = targetOf(id, required, current, versions)
  if (target.base !== base)
    throw new Fault(BAD_REQUEST, {
      reason: `The version ${target.version} was published for ${target.base}: its IRIs are not those of ${base}.`,
    })
  await refuseUnreadable(versions, target)
  // Records that were public once are not opened again.
  const dataset =
    current.dataset.visibility === 'restricted'
      ? { ...target.dataset, visibility: 'restricted' as const }
      : target.dataset
  const restored = {
    version: target.restored?.version ?? target.version,
    instead: current.restored?.instead ?? current.fingerprint,
  }
  const committed = await putCopyInForce({ ...target, dataset, restored }, current.version, { versions, now })
  if (committed !== null) return committed
  throw new Fault(CONFLICT, {
    reason: `The version ${current.version} of ${id} was replaced meanwhile: roll back again.`,
  })
}

/**
 * Restricts the version in force of a dataset whose dataset.yaml requires it, since its source may take long to read, or be unreadable:
 * by a version that shares its files. It counts as built from another dataset.yaml, so that the next publication reads the source. Null
 * if nothing is to be restricted, or another version was put in force meanwhile.
 */
export async function restrictInForce(
  portal: string,
  id: string,
  context: Pick<RollBackContext, 'versions' | 'now'>,
): Promise<VersionManifest | null> {
  const current = currentManifest(context.versions, id)
  if (current?.dataset.visibility !== 'public') return null
  const isDefined = () => readDefinition(portal, id).definition?.visibility === 'restricted'
  if (!mayDefine(portal, id, 'restricted') || !isDefined()) return null
  const { restored: _, ...target } = current
  const definition = fingerprintOf('restricted', current.definition, null)
  const fingerprint = fingerprintOf(definition, current.source, current.mapping?.text ?? null)
  const dataset = { ...current.dataset, visibility: 'restricted' as const }
  return putCopyInForce({ ...target, dataset, definition, fingerprint }, current.version, context)
}

/** Puts a copy of a version in force that shares its files; null if another one than `replaced` is in force by now. */
async function putCopyInForce(
  target: VersionManifest,
  replaced: string,
  { versions, now }: Pick<RollBackContext, 'versions' | 'now'>,
): Promise<VersionManifest | null> {
  const { id } = target.dataset
  const begun = now()
  const version = `${begun.getTime().toString(36)}-${target.fingerprint.slice(0, 12)}`
  const folder = prepareVersion(versions, id, version)
  try {
    const ids = path.join(versionFolder(versions, id, target.version), RECORD_IDS_FILE)
    if (existsSync(ids)) shareFile(ids, path.join(folder, RECORD_IDS_FILE))
    const copy: VersionManifest = {
      ...target,
      format: VERSION_FORMAT,
      version,
      published: begun.toISOString().replace('Z', '+00:00'),
      graphs: target.graphs.map(graph => sharedGraph(graph, target.version)),
    }
    const committed = await commitVersion(versions, copy, replaced)
    if (committed === null) rmSync(folder, { recursive: true, force: true })
    return committed
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

function targetOf(
  id: string,
  required: string | null,
  current: VersionManifest,
  versions: Versions,
): VersionManifest {
  const older = retainedVersions(versions, id).filter(({ version }) => version !== current.version)
  if (required === current.version)
    throw new Fault(BAD_REQUEST, { reason: `The version ${required} of ${id} is in force already.` })
  const found = required === null ? older[0] : older.find(({ version }) => version === required)
  if (found === undefined) throw unknownVersion(id, required ?? 'before the one in force', older)
  return found
}

/** The fault for a version that is not retained, with a list of those that are. */
export function unknownVersion(
  id: string,
  required: string,
  retained: readonly Pick<VersionManifest, 'version' | 'published'>[],
): Fault {
  const names = retained.map(({ version, published }) => `${version} (${published.slice(0, 19)}Z)`)
  return new Fault(VERSION_UNKNOWN, {
    id,
    version: required.slice(0, 100),
    retained: names.length === 0 ? 'No older one is retained.' : `There are: ${names.join(', ')}.`,
  })
}
