import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { lookup } from '../model/lookup.ts'
import type { Harvester } from './settings.ts'

/** What a harvest did with the datasets of a catalog. */
export interface HarvestCounts {
  /** Datasets that the catalog has, as it counts them. */
  readonly found: number
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly withdrawn: number
  readonly skipped: number
}

/** What was taken over of a dataset, so that what is edited here stays until it changes there. */
export interface HarvestedState {
  readonly source: string
  readonly fields: string
  readonly metas: string
  /** `template.name` of each piece of metadata. */
  readonly names: readonly string[]
  readonly modified: string | null
}

/** What is known of a harvester. Moments are ISO 8601. */
export interface HarvestState {
  readonly url: string
  /** When the catalog was asked last, and when it last could be read. */
  readonly asked?: string
  readonly confirmed?: string
  /** How often it failed since, and why the last time. */
  readonly failures: number
  readonly reason?: string
  /** When it is to be asked next. */
  readonly next?: string
  readonly counts?: HarvestCounts
  /** The first datasets that were left out, with the reasons. */
  readonly skipped?: readonly { readonly dataset: string; readonly reason: string }[]
  /** By their ids in this portal. */
  readonly datasets: Readonly<Record<string, HarvestedState>>
}

/** The folder of the states of all harvesters. */
export function harvestFolder(portal: string): string {
  return path.join(portal, 'var', 'harvest')
}

/** What is known of a harvester; of another address than its present one nothing is. */
export function harvestState(portal: string, { id, url }: Harvester): HarvestState {
  try {
    const state = JSON.parse(readFileSync(stateFile(portal, id), 'utf8')) as HarvestState
    if (state.url === url) return state
  } catch {
    // There is none yet, or it is damaged: dataset.yaml says what was harvested.
  }
  return { url, failures: 0, datasets: {} }
}

/** Writes what is known of a harvester, in one step. */
export function writeHarvestState(portal: string, id: string, state: HarvestState): void {
  const file = stateFile(portal, id)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, JSON.stringify(state))
  renameSync(`${file}.new`, file)
}

/** What was taken over of a dataset. */
export function harvestedState({ datasets }: HarvestState, id: string): HarvestedState | undefined {
  return lookup(datasets, id)
}

function stateFile(portal: string, id: string): string {
  return path.join(harvestFolder(portal), `${id}.json`)
}
