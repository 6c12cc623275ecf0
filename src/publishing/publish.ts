import { rmSync } from 'node:fs'
import path from 'node:path'
import {
  CONFLICT,
  Fault,
  faultText,
  isDiskFull,
  SOURCE_UNREADABLE,
  systemErrorText,
} from '../errors/errors.ts'
import { MAPPING_INVALID } from '../mapping/diagnostic.ts'
import { type Definition, definitionOf, readDefinition } from './definition.ts'
import { chooseMapping, type MappingFile, mappingFile, refuseForRdf } from './mapping/mapping-file.ts'
import { materialise } from './materialise.ts'
import type { PublicationFailure, PublishAttempt, PublishContext, PublishResult } from './publish-types.ts'
import { acceptRemote, isFetched, refreshRemote, rejectRemote, reschedule } from './remote/refresh.ts'
import { type Digests, digestsOf, isBuiltFrom, isRolledBack, textOf } from './up-to-date.ts'
import { type Damage, damageInForce, dropDamaged } from './versions/damage.ts'
import { withColumns } from './versions/graph-sources.ts'
import { RECORD_IDS_FILE } from './versions/tombstones.ts'
import {
  currentManifest,
  currentVersion,
  isWithdrawn,
  readManifest,
  repairInterrupted,
  type VersionManifest,
  versionFolder,
} from './versions/versions.ts'
import { addMapping, type Head, retainedGraphs, writeVersion } from './write-version.ts'

/** Attempts to publish a dataset that other processes publish at the same time. */
const ATTEMPTS = 5

/**
 * Publishes one dataset: source -> typed records -> triples -> a version on disk that replaces the previous one in one step. If
 * only the mapping has changed, the records are those of the version in force and the source is not read. If nothing has changed
 * and the version in force is intact, nothing is done: a damaged one is rebuilt. If another process puts a version in force
 * meanwhile, the inputs are compared with that one: what was read of older inputs never replaces it. A source that was changed while
 * it was read, which may be a part of the old file and a part of the new one, is read once more.
 *
 * Faults: ConfigInvalid, SourceUnreadable, Conflict if it is withdrawn meanwhile; the version in force then stays in force.
 */
export async function publishDataset(id: string, context: PublishContext): Promise<PublishResult> {
  const { versions } = context
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const replaced = currentVersion(versions, id)
    const isWithdrawnMeanwhile = () => replaced !== null && isWithdrawn(versions, id)
    const result = await attemptToPublish(id, { ...context, replaced, isFirst: attempt === 1 }).catch(
      (error: unknown) => {
        // To withdraw or roll back in this process removes the files that are being written.
        if (currentVersion(versions, id) !== replaced) return null
        throw error
      },
    )
    if (result !== null) return result
    if (isWithdrawnMeanwhile()) throw withdrawnMeanwhile()
  }
  throw new Fault(CONFLICT, {
    reason: `other processes put ${ATTEMPTS} versions in force while it was published: publish it again`,
  })
}

export function withdrawnMeanwhile(): Fault {
  return new Fault(CONFLICT, { reason: 'it was withdrawn while it was published, and stays so' })
}

/** Resolves to null if another process has put a version in force, or withdrawn the dataset, or the source was changed meanwhile. */
async function attemptToPublish(id: string, context: PublishAttempt): Promise<PublishResult | null> {
  const { versions, mappingOnly = false } = context
  repairInterrupted(versions, id)
  const own = currentManifest(versions, id)
  if (!mappingOnly) await fetchSource(id, context)
  // Saving a mapping does not wait until all files are checked.
  const damage = mappingOnly && own !== null ? null : await damageInForce(versions, id, context.isNamed)
  if (damage !== null) return publishAgain(id, damage, context)
  try {
    return await publishChanges(id, own, context)
  } catch (error) {
    if (own !== null && error instanceof Fault) rejectFetched(id, error, context)
    const found = mappingOnly ? await damageInForce(versions, id) : null
    if (found === null) throw error
    return publishAgain(id, found, context)
  }
}

/**
 * Fetches the address of a dataset if it is due, or if the dataset is published by name. Where addresses are fetched by others, a
 * changed schedule is stored for them.
 */
async function fetchSource(
  id: string,
  { portal, now, isNamed = false, withoutFetching = false }: PublishContext,
): Promise<void> {
  const { remote } = readDefinition(portal, id).definition ?? {}
  if (remote == null) return
  if (withoutFetching) reschedule(portal, id, remote, now())
  else await refreshRemote(portal, id, remote, { now, isForced: isNamed })
}

function isFetchedAlready(id: string, { portal }: PublishContext): boolean {
  const { remote } = readDefinition(portal, id).definition ?? {}
  return remote != null && isFetched(portal, id, remote)
}

/** Replaces fetched data that cannot be published by the previous data. */
function rejectFetched(id: string, error: Fault, { portal }: PublishContext): void {
  const { remote } = readDefinition(portal, id).definition ?? {}
  if (remote != null) rejectRemote(portal, id, remote, faultText(error))
}

/**
 * The version in force, if it is intact and up to date; null if there is something to do. It checks the metadata of each file,
 * and reads only those whose modification times have changed, or all if the dataset is published by name.
 */
export async function findUnchanged(id: string, context: PublishContext): Promise<PublishResult | null> {
  const { portal, versions } = context
  repairInterrupted(versions, id)
  const own = currentManifest(versions, id)
  const current = own ?? context.inForce ?? null
  const isWhole = current !== null && (await damageInForce(versions, id, context.isNamed)) === null
  // Others are fetched where they are published, unless there are data of their address, which are not due.
  if (context.mappingOnly !== true && (isWhole || isFetchedAlready(id, context)))
    await fetchSource(id, context)
  if (!isWhole) return null
  const definition = definitionOf(portal, id)
  const file = mappingFile(portal, id)
  const digests = await digestsOf(definition, file, current, context)
  return isBuiltFrom(current, digests, file) ? { type: 'unchanged', manifest: current, refusal: null } : null
}

/** Rebuilds a version whose files are damaged. Faults: SourceUnreadable, which reports the damage as well. */
async function publishAgain(
  id: string,
  damage: Damage,
  context: PublishAttempt,
): Promise<PublishResult | null> {
  const { portal, versions } = context
  const version = currentVersion(versions, id)
  try {
    const definition = definitionOf(portal, id)
    const file = mappingFile(portal, id)
    const damaged = version === null ? null : readManifest(versions, id, version)
    const digests = await digestsOf(definition, file, null, context)
    // Damaged ids would report records that never existed.
    if (version !== null && damage.file === RECORD_IDS_FILE)
      rmSync(path.join(versionFolder(versions, id, version), RECORD_IDS_FILE), { force: true })
    const result = await publishRecords(definition, digests, file, { manifest: damaged, damage }, context)
    if (version !== null && result?.type === 'published') dropDamaged(versions, id, version, damage.file)
    return result
  } catch (error) {
    const reason = reasonOf(error)
    throw new Fault(
      SOURCE_UNREADABLE,
      {
        reason: `the published version ${version} is damaged (${damage.reason}) and cannot be made again:\n${reason}`,
      },
      { cause: error },
    )
  }
}

async function publishChanges(
  id: string,
  own: VersionManifest | null,
  context: PublishAttempt,
): Promise<PublishResult | null> {
  const { portal } = context
  const definition = definitionOf(portal, id)
  const file = mappingFile(portal, id)
  const current = own ?? context.inForce ?? null
  const digests = await digestsOf(definition, file, current, context)
  if (own === null && current !== null && isBuiltFrom(current, digests, file))
    return { type: 'unchanged', manifest: current, refusal: null }
  if (own !== null && isRolledBack(own, digests, file, context))
    return { type: 'unchanged', manifest: own, refusal: null }
  const isCurrent = own?.definition === digests.definition && own.source === digests.source
  return isCurrent
    ? publishMapping(own, file, context)
    : publishRecords(definition, digests, file, { manifest: own, damage: null }, context)
}

/** Builds a version of the published records with another mapping. */
async function publishMapping(
  current: VersionManifest,
  file: MappingFile | null,
  context: PublishAttempt,
): Promise<PublishResult | null> {
  const { dataset, statistics, content } = current
  const isSame = textOf(file) === textOf(current.mapping)
  if (isSame || content === 'rdf')
    return { type: 'unchanged', manifest: current, refusal: isSame ? null : refuseForRdf(file) }
  const mapped = { id: dataset.id, base: current.base, fields: dataset.fields, statistics }
  const chosen = chooseMapping(file, current.mapping, mapped)
  const { refusal } = chosen
  if (textOf(chosen.mapping) === textOf(current.mapping))
    return { type: 'unchanged', manifest: current, refusal }
  const written = () =>
    writeVersion(dataset.id, current, textOf(chosen.mapping), context, async head => {
      const retained = retainedGraphs(current, head.folder, context.versions)
      const { restored: _, ...unrestored } = current
      const part: Omit<VersionManifest, 'mapping' | keyof Head> = { ...unrestored, graphs: retained }
      const { manifest, report } = await addMapping(part, head, chosen, context)
      return { manifest, refusal, report: { ...NOTHING_READ, ...report } }
    })
  return withColumns(context.versions, [current], written)
}

const NOTHING_READ = {
  misfits: [],
  misfitCount: 0,
  repeated: 0,
  warnings: [],
  isSourceRead: false,
  damage: null,
}

/** Builds a version of the current source. */
async function publishRecords(
  definition: Definition,
  digests: Digests,
  file: MappingFile | null,
  before: { readonly manifest: VersionManifest | null; readonly damage: Damage | null },
  context: PublishAttempt,
): Promise<PublishResult | null> {
  const { portal, base } = context
  const { id } = definition
  const { manifest: current, damage } = before
  const result = await writeVersion(id, digests, textOf(file), context, async head => {
    const onProgress = (records: number) => context.onProgress?.({ dataset: id, records })
    const written = await materialise(definition, { portal, base, folder: head.folder, onProgress })
    if (context.isFirst && (await digestsOf(definition, file, null, context)).source !== digests.source)
      return null
    refuseEmptied(definition, written.statistics.records, current)
    const { misfits: conversionErrors, misfitCount, repeated, warnings, ...part } = written
    const { fields } = written.dataset
    const chosen =
      written.content === 'rdf'
        ? { mapping: null, refusal: refuseForRdf(file), diagnostics: [] }
        : chooseMapping(file, current?.mapping ?? null, { id, base, fields, statistics: written.statistics })
    const { refusal } = chosen
    if (refusal?.kept === 'version' && current !== null) {
      if (damage !== null)
        throw new Fault(MAPPING_INVALID, {
          reason: `${refusal.file} has errors, and the mapping before fits no more`,
        })
      return { manifest: null, current, refusal }
    }
    const { manifest, report } = await addMapping({ ...part, misfits: misfitCount }, head, chosen, context)
    const read = {
      misfits: conversionErrors,
      misfitCount,
      repeated,
      warnings,
      isSourceRead: true,
      damage: damage?.reason ?? null,
    }
    return { manifest, refusal, report: { ...read, ...report } }
  })
  if (result?.type === 'published') acceptRemote(portal, id, definition.source.path)
  return result
}

/** An address that no longer sends records is more likely broken than empty. */
function refuseEmptied({ remote }: Definition, records: number, before: VersionManifest | null): void {
  const known = before?.statistics.records ?? 0
  if (remote === null || records > 0 || known === 0) return
  throw new Fault(SOURCE_UNREADABLE, {
    reason: `the address sends no records any more, and ${known} are published: they stay; lodestone unpublish withdraws them`,
  })
}

/** Describes a publication that failed. */
export function failureOf(error: unknown): PublicationFailure {
  return { reason: reasonOf(error), isDiskFull: isDiskFull(error) }
}

/** Describes why a publication failed. */
export function reasonOf(error: unknown): string {
  if (error instanceof Fault) return faultText(error)
  return systemErrorText(error) ?? (error instanceof Error ? (error.stack ?? error.message) : String(error))
}
