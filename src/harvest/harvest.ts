import { existsSync } from 'node:fs'
import path from 'node:path'
import { CONFIG_INVALID } from '../config/faults.ts'
import { Fault, faultText } from '../errors/errors.ts'
import { setMember } from '../model/lookup.ts'
import { readDefinition } from '../publishing/definition.ts'
import { expireRemote } from '../publishing/remote/refresh.ts'
import { nextTime } from '../runtime/cron.ts'
import { unreadable } from '../sources/source.ts'
import type { OfferedDataset, ReadCatalog, SkippedDataset } from './catalog.ts'
import { readCkan } from './ckan.ts'
import { readDataJson } from './datajson.ts'
import { readDcat } from './dcat.ts'
import { createDefinition, harvestedDatasets, localId, stateOf, updateDefinition } from './definitions.ts'
import { readOpendatasoft } from './opendatasoft.ts'
import { catalogReader } from './reader.ts'
import { HARVEST_FILE, type Harvester, isRequired } from './settings.ts'
import {
  type HarvestCounts,
  type HarvestedState,
  type HarvestState,
  harvestedState,
  harvestState,
  writeHarvestState,
} from './state.ts'

/** The result of a harvest, or of a dry run, for the datasets of a portal. */
export interface HarvestOutcome {
  readonly harvester: string
  readonly counts: HarvestCounts
  /** Datasets of this portal, to be published, and to be withdrawn. */
  readonly created: readonly string[]
  readonly updated: readonly string[]
  readonly withdrawn: readonly string[]
  readonly skipped: readonly SkippedDataset[]
  /** Why nothing was changed; null if the catalog could be read. */
  readonly failure: string | null
}

export interface HarvestContext {
  readonly portal: string
  readonly now: () => Date
  readonly isDryRun: boolean
}

/** Maximum number of skipped datasets whose reasons are stored. */
const MAX_SKIPPED = 100

/**
 * Reads a catalog and writes the folders of its datasets: new ones are created, others changed if the catalog changed. Nothing is
 * changed if the catalog cannot be read, or has no datasets any more; the caller withdraws datasets that are gone from a
 * completely read catalog.
 */
export async function harvest(harvester: Harvester, context: HarvestContext): Promise<HarvestOutcome> {
  const { portal, now, isDryRun } = context
  const before = harvestState(portal, harvester)
  const requested = now().toISOString()
  try {
    const known = harvestedDatasets(portal, harvester.id)
    const catalog = await readCatalog(harvester, context)
    if (catalog.found === 0 && known.size > 0)
      throw unreadable(`The catalog has no datasets any more, and ${known.size} were harvested: they stay.`, {
        file: harvester.url,
      })
    const { outcome, datasets } = takeOver(harvester, catalog, known, before, context)
    const { reason: _, ...rest } = before
    const { counts, skipped } = outcome
    if (!isDryRun)
      finish(portal, harvester, {
        ...rest,
        asked: requested,
        confirmed: requested,
        failures: 0,
        counts,
        skipped: skipped.slice(0, MAX_SKIPPED),
        datasets,
      })
    return outcome
  } catch (error) {
    if (!(error instanceof Fault) && !(error instanceof RangeError)) throw error
    const failure = error instanceof Fault ? faultText(error) : error.message
    if (!isDryRun)
      finish(portal, harvester, {
        ...before,
        asked: requested,
        failures: before.failures + 1,
        reason: failure,
      })
    const counts = { found: 0, created: 0, updated: 0, unchanged: 0, withdrawn: 0, skipped: 0 }
    return { harvester: harvester.id, counts, created: [], updated: [], withdrawn: [], skipped: [], failure }
  }
}

function finish(portal: string, { id, refresh }: Harvester, state: HarvestState): void {
  const { next: _, ...rest } = state
  const next = nextTime(refresh, Date.parse(state.asked ?? ''), state.failures)
  writeHarvestState(portal, id, next === null ? rest : { ...rest, next: new Date(next).toISOString() })
}

interface HarvestedCatalog extends ReadCatalog {
  /** What `only` and `except` name, and a catalog that was read to its end does not have. */
  readonly unknown: readonly SkippedDataset[]
}

async function readCatalog(harvester: Harvester, context: HarvestContext): Promise<HarvestedCatalog> {
  const { only = [], except = [] } = harvester
  const unknown = new Set([...only, ...except])
  let example: string | undefined
  const catalog = await readAll(harvester, context, id => {
    unknown.delete(id)
    example ??= id
    return isRequired(harvester, id)
  })
  if (!catalog.isComplete || example === undefined) return { ...catalog, unknown: [] }
  const reason = `${HARVEST_FILE} names it, and no dataset of the catalog has this id: the first one has ${JSON.stringify(example.slice(0, 200))}`
  return { ...catalog, unknown: [...unknown].map(name => ({ dataset: name.slice(0, 200), reason })) }
}

function readAll(
  harvester: Harvester,
  { portal, now }: HarvestContext,
  isRequiredId: (id: string) => boolean,
): Promise<ReadCatalog> {
  const reader = { ...catalogReader(portal, harvester, now), isRequired: isRequiredId }
  const { type, url } = harvester
  switch (type) {
    case 'lodestone':
    case 'opendatasoft':
      return readOpendatasoft(reader, url)
    case 'ckan':
      return readCkan(reader, url)
    case 'dcat':
      return readDcat(reader, url)
    case 'data.json':
      return readDataJson(reader, url)
    default:
      return type satisfies never
  }
}

function takeOver(
  harvester: Harvester,
  catalog: HarvestedCatalog,
  known: ReadonlyMap<string, string>,
  before: HarvestState,
  { portal, now, isDryRun }: HarvestContext,
) {
  const skipped: SkippedDataset[] = [...catalog.skipped]
  const datasets: Record<string, HarvestedState> = {}
  const [created, updated, present]: [string[], string[], Set<string>] = [[], [], new Set()]
  const ids = new Set<string>()
  const taken = new Set(known.values())
  let unchanged = 0
  for (const offered of catalog.offered) {
    if (ids.has(offered.id)) {
      skipped.push({ dataset: offered.id.slice(0, 200), reason: 'another dataset of the catalog has its id' })
      continue
    }
    ids.add(offered.id)
    const id = known.get(offered.id) ?? localId(harvester, offered.id, taken)
    taken.add(id)
    present.add(id)
    const last = harvestedState(before, id)
    try {
      const isNew = !known.has(offered.id)
      if (isNew && existsSync(path.join(portal, 'data', id)))
        throw new Fault(CONFIG_INVALID, { reason: whyTaken(portal, id) })
      const isChanged = isNew || isOutdated(offered, harvester, last)
      if (!isDryRun && isNew) createDefinition(portal, id, offered, harvester)
      if (!isDryRun && !isNew && isChanged) {
        updateDefinition(portal, id, offered, harvester, last)
        if (offered.modified !== last?.modified) expireRemote(portal, id, now())
      }
      setMember(datasets, id, stateOf(offered, harvester))
      if (isNew) created.push(id)
      else if (isChanged) updated.push(id)
      else unchanged += 1
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      skipped.push({ dataset: offered.id.slice(0, 200), reason: error.message.slice(0, 500) })
      if (last !== undefined) setMember(datasets, id, last)
    }
  }
  // Datasets whose offer became unusable stay: only those that are gone are withdrawn. Long ids are cut among the skipped ones.
  const still = new Set(skipped.map(({ dataset }) => dataset.slice(0, 200)))
  const gone = [...known].filter(
    ([remote, id]) =>
      !present.has(id) &&
      ((catalog.isComplete && !still.has(remote.slice(0, 200))) || !isRequired(harvester, remote)),
  )
  const withdrawn = gone.map(([, id]) => id)
  skipped.push(...catalog.unknown)
  for (const id of known.values()) {
    const last = harvestedState(before, id)
    if (!present.has(id) && !withdrawn.includes(id) && last !== undefined) setMember(datasets, id, last)
  }
  const counts = {
    found: catalog.found,
    created: created.length,
    updated: updated.length,
    unchanged,
    withdrawn: withdrawn.length,
    skipped: skipped.length,
    ...(catalog.left === 0 ? {} : { left: catalog.left }),
  }
  return {
    outcome: { harvester: harvester.id, counts, created, updated, withdrawn, skipped, failure: null },
    datasets,
  }
}

/** Why a dataset of a catalog cannot have an id. */
function whyTaken(portal: string, id: string): string {
  const { definition } = readDefinition(portal, id)
  if (definition === null) return `the dataset.yaml of ${id} has errors, which lodestone check ${id} lists`
  const { harvest: origin } = definition
  return origin === null
    ? `the portal has a dataset ${id} of its own`
    : `the portal has a dataset ${id} that was harvested by ${origin.by}`
}

/** True if the catalog describes a dataset differently than last time. */
function isOutdated(
  offered: OfferedDataset,
  harvester: Harvester,
  last: HarvestedState | undefined,
): boolean {
  if (last === undefined) return true
  const now = stateOf(offered, harvester)
  return (
    now.source !== last.source ||
    now.fields !== last.fields ||
    now.metas !== last.metas ||
    now.modified !== last.modified
  )
}
