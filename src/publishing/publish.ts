import { rmSync } from 'node:fs'
import path from 'node:path'
import { Fault, faultText, openFilesText } from '../errors/errors.ts'
import type { RuleReport } from '../mapping/compile.ts'
import type { Diagnostic } from '../mapping/diagnostic.ts'
import type { FieldConversionErrors } from '../sources/typing.ts'
import { type Definition, definitionOf, readDefinition } from './definition.ts'
import { definitionDigest, fingerprintOf } from './fingerprint.ts'
import { writeMappedGraphs } from './graphs/mapped-graphs.ts'
import {
  type ChosenMapping,
  chooseMapping,
  type MappingRefusal,
  refuseForRdf,
} from './mapping/choose-mapping.ts'
import { type MappingFile, mappingFile, type UsableMapping } from './mapping/mapping-file.ts'
import { materialise } from './materialise.ts'
import { digestWithLookups } from './processors/dependencies.ts'
import { publishedRecords } from './published-records.ts'
import { refreshRemote, rejectRemote } from './remote/refresh.ts'
import { sourceDigest } from './source-digest.ts'
import { type Damage, damageInForce } from './versions/damage.ts'
import { shareFile } from './versions/durable.ts'
import { RECORDS } from './versions/tombstones.ts'
import {
  commitVersion,
  currentManifest,
  currentVersion,
  type GraphFile,
  type Manifest,
  prepareVersion,
  readManifest,
  removeLeftovers,
  sharedGraph,
  sourceMarks,
  VERSION_FORMAT,
  type Versions,
  versionFolder,
} from './versions/versions.ts'

/** Where and when a publication happens; time is a parameter. */
export interface PublishContext {
  readonly portal: string
  readonly base: string
  readonly versions: Versions
  readonly now: () => Date
  /** True where the source is known to be as it was: it is not looked at, unless dataset.yaml is another one. */
  readonly mappingOnly?: boolean
  /** True where the dataset was asked for by name: its address is then asked also before that is due. */
  readonly isNamed?: boolean
  /** The version in force in a store that is shared: where it was made of the same, none is made here. */
  readonly inForce?: Manifest | null
  /** True where an older version that was restored gives way to what lies in the portal folder. */
  readonly endsRollBack?: boolean
  /** Called after every batch of records. */
  readonly onProgress?: (progress: PublishProgress) => void
}

export interface PublishProgress {
  readonly dataset: string
  readonly records: number
}

/** What became of one dataset. */
export type PublishResult = { readonly refusal: MappingRefusal | null } & (
  | { readonly type: 'unchanged'; readonly manifest: Manifest }
  | { readonly type: 'published'; readonly manifest: Manifest; readonly report: PublishReport }
)

/** What a publisher should know about the records that were made. */
export interface PublishReport {
  readonly records: number
  /** Triples of the graph that is served. */
  readonly triples: number
  /** The first values that did not fit, with row and column, and the number of all. */
  readonly misfits: readonly FieldConversionErrors[]
  readonly misfitCount: number
  /** Records whose identity another record has. */
  readonly repeated: number
  /** False where the records are those that were published before, and only their mapping is another one. */
  readonly isSourceRead: boolean
  /** What became of the dataset's own mapping; null for the direct mapping. */
  readonly mapping: MappingReport | null
  /** What was wrong with the files of the version before, for which it was made again; null for nothing. */
  readonly damage: string | null
  readonly milliseconds: number
}

/** What a mapping made, and what is to be said of it. */
export interface MappingReport {
  readonly file: string
  readonly diagnostics: readonly Diagnostic[]
  readonly rules: readonly RuleReport[]
}

/**
 * Publishes one dataset: source -> typed records -> triples -> a version on disk that takes the place of the one
 * before in one step. Where only the mapping is another one, the records are those of the version in force and the source
 * is left alone. Nothing is done where nothing changed, and the version in force is whole: a damaged one is made again.
 * Faults: ConfigInvalid, SourceUnreadable; the version in force stays in force then.
 */
export async function publishDataset(id: string, context: PublishContext): Promise<PublishResult> {
  const { versions, mappingOnly = false } = context
  removeLeftovers(versions, id)
  const own = currentManifest(versions, id)
  if (!mappingOnly) await fetchSource(id, context)
  // Who saves a mapping does not wait until all files are read.
  const damage = mappingOnly && own !== null ? null : await damageInForce(versions, id)
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

/** Asks the address of a dataset where that is due, or where the dataset is published by name. */
async function fetchSource(id: string, { portal, now, isNamed = false }: PublishContext): Promise<void> {
  const { remote } = readDefinition(portal, id).definition ?? {}
  if (remote != null) await refreshRemote(portal, id, remote, now, isNamed)
}

/** Data that were fetched and cannot be published give way to those before them. */
function rejectFetched(id: string, error: Fault, { portal }: PublishContext): void {
  const { remote } = readDefinition(portal, id).definition ?? {}
  if (remote != null) rejectRemote(portal, id, remote, faultText(error))
}

/**
 * The version in force, where it is whole and made of what there is; null where there is something to do. It costs a look at
 * each file, and reads those alone whose times are others.
 */
export async function findUnchanged(id: string, context: PublishContext): Promise<PublishResult | null> {
  const { portal, versions } = context
  const own = currentManifest(versions, id)
  const current = own ?? context.inForce ?? null
  if (current === null || (await damageInForce(versions, id)) !== null) return null
  if (context.mappingOnly !== true) await fetchSource(id, context)
  const definition = definitionOf(portal, id)
  const file = mappingFile(portal, id)
  const digests = await digestsOf(definition, file, current, context)
  return isMadeOf(current, digests, file) ? { type: 'unchanged', manifest: current, refusal: null } : null
}

/** Makes a version again whose files are damaged. Faults: SourceUnreadable, which tells of the damage as well. */
async function publishAgain(id: string, damage: Damage, context: PublishContext): Promise<PublishResult> {
  const { portal, versions } = context
  const version = currentVersion(versions, id)
  try {
    const definition = definitionOf(portal, id)
    const file = mappingFile(portal, id)
    const damaged = version === null ? null : readManifest(versions, id, version)
    const digests = await digestsOf(definition, file, null, context)
    // Damaged ids would tell of records that never were.
    if (version !== null && damage.file === RECORDS)
      rmSync(path.join(versionFolder(versions, id, version), RECORDS), { force: true })
    return await publishRecords(definition, digests, file, { manifest: damaged, damage }, context)
  } catch (error) {
    const reason = error instanceof Fault ? faultText(error) : String((error as Error).stack ?? error)
    throw new Fault(
      'SourceUnreadable',
      {
        reason: `the published version ${version} is damaged (${damage.reason}) and cannot be made again:\n${reason}`,
      },
      { cause: error },
    )
  }
}

async function publishChanges(
  id: string,
  own: Manifest | null,
  context: PublishContext,
): Promise<PublishResult> {
  const { portal } = context
  const definition = definitionOf(portal, id)
  const file = mappingFile(portal, id)
  const current = own ?? context.inForce ?? null
  const digests = await digestsOf(definition, file, current, context)
  if (own === null && current !== null && isMadeOf(current, digests, file))
    return { type: 'unchanged', manifest: current, refusal: null }
  if (own !== null && isRolledBack(own, digests, file, context))
    return { type: 'unchanged', manifest: own, refusal: null }
  const isCurrent = own?.definition === digests.definition && own.source === digests.source
  return isCurrent
    ? publishMapping(own, file, context)
    : publishRecords(definition, digests, file, { manifest: own, damage: null }, context)
}

/** True for a restored version while what lies in the portal folder is what it was restored instead of. */
function isRolledBack(
  { restored }: Manifest,
  { definition, source }: Digests,
  file: MappingFile | null,
  { endsRollBack = false }: PublishContext,
): boolean {
  return !endsRollBack && restored?.instead === fingerprintOf(definition, source, textOf(file))
}

/** True for a version that would be made again of what there is. */
function isMadeOf(
  { definition, source, mapping }: Manifest,
  digests: Digests,
  file: MappingFile | null,
): boolean {
  return definition === digests.definition && source === digests.source && textOf(mapping) === textOf(file)
}

interface Digests {
  readonly definition: string
  readonly source: string
}

/** A source that cannot be read is not needed as long as only the mapping is another one. */
async function digestsOf(
  definition: Definition,
  file: MappingFile | null,
  current: Manifest | null,
  { base, portal, versions, mappingOnly = false }: PublishContext,
): Promise<Digests> {
  const own = definitionDigest(definition, base)
  const known = current?.definition === own ? current.source : null
  if (known !== null && mappingOnly) return { definition: own, source: known }
  try {
    return {
      definition: own,
      source: digestWithLookups(
        definition,
        portal,
        await sourceDigest(definition, portal, sourceMarks(versions, definition.id)),
      ),
    }
  } catch (error) {
    if (known === null || textOf(file) === textOf(current?.mapping)) throw error
    return { definition: own, source: known }
  }
}

/** Makes a version of the records that are published and another mapping. */
async function publishMapping(
  current: Manifest,
  file: MappingFile | null,
  context: PublishContext,
): Promise<PublishResult> {
  const { dataset, statistics, content } = current
  const isSame = textOf(file) === textOf(current.mapping)
  if (isSame || content === 'rdf')
    return { type: 'unchanged', manifest: current, refusal: isSame ? null : refuseForRdf(file) }
  const mapped = { id: dataset.id, base: current.base, fields: dataset.fields, statistics }
  const chosen = chooseMapping(file, current.mapping, mapped)
  const { refusal } = chosen
  if (textOf(chosen.mapping) === textOf(current.mapping))
    return { type: 'unchanged', manifest: current, refusal }
  return prepare(dataset.id, current, textOf(chosen.mapping), context, async head => {
    const retained = retainedGraphs(current, head.folder, context.versions)
    const { restored: _, ...unrestored } = current
    const part: Omit<Manifest, 'mapping' | keyof Head> = { ...unrestored, graphs: retained }
    const { manifest, report } = await addMapping(part, head, chosen, context)
    return { manifest, refusal, report: { ...NOTHING_READ, ...report } }
  })
}

const NOTHING_READ = { misfits: [], misfitCount: 0, repeated: 0, isSourceRead: false, damage: null }

/** Makes a version of what the source has now. */
async function publishRecords(
  definition: Definition,
  digests: Digests,
  file: MappingFile | null,
  before: { readonly manifest: Manifest | null; readonly damage: Damage | null },
  context: PublishContext,
): Promise<PublishResult> {
  const { portal, base } = context
  const { id } = definition
  const { manifest: current, damage } = before
  return prepare(id, digests, textOf(file), context, async head => {
    const onProgress = (records: number) => context.onProgress?.({ dataset: id, records })
    const made = await materialise(definition, { portal, base, folder: head.folder, onProgress })
    refuseEmptied(definition, made.statistics.records, current)
    const { misfits: conversionErrors, misfitCount, repeated, ...part } = made
    const { fields } = made.dataset
    const chosen =
      made.content === 'rdf'
        ? { mapping: null, refusal: refuseForRdf(file), diagnostics: [] }
        : chooseMapping(file, current?.mapping ?? null, { id, base, fields, statistics: made.statistics })
    const { refusal } = chosen
    if (refusal?.kept === 'version' && current !== null) {
      if (damage !== null)
        throw new Fault('MappingInvalid', {
          reason: `${refusal.file} has errors, and the mapping before fits no more`,
        })
      return { manifest: null, current, refusal }
    }
    const { manifest, report } = await addMapping({ ...part, misfits: misfitCount }, head, chosen, context)
    const read = {
      misfits: conversionErrors,
      misfitCount,
      repeated,
      isSourceRead: true,
      damage: damage?.reason ?? null,
    }
    return { manifest, refusal, report: { ...read, ...report } }
  })
}

/** An address that sends no records any more is broken more often than its data are gone. */
function refuseEmptied({ remote }: Definition, records: number, before: Manifest | null): void {
  const known = before?.statistics.records ?? 0
  if (remote === null || records > 0 || known === 0) return
  throw new Fault('SourceUnreadable', {
    reason: `the address sends no records any more, and ${known} are published: they stay; lodestone unpublish withdraws them`,
  })
}

/** What every version begins with, and where it is written. */
interface Head
  extends Pick<
    Manifest,
    'format' | 'version' | 'fingerprint' | 'definition' | 'source' | 'base' | 'published'
  > {}

interface Preparation extends Head {
  readonly folder: string
  readonly begun: Date
}

type Prepared =
  | { readonly manifest: Manifest; readonly refusal: MappingRefusal | null; readonly report: PublishReport }
  | { readonly manifest: null; readonly current: Manifest; readonly refusal: MappingRefusal }

/** Writes a version and puts it in force; what cannot be finished, or is not to be, leaves nothing behind. */
async function prepare(
  id: string,
  { definition, source }: Digests,
  mapping: string | null,
  { base, versions, now }: PublishContext,
  make: (preparation: Preparation) => Promise<Prepared>,
): Promise<PublishResult> {
  const begun = now()
  const fingerprint = fingerprintOf(definition, source, mapping)
  const version = `${begun.getTime().toString(36)}-${fingerprint.slice(0, 12)}`
  const folder = prepareVersion(versions, id, version)
  const published = begun.toISOString().replace('Z', '+00:00')
  const head = { format: VERSION_FORMAT, version, fingerprint, definition, source, base, published }
  try {
    const made = await make({ ...head, folder, begun })
    if (made.manifest !== null)
      return { type: 'published', ...made, manifest: await commitVersion(versions, made.manifest) }
    rmSync(folder, { recursive: true, force: true })
    return { type: 'unchanged', manifest: made.current, refusal: made.refusal }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Adds what a mapping makes of the records whose facts are written. */
async function addMapping(
  part: Omit<Manifest, 'mapping' | keyof Head>,
  { folder, begun, ...head }: Preparation,
  { mapping, diagnostics }: ChosenMapping,
  context: PublishContext,
) {
  const { id, fields } = part.dataset
  const facts = part.graphs.find(({ role }) => role === 'facts')?.columns ?? ''
  const records = () => publishedRecords(path.join(folder, facts), { base: head.base, dataset: part.dataset })
  const made =
    mapping === null
      ? null
      : await writeMappedGraphs(
          mapping.mapping,
          { base: head.base, dataset: id, fields, folder, statistics: part.statistics },
          records,
          done => context.onProgress?.({ dataset: id, records: done }),
        )
  const graphs: readonly GraphFile[] = [...part.graphs, ...(made?.graphs ?? [])]
  const used = mapping === null || made === null ? null : { ...usableOf(mapping), rules: made.rules }
  const manifest: Manifest = { ...part, ...head, graphs, mapping: used }
  const report = {
    records: part.statistics.records,
    triples: (made?.graphs ?? part.graphs)[0]?.triples ?? 0,
    mapping: used === null ? null : { file: used.file, rules: used.rules, diagnostics },
    milliseconds: context.now().getTime() - begun.getTime(),
  }
  return { manifest, report }
}

/** The graphs of the records of a version, taken over into another: their files stay where they are. */
function retainedGraphs(current: Manifest, folder: string, versions: Versions): readonly GraphFile[] {
  const home = versionFolder(versions, current.dataset.id, current.version)
  shareFile(path.join(home, RECORDS), path.join(folder, RECORDS))
  return current.graphs
    .filter(({ role }) => role === 'facts')
    .map(graph => sharedGraph(graph, current.version))
}

function usableOf({ file, text, mapping }: UsableMapping): UsableMapping {
  return { file, text, mapping }
}

function textOf(mapping: { readonly text: string } | null | undefined): string | null {
  return mapping?.text ?? null
}

/** Why a publication failed, in words. */
export function reasonOf(error: unknown): string {
  if (error instanceof Fault) return faultText(error)
  return openFilesText(error) ?? (error instanceof Error ? (error.stack ?? error.message) : String(error))
}
