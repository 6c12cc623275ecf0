import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { lookup } from '../model/lookup.ts'
import type { RemoteState } from '../publishing/remote/state.ts'
import { replaceDurably } from '../publishing/versions/durable.ts'
import type { Harvester } from './settings.ts'

/** The results of a harvest for the datasets of a catalog. */
export interface HarvestCounts {
  /** Number of datasets according to the catalog. */
  readonly found: number
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly withdrawn: number
  readonly skipped: number
  /** Number of datasets left out because of the limit, or not read; absent for none. */
  readonly left?: number
}

/** The harvested state of a dataset, so that local edits stay until the catalog changes. */
export interface HarvestedState {
  readonly source: string
  readonly fields: string
  readonly metas: string
  /** `template.name` of each piece of metadata. */
  readonly names: readonly string[]
  /** Digests of each piece of metadata, and of each member of a field, by their keys; absent in older states. */
  readonly parts?: Readonly<Record<string, string>>
  readonly modified: string | null
}

/** The state of a harvester. Moments are ISO 8601. */
export interface HarvestState
  extends Pick<RemoteState, 'url' | 'asked' | 'confirmed' | 'failures' | 'reason' | 'next'> {
  readonly counts?: HarvestCounts
  /** The first skipped datasets, with the reasons. */
  readonly skipped?: readonly { readonly dataset: string; readonly reason: string }[]
  /** By their ids in this portal. */
  readonly datasets: Readonly<Record<string, HarvestedState>>
}

/** The folder of the states of all harvesters. */
export function harvestFolder(portal: string): string {
  return path.join(portal, 'var', 'harvest')
}

/** The state of a harvester. After a change of its address it is due at once, and what was harvested before is known. */
export function harvestState(portal: string, { id, url }: Harvester): HarvestState {
  try {
    const state = JSON.parse(readFileSync(stateFile(portal, id), 'utf8')) as HarvestState
    return state.url === url ? state : { url, failures: 0, datasets: state.datasets }
  } catch {
    // There is none yet, or it is damaged: dataset.yaml records what was harvested.
  }
  return { url, failures: 0, datasets: {} }
}

/** Writes the state of a harvester in one step. */
export function writeHarvestState(portal: string, id: string, state: HarvestState): void {
  const file = stateFile(portal, id)
  mkdirSync(path.dirname(file), { recursive: true })
  replaceDurably(file, JSON.stringify(state))
}

/** The harvested state of a dataset. */
export function harvestedState({ datasets }: HarvestState, id: string): HarvestedState | undefined {
  return lookup(datasets, id)
}

function stateFile(portal: string, id: string): string {
  return path.join(harvestFolder(portal), `${id}.json`)
}
