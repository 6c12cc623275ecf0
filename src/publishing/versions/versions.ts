import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import type { RuleReport } from '../../mapping/compile.ts'
import type { Mapping } from '../../mapping/ir.ts'
import type { Dataset, DatasetStatistics } from '../../model/dataset.ts'
import type { GraphRole } from '../../rdf/minted-iris.ts'
import { isOfRunningProcess, PROCESS_NAME } from '../../runtime/processes.ts'
import { DATASET_ID } from '../implicit.ts'
import { type FileSum, replaceDurably, sumOf, synchronise, writeDurably } from './durable.ts'
import { exclusively } from './exclusively.ts'
import { RECORD_IDS_FILE, rememberRemoved, removedRecords } from './tombstones.ts'

/** A file of a version until it is in force: the name of the process that is about to put it there. */
const PENDING = 'pending'

/** Increased when the meaning of the files of a version changes: older versions are then published again. */
export const VERSION_FORMAT = 8

/** The manifest of a version, written last of its files. */
export const MANIFEST = 'manifest.json'

/** One graph of a published version, as a file whose path is relative to the folder of the version. */
export interface GraphFile {
  readonly role: GraphRole
  /** IRI that the source gives a graph with the role `named`. */
  readonly name?: string
  readonly file: string
  /** The file of its columns, in the same folder. */
  readonly columns: string
  readonly triples: number
  /** Bytes of N-Triples before compression. */
  readonly bytes: number
  /** The checksum of the file; absent in older versions. */
  readonly sum?: FileSum
  /** The version that first had this graph, if a later one has it unchanged; its file stays in the folder of that version. */
  readonly since?: string
}

/** The custom mapping from which the graph `mapped` was built. */
export interface PublishedMapping {
  /** Its file name at that time, and its text. */
  readonly file: string
  readonly text: string
  readonly mapping: Mapping
  readonly rules: readonly RuleReport[]
}

/** The manifest of a published version. */
export interface VersionManifest {
  readonly format: number
  readonly version: string
  /** Digest of all inputs of the version; equal digests produce equal versions. */
  readonly fingerprint: string
  /** Digests of the records alone: of dataset.yaml with the other inputs, and of the source. */
  readonly definition: string
  readonly source: string
  readonly base: string
  /** ISO 8601. */
  readonly published: string
  /** Position among the versions of the dataset, from 1, whatever the clock was; absent in versions of earlier releases. */
  readonly number?: number
  readonly dataset: Dataset
  readonly statistics: DatasetStatistics
  readonly graphs: readonly GraphFile[]
  /** The checksum of the file with the ids of the records; absent if there is none, and in older versions. */
  readonly ids?: FileSum
  /** The content of the source: records with fields, or RDF, which has triples alone. */
  readonly content: 'records' | 'rdf'
  /** Number of values that could not be converted to the type of their field and became null. */
  readonly misfits: number
  /** null if the graph of the facts is the only one: the direct mapping. */
  readonly mapping: PublishedMapping | null
  /** The older version that was restored by this one; absent for one that was built from a source. */
  readonly restored?: Restored
}

/** The origin of a version that was created by a roll-back. */
export interface Restored {
  /** The version that first published these records. */
  readonly version: string
  /** Digest of the content of the portal folder at that time: while it is unchanged, the roll-back stays in force. */
  readonly instead: string
}

/** Formats of retained versions that answer, with the one before {@link VERSION_FORMAT}; 9, of builds between releases, equals 8. */
const READABLE_FORMATS: ReadonlySet<unknown> = new Set([VERSION_FORMAT, 8, 9])

/** Default number of retained versions of a dataset. */
export const DEFAULT_RETAINED_VERSIONS = 5

/** Minimum number of versions on disk: a served version stays until its readers have the next one. */
const MIN_ON_DISK = 2

/**
 * The published versions under var/published. A version is a folder that is written next to the others under a temporary name,
 * synchronised and renamed; the file `current` names the one in force and is replaced by a rename. So if a process dies at any
 * moment, a reader finds either the complete old version or the complete new one.
 */
export interface Versions {
  readonly root: string
  /** Number of retained versions of a dataset, including the one in force. */
  readonly keep: number
}

export function versionsOf(portal: string, keep: number = DEFAULT_RETAINED_VERSIONS): Versions {
  return { root: path.join(portal, 'var', 'published'), keep }
}

/** The retained versions of a dataset, the one in force first, then from the latest to the oldest. */
export function retainedVersions(versions: Versions, id: string): readonly VersionManifest[] {
  const current = currentVersion(versions, id)
  if (current === null) return []
  return storedManifests(versions, id)
    .sort((a, b) => Number(b.version === current) - Number(a.version === current) || laterFirst(a, b))
    .slice(0, versions.keep)
}

/** The versions with manifests that were in force: of others only files remain that these share. */
function storedManifests(versions: Versions, id: string): VersionManifest[] {
  const home = path.join(versions.root, id)
  const current = currentVersion(versions, id)
  return readdirSync(home, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !isInterrupted(home, entry.name, current))
    .flatMap(({ name }) => readStored(versions, id, name) ?? [])
}

function laterFirst(a: VersionManifest, b: VersionManifest): number {
  return (
    (b.number ?? 0) - (a.number ?? 0) ||
    Date.parse(b.published) - Date.parse(a.published) ||
    (a.version < b.version ? 1 : -1)
  )
}

/** The ids that have a published version. */
export function publishedDatasets(versions: Versions): readonly string[] {
  const isPublished = (id: string) => existsSync(path.join(versions.root, id, 'current'))
  return storedDatasets(versions).filter(isPublished).sort()
}

/** The ids with any stored data, including datasets that were withdrawn, or whose first publication was interrupted; not lost+found. */
export function storedDatasets({ root }: Versions): string[] {
  return existsSync(root) ? readdirSync(root).filter(name => DATASET_ID.test(name)) : []
}

/** The file that caches the digest of the source of a dataset with the times of its files. */
export function sourceStates({ root }: Versions, id: string): string {
  return path.join(root, id, 'source.json')
}

/** The file that names the version in force. */
export function currentFile({ root }: Versions, id: string): string {
  return path.join(root, id, 'current')
}

/** The name of the version in force; null if there is none, or the file that names it is damaged. */
export function currentVersion({ root }: Versions, id: string): string | null {
  try {
    return /^[\w-]+$/.exec(readFileSync(path.join(root, id, 'current'), 'utf8').trim())?.[0] ?? null
  } catch {
    return null
  }
}

/** True if all files of the triples of a version exist. */
export function isWhole(versions: Versions, manifest: VersionManifest): boolean {
  return manifest.graphs.every(({ file }) => existsSync(graphPath(versions, manifest, file)))
}

/** The manifest of the version in force; null if there is none that this program can read, or a file is missing. */
export function currentManifest(versions: Versions, id: string): VersionManifest | null {
  const version = currentVersion(versions, id)
  const manifest = version === null ? null : readManifest(versions, id, version)
  return manifest !== null && isWhole(versions, manifest) ? manifest : null
}

/** The end of a manifest: the CRC-32 of the text without it; versions of earlier releases have none. */
const CHECK = /,"check":(\d+)\}$/

/** The manifest of a version of any format. Throws if the file cannot be read, or has other bytes than were written. */
export function readManifestFile(versions: Versions, id: string, version: string): VersionManifest {
  const text = readFileSync(path.join(versionFolder(versions, id, version), MANIFEST), 'utf8')
  const unchecked = text.replace(CHECK, '}')
  const check = CHECK.exec(text)?.[1] ?? crc32(unchecked)
  if (Number(check) !== crc32(unchecked)) throw new Error(`${MANIFEST} has other bytes than were written`)
  return JSON.parse(unchecked)
}

/** The manifest of a version, even if its other files are missing; null if it is damaged or has another format. */
export function readManifest(versions: Versions, id: string, version: string): VersionManifest | null {
  const manifest = readStored(versions, id, version)
  return manifest?.format === VERSION_FORMAT ? manifest : null
}

/** The manifest of a version that may have an older format; null if this program cannot read it. */
function readStored(versions: Versions, id: string, version: string): VersionManifest | null {
  try {
    const manifest = readManifestFile(versions, id, version)
    const isOurs = manifest.version === version && manifest.dataset.id === id && manifest.graphs.length > 0
    return isOurs && READABLE_FORMATS.has(manifest.format) ? manifest : null
  } catch {
    return null
  }
}

/** True if the manifest of the version in force is unreadable; one of an older format is not damaged. */
export function isManifestDamaged(versions: Versions, id: string): boolean {
  const version = currentVersion(versions, id)
  if (version === null) return false
  try {
    const { format } = readManifestFile(versions, id, version)
    return format === VERSION_FORMAT && readManifest(versions, id, version) === null
  } catch {
    return true
  }
}

export function versionFolder({ root }: Versions, id: string, version: string): string {
  return path.join(root, id, version)
}

/** Absolute path of one graph file of a version. */
export function graphPath(versions: Versions, manifest: VersionManifest, file: string): string {
  return path.join(versionFolder(versions, manifest.dataset.id, manifest.version), file)
}

/** True for a dataset that was withdrawn and stays so until it is published by name. */
export function isWithdrawn({ root }: Versions, id: string): boolean {
  return existsSync(path.join(root, id, 'withdrawn'))
}

/** True for a withdrawn dataset that was not public: it is treated as if it had never existed. */
export function isSecretlyWithdrawn({ root }: Versions, id: string): boolean {
  const file = path.join(root, id, 'withdrawn')
  return existsSync(file) && readFileSync(file, 'utf8') === 'restricted'
}

/** The ids of the records that were removed from a dataset, the latest. */
export function removedIds({ root }: Versions, id: string): ReadonlySet<string> {
  return removedRecords(path.join(root, id))
}

/** Creates the folder in which a version is prepared; a recursive mkdir on a read-only disk fails with ENOENT. */
export function prepareVersion({ root }: Versions, id: string, version: string): string {
  const folder = path.join(root, id, preparing(version))
  mkdirSync(path.dirname(folder), { recursive: true })
  mkdirSync(folder)
  return folder
}

/**
 * Puts a prepared version in force and removes the oldest beyond those that are retained. Its manifest gets the checksums of the
 * files that were written for it; those of older versions have theirs already. Resolves to null, and changes nothing, if another
 * publication has put a version in force or withdrawn the dataset meanwhile.
 *
 * @param replaced the version that was in force when the preparation began; null for none
 */
export async function commitVersion(
  versions: Versions,
  prepared: VersionManifest,
  replaced: string | null,
): Promise<VersionManifest | null> {
  const number =
    1 + Math.max(0, ...storedManifests(versions, prepared.dataset.id).map(each => each.number ?? 0))
  const manifest = { ...(await withSums(prepared, versions)), number }
  return putInForce(versions, manifest, replaced) ? manifest : null
}

async function withSums(manifest: VersionManifest, versions: Versions): Promise<VersionManifest> {
  const folder = path.join(versions.root, manifest.dataset.id, preparing(manifest.version))
  const graphs: GraphFile[] = []
  for (const graph of manifest.graphs)
    graphs.push(
      graph.file.startsWith('../') ? graph : { ...graph, sum: await sumOf(path.join(folder, graph.file)) },
    )
  const records = path.join(folder, RECORD_IDS_FILE)
  return { ...manifest, graphs, ...(existsSync(records) ? { ids: await sumOf(records) } : {}) }
}

function putInForce(versions: Versions, manifest: VersionManifest, replaced: string | null): boolean {
  const { id } = manifest.dataset
  const home = path.join(versions.root, id)
  const prepared = path.join(home, preparing(manifest.version))
  const isReplaced = () => currentVersion(versions, id) === replaced
  if (!isReplaced()) return false
  const text = JSON.stringify(manifest)
  writeDurably(path.join(prepared, MANIFEST), text.replace(/\}$/, `,"check":${crc32(text)}}`))
  writeDurably(path.join(prepared, PENDING), PROCESS_NAME)
  for (const { file } of manifest.graphs) if (!file.startsWith('../')) synchronise(path.join(prepared, file))
  synchronise(prepared)
  const isInForce = exclusively(home, () => {
    // Again, because what is above takes a while.
    if (!isReplaced()) return false
    rememberRemoved(home, replaced === null ? null : path.join(home, replaced), prepared)
    renameSync(prepared, path.join(home, manifest.version))
    readmit(versions, id)
    replaceDurably(path.join(home, 'current'), `${manifest.version}\n`)
    rmSync(path.join(home, manifest.version, PENDING), { force: true })
    return true
  })
  if (!isInForce) return false
  removeOldest(versions, id, replaced === null ? [manifest.version] : [manifest.version, replaced])
  return true
}

/** Removes the oldest versions beyond those that are retained, except needed ones. */
function removeOldest(versions: Versions, id: string, needed: readonly string[]): void {
  const latest = storedManifests(versions, id)
    .sort(laterFirst)
    .slice(0, Math.max(versions.keep, MIN_ON_DISK))
    .map(({ version }) => version)
  removeOthers(path.join(versions.root, id), new Set([...latest, ...needed]))
}

/** Withdraws a dataset, also for later restarts; with `withdrawn` and `current` it is being withdrawn. False if it was not published. */
export function withdraw(versions: Versions, id: string): boolean {
  const home = path.join(versions.root, id)
  return currentVersion(versions, id) !== null && exclusively(home, () => withdrawCurrent(versions, id))
}

function withdrawCurrent(versions: Versions, id: string): boolean {
  const current = currentVersion(versions, id)
  if (current === null) return false
  const home = path.join(versions.root, id)
  rememberRemoved(home, path.join(home, current), null)
  const visibility = currentManifest(versions, id)?.dataset.visibility ?? 'restricted'
  // In one step: half of it would say of a restricted dataset that it existed, and withdraw one where a full disk said it cannot be.
  replaceDurably(path.join(home, 'withdrawn'), visibility)
  rmSync(path.join(home, 'current'), { force: true })
  // Before its files: what was withdrawn is not served again after a power cut.
  synchronise(home)
  removeOthers(home, new Set())
  return true
}

/** Lets a withdrawn dataset be published again without being named. */
export function readmit({ root }: Versions, id: string): void {
  rmSync(path.join(root, id, 'withdrawn'), { force: true })
}

/** Removes all data of a dataset whose folder was removed from the portal. */
export function forget({ root }: Versions, id: string): void {
  rmSync(path.join(root, id), { recursive: true, force: true })
}

/** Name of the folder in which this process prepares a version. */
function preparing(version: string): string {
  return `preparing-${PROCESS_NAME}-${version}`
}

/** A graph of a version as referenced by another version that shares its files. */
export function sharedGraph(graph: GraphFile, version: string): GraphFile {
  const within = (file: string) => (file.startsWith('../') ? file : `../${version}/${file}`)
  return {
    ...graph,
    file: within(graph.file),
    columns: within(graph.columns),
    since: graph.since ?? version,
  }
}

/** The versions whose files a version shares. */
function sharedBy(home: string, version: string | null): readonly string[] {
  try {
    const text = readFileSync(path.join(home, String(version), MANIFEST), 'utf8')
    return (JSON.parse(text) as VersionManifest).graphs.flatMap(
      ({ file }) => /^\.\.\/([^/]+)\//.exec(file)?.[1] ?? [],
    )
  } catch {
    return []
  }
}

/** Removes all versions except the retained ones; versions that share files with these lose only their manifest. */
function removeOthers(home: string, retained: ReadonlySet<string>): void {
  const shared = new Set([...retained].flatMap(version => sharedBy(home, version)))
  for (const entry of readdirSync(home, { withFileTypes: true })) {
    if (!entry.isDirectory() || retained.has(entry.name) || isInPreparation(home, entry.name)) continue
    const folder = path.join(home, entry.name)
    if (shared.has(entry.name)) rmSync(path.join(folder, MANIFEST), { force: true })
    else rmSync(folder, { recursive: true, force: true })
  }
}

/** Removes what processes that died have left: folders in preparation, versions never in force or replaced, all of a withdrawn dataset. */
export function repairInterrupted(versions: Versions, id: string): void {
  const home = path.join(versions.root, id)
  if (!existsSync(home)) return
  const entries = readdirSync(home, { withFileTypes: true })
  const current = currentVersion(versions, id)
  const isLeft = (name: string) =>
    (isInterrupted(home, name, current) || name.endsWith('.new')) && !isInPreparation(home, name)
  for (const { name } of entries)
    if (isLeft(name)) rmSync(path.join(home, name), { recursive: true, force: true })
  if (current === null) {
    if (isWithdrawn(versions, id) && entries.some(entry => entry.isDirectory()))
      exclusively(home, () => completeWithdrawal(versions, id))
    return
  }
  rmSync(path.join(home, current, PENDING), { force: true })
  const folders = entries.filter(entry => entry.isDirectory() && !isLeft(entry.name))
  if (folders.length > Math.max(versions.keep, MIN_ON_DISK)) removeOldest(versions, id, [current])
}

/** Removes the versions of a withdrawn dataset, unless another process has published it since. */
function completeWithdrawal(versions: Versions, id: string): void {
  if (currentVersion(versions, id) === null && isWithdrawn(versions, id))
    removeOthers(path.join(versions.root, id), new Set())
}

/** True for the folder of a version that is in preparation, or was not put in force. */
function isInterrupted(home: string, name: string, current: string | null): boolean {
  return name.startsWith('preparing-') || (name !== current && existsSync(path.join(home, name, PENDING)))
}

/** True for a folder or file that another running process is preparing, or a version that one is about to put in force. */
export function isInPreparation(home: string, name: string): boolean {
  const file = path.join(home, name)
  const pending = path.join(file, PENDING)
  try {
    if (existsSync(pending))
      return isOfRunningProcess(readFileSync(pending, 'utf8'), statSync(pending).mtimeMs)
    return !name.includes(PROCESS_NAME) && isOfRunningProcess(name, lastChange(file))
  } catch {
    // It was renamed or removed meanwhile, by a process that runs.
    return true
  }
}

/** The time of the last change of a file or of the files of a folder, in milliseconds since 1970. */
export function lastChange(file: string): number {
  const own = statSync(file)
  const files = own.isDirectory() ? readdirSync(file).map(name => statSync(path.join(file, name))) : []
  return Math.max(...[own, ...files].map(({ mtimeMs }) => mtimeMs))
}
