import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { definedDatasets, readDefinition } from './definition.ts'
import { implicitSources } from './implicit.ts'
import { MAPPING_ENDINGS } from './mapping/mapping-file.ts'
import { dueRemotes } from './remote/state.ts'

/** Datasets of which something was saved in the portal folder. */
export interface PortalChanges {
  /** Those whose dataset.yaml, or file of data where there is none, is new or another one. */
  readonly definitions: readonly string[]
  /** Those of which only the mapping is new, another one, or gone. */
  readonly mappings: readonly string[]
}

/** The state of the files of a portal, by dataset. */
type Marks = ReadonlyMap<string, { readonly definition: string; readonly mapping: string }>

/**
 * Finds what was saved in a portal folder by looking at it again and again: times and sizes of files are what every file
 * system has, also those that tell of no events. A change is reported once it is the same at two looks, for editors write in
 * steps.
 */
export class PortalWatch {
  readonly portal: string
  private reported: Marks
  private last: Marks

  constructor(portal: string) {
    this.portal = portal
    this.reported = marksOf(portal)
    this.last = this.reported
  }

  /** Datasets whose addresses are to be asked now. @param now milliseconds since 1970 */
  dueSources(now: number): readonly string[] {
    return dueRemotes(this.portal, now).filter(
      id => readDefinition(this.portal, id).definition?.remote != null,
    )
  }

  /** What has changed since it was reported before; null for nothing. */
  look(): PortalChanges | null {
    const marks = marksOf(this.portal)
    const definitions: string[] = []
    const mappings: string[] = []
    const described = new Map(this.reported)
    for (const [id, mark] of marks) {
      const [before, last] = [this.reported.get(id), this.last.get(id)]
      if (mark.definition !== last?.definition || mark.mapping !== last.mapping) continue
      if (mark.definition !== before?.definition) definitions.push(id)
      else if (mark.mapping !== before.mapping) mappings.push(id)
      described.set(id, mark)
    }
    for (const id of described.keys()) if (!marks.has(id)) described.delete(id)
    this.last = marks
    this.reported = described
    return definitions.length + mappings.length === 0 ? null : { definitions, mappings }
  }
}

function marksOf(portal: string): Marks {
  const names = namesIn(path.join(portal, 'mappings'))
  const implicit = implicitSources(portal)
  return new Map(
    definedDatasets(portal).map(id => {
      const files = MAPPING_ENDINGS.map(ending => `${id}${ending}`).filter(name => names.has(name))
      const marks = files.map(name => `${name} ${markOf(path.join(portal, 'mappings', name))}`)
      const { folder = path.join(portal, 'data', id), file = 'dataset.yaml' } = implicit.get(id) ?? {}
      const definition = markOf(path.join(folder, file))
      return [id, { definition, mapping: marks.join('\n') }]
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

function markOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`
}
