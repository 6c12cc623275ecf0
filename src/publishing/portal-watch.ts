import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { definedDatasets, readDefinition } from './definition.ts'
import { implicitSources } from './implicit.ts'
import { MAPPING_ENDINGS } from './mapping/mapping-file.ts'
import { dueRemotes } from './remote/state.ts'

/** Datasets whose files in the portal folder were changed. */
export interface PortalChanges {
  /** Datasets whose dataset.yaml, or data file if there is none, is new or changed. */
  readonly definitions: readonly string[]
  /** Datasets of which only the mapping is new, changed or removed. */
  readonly mappings: readonly string[]
}

/** The state of the files of a portal, by dataset. */
type FileStates = ReadonlyMap<string, { readonly definition: string; readonly mapping: string }>

/**
 * Finds changes of a portal folder by polling: every file system has times and sizes of files, but not all report change events.
 * A change is reported when two successive scans agree on it, because editors write in steps.
 */
export class PortalWatch {
  readonly portal: string
  private reported: FileStates
  private last: FileStates

  constructor(portal: string) {
    this.portal = portal
    this.reported = statesOf(portal)
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
    const states = statesOf(this.portal)
    const definitions: string[] = []
    const mappings: string[] = []
    const described = new Map(this.reported)
    for (const [id, state] of states) {
      const [before, last] = [this.reported.get(id), this.last.get(id)]
      if (state.definition !== last?.definition || state.mapping !== last.mapping) continue
      if (state.definition !== before?.definition) definitions.push(id)
      else if (state.mapping !== before.mapping) mappings.push(id)
      described.set(id, state)
    }
    for (const id of described.keys()) if (!states.has(id)) described.delete(id)
    this.last = states
    this.reported = described
    return definitions.length + mappings.length === 0 ? null : { definitions, mappings }
  }
}

function statesOf(portal: string): FileStates {
  const names = namesIn(path.join(portal, 'mappings'))
  const implicit = implicitSources(portal)
  return new Map(
    definedDatasets(portal).map(id => {
      const files = MAPPING_ENDINGS.map(ending => `${id}${ending}`).filter(name => names.has(name))
      const states = files.map(name => `${name} ${stateOf(path.join(portal, 'mappings', name))}`)
      const { folder = path.join(portal, 'data', id), file = 'dataset.yaml' } = implicit.get(id) ?? {}
      const definition = stateOf(path.join(folder, file))
      return [id, { definition, mapping: states.join('\n') }]
    }),
  )
}

function namesIn(folder: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(folder))
  } catch {
    return new Set()
  }
}

function stateOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`
}
