import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { shapefileParts } from '../sources/files/shapefile.ts'
import { packageFile } from '../sources/packages.ts'
import { definedDatasets, readDefinition } from './definition.ts'
import { implicitSources } from './implicit.ts'
import { MAPPING_ENDINGS } from './mapping/mapping-file.ts'
import { dueRemotes } from './remote/state.ts'
import { filesOfDigest } from './source-digest.ts'
import { sourceStates, versionsOf } from './versions/versions.ts'

/** Datasets whose files in the portal folder were changed. */
export interface PortalChanges {
  /** Datasets whose dataset.yaml or data file is new, changed or removed. */
  readonly definitions: readonly string[]
  /** Datasets of which only the mapping is new, changed or removed. */
  readonly mappings: readonly string[]
  /** Datasets whose folder, or data file without dataset.yaml, was removed; absent if there are none. */
  readonly gone?: readonly string[]
}

/** The state of the files of a dataset; null for data files that are not known yet. */
interface FileState {
  readonly definition: string
  readonly mapping: string
  readonly data: string | null
}

/** The state of the files of a portal, by dataset. */
type FileStates = ReadonlyMap<string, FileState>

/**
 * Finds changes of a portal folder by polling: every file system has times and sizes of files, but not all report change events.
 * A change is reported when two successive scans agree on it, because editors write in steps.
 */
export class PortalWatch {
  readonly portal: string
  /** Times of files have fractions of milliseconds. */
  private readonly begun = Date.now() + 1
  private readonly sources: SourceFiles = new Map()
  private reported: FileStates
  private last: FileStates

  constructor(portal: string) {
    this.portal = portal
    this.reported = statesOf(portal, this.sources)
    this.last = this.reported
  }

  /** Datasets whose addresses are due to be fetched. @param now milliseconds since 1970 */
  dueSources(now: number): readonly string[] {
    return dueRemotes(this.portal, now).filter(
      id => readDefinition(this.portal, id).definition?.remote != null,
    )
  }

  /** The changes since the last report; null if there are none. */
  look(): PortalChanges | null {
    const states = statesOf(this.portal, this.sources)
    const definitions: string[] = []
    const mappings: string[] = []
    const described = new Map(this.reported)
    for (const [id, state] of states) {
      const [before, last] = [this.reported.get(id), this.last.get(id)]
      if (last === undefined || !isSame(state, last)) continue
      const isOtherData =
        before?.data === null ? state.data !== null && this.isNewer(id) : state.data !== before?.data
      if (state.definition !== before?.definition || isOtherData) definitions.push(id)
      else if (state.mapping !== before.mapping) mappings.push(id)
      described.set(id, state)
    }
    const gone = [...described.keys()].filter(id => !states.has(id) && !this.last.has(id))
    for (const id of gone) described.delete(id)
    this.last = states
    this.reported = described
    if (definitions.length + mappings.length + gone.length === 0) return null
    return { definitions, mappings, ...(gone.length === 0 ? {} : { gone }) }
  }

  /** Whether the data files of a dataset that have just become known were changed since the first scan; others are no change. */
  private isNewer(id: string): boolean {
    return (this.sources.get(id)?.files ?? []).some(file => {
      const { mtimeMs = 0, ctimeMs = 0 } = statOf(file) ?? {}
      return Math.max(mtimeMs, ctimeMs) > this.begun
    })
  }
}

function isSame(state: FileState, other: FileState): boolean {
  return state.definition === other.definition && state.mapping === other.mapping && state.data === other.data
}

/** The data files that each dataset.yaml names, with the state of that file when it was read. */
type SourceFiles = Map<string, { readonly definition: string; readonly files: readonly string[] }>

/** Files dataset.yaml that one scan reads: of a thousand datasets, reading all would delay a start by seconds. */
const MAX_READ = 50

function statesOf(portal: string, sources: SourceFiles): FileStates {
  const names = namesIn(path.join(portal, 'mappings'))
  const implicit = implicitSources(portal)
  let read = 0
  return new Map(
    definedDatasets(portal, implicit).map(id => {
      const mappings = MAPPING_ENDINGS.map(ending => `${id}${ending}`).filter(name => names.has(name))
      const mapping = mappings
        .map(name => `${name} ${stateOf(path.join(portal, 'mappings', name))}`)
        .join('\n')
      const { folder, file, others = [] } = implicit.get(id) ?? {}
      if (folder !== undefined) {
        const files = [file, ...others].map(name => path.join(folder, String(name)))
        return [id, { definition: filesState(files), mapping, data: '' }]
      }
      const definition = stateOf(path.join(portal, 'data', id, 'dataset.yaml'))
      if (sources.get(id)?.definition !== definition) {
        const published = publishedFiles(portal, id)
        if (published !== null) sources.set(id, { definition, files: published })
        else if (read++ < MAX_READ) sources.set(id, { definition, files: filesOfSource(portal, id) })
      }
      const known = sources.get(id)
      return [
        id,
        { definition, mapping, data: known?.definition === definition ? filesState(known.files) : null },
      ]
    }),
  )
}

function filesState(files: readonly string[]): string {
  return files.flatMap(withParts).map(stateOf).join('\n')
}

/**
 * The files of a source according to its publication, which takes no reading of dataset.yaml; null if dataset.yaml was saved since,
 * or none of them was in data/ or a package.
 */
function publishedFiles(portal: string, id: string): readonly string[] | null {
  const states = sourceStates(versionsOf(portal), id)
  const changeOf = (file: string) => statOf(file)?.ctimeMs ?? 0
  if (changeOf(states) <= changeOf(path.join(portal, 'data', id, 'dataset.yaml'))) return null
  const files = filesOfDigest(states)
  const fetched = path.resolve(portal, 'var') + path.sep
  return files.length === 0 || files.some(file => file.startsWith(fetched)) ? null : files
}

/** The file of a source, even if it is missing; none for addresses, which have a schedule, and for modules. */
function filesOfSource(portal: string, id: string): readonly string[] {
  const { definition } = readDefinition(portal, id)
  if (definition === null || definition.remote !== null) return []
  const { source, sourceFolder } = definition
  if (source.path !== undefined) return [path.resolve(sourceFolder, source.path)]
  try {
    return source.package === undefined ? [] : [packageFile(source.package, portal)]
  } catch {
    // Reported by the publication.
    return []
  }
}

function withParts(file: string): readonly string[] {
  return /\.shp$/i.test(file) ? [file, ...shapefileParts(file)] : [file]
}

function namesIn(folder: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(folder))
  } catch {
    return new Set()
  }
}

function stateOf(file: string): string {
  const found = statOf(file)
  return found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`
}

/** What is known of a file; nothing if it is not there, or may not be read: that holds up no others. */
function statOf(file: string) {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
