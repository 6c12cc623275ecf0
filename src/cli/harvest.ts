import { Command } from 'commander'
import type { ProgressReporter } from '../app/progress.ts'
import type { Config } from '../config/config.ts'
import { usageFault } from '../config/faults.ts'
import { harvestedDatasets } from '../harvest/definitions.ts'
import { type HarvestOutcome, harvest } from '../harvest/harvest.ts'
import { withdrawHarvested } from '../harvest/schedule.ts'
import { HARVEST_FILE, readHarvesters } from '../harvest/settings.ts'
import { openReleases, publishAll, publisherSettings } from '../publishing/publish-all.ts'
import { dueRemotes } from '../publishing/remote/state.ts'
import { currentVersion, isWithdrawn, versionsOf } from '../publishing/versions/versions.ts'
import { publishingShare } from '../runtime/memory.ts'
import { JSON_OPTION, type PortalOptions, servedConfigOf, servedOptions } from './options.ts'
import { printJson, printText } from './print.ts'
import { createProgress } from './progress.ts'
import { preparePublishing } from './publish.ts'

interface HarvestOptions extends PortalOptions {
  readonly dryRun?: boolean
}

/** `lodestone harvest`: creates datasets from the catalogs of other portals, publishes and withdraws them. */
export function harvestCommand(): Command {
  const command = new Command('harvest')
    .description('take over datasets from the catalogs that harvest.yaml lists, and withdraw what is gone')
    .argument('[harvesters...]', 'ids of harvesters (default: all)')
    .option('--dry-run', 'show what would change, and change nothing')
  return servedOptions(command)
    .option(...JSON_OPTION)
    .action(async (names: string[], options: HarvestOptions) => {
      const config = servedConfigOf(options)
      const isDryRun = options.dryRun === true
      if (!isDryRun) preparePublishing(config, 'this harvest')
      const progress = await createProgress(process.stderr)
      const outcomes: HarvestOutcome[] = []
      for (const harvester of chosen(config.portal, names)) {
        const outcome = await harvest(harvester, {
          portal: config.portal,
          now: () => new Date(),
          isDryRun,
        })
        outcomes.push(outcome)
        if (!isDryRun && outcome.failure === null) await publishOutcome(config, outcome, progress)
      }
      progress.done()
      if (options.json === true) printJson(outcomes)
      else printText(outcomes.map(outcome => outcomeText(outcome, isDryRun)).join(''))
      const isFailed = outcomes.some(({ failure }) => failure !== null)
      if (isFailed || progress.failures.length > 0) process.exitCode = 1
    })
}

function chosen(portal: string, names: readonly string[]) {
  const harvesters = readHarvesters(portal)
  const known = harvesters.map(({ id }) => id)
  const unknown = names.filter(name => !known.includes(name))
  if (unknown.length > 0 || harvesters.length === 0)
    throw usageFault(
      harvesters.length === 0
        ? `${portal} has no ${HARVEST_FILE} with harvesters`
        : `there is no harvester ${unknown.join(', ')}; there are: ${known.join(', ')}`,
    )
  return names.length === 0 ? harvesters : harvesters.filter(({ id }) => names.includes(id))
}

async function publishOutcome(
  config: Config,
  { harvester, created, updated, withdrawn }: HarvestOutcome,
  progress: ProgressReporter,
): Promise<void> {
  const { portal, base, keepVersions, memory } = config
  const versions = versionsOf(portal, keepVersions)
  const { shared, close } = await openReleases(publisherSettings(config))
  try {
    await withdrawHarvested(portal, versions, shared, withdrawn, new Date())
    // Those that could not be published at an earlier harvest, too, or whose data one that was killed has not fetched.
    const due = dueRemotes(portal, Date.now())
    const left = [...harvestedDatasets(portal, harvester).values()].filter(
      id => currentVersion(versions, id) === null || due.includes(id),
    )
    const more = [...updated, ...left].filter(id => !isWithdrawn(versions, id))
    const changed = [...new Set([...created, ...more])]
    if (changed.length === 0) return
    const parallel = publishingShare(memory)
    await publishAll(
      { portal, base, keepVersions, now: () => new Date(), shared, isNamed: true, parallel },
      changed,
      message => progress.publication(message),
    )
  } finally {
    await close()
  }
}

function outcomeText(
  { harvester, counts, created, updated, withdrawn, skipped, failure }: HarvestOutcome,
  isDryRun: boolean,
): string {
  if (failure !== null) return `${harvester}: failed: ${failure}\n`
  const { found, unchanged, left } = counts
  const numbers = [
    `${found} found`,
    `${created.length} created`,
    `${updated.length} updated`,
    `${unchanged} unchanged`,
    `${withdrawn.length} withdrawn`,
    `${skipped.length} skipped`,
    ...(left === undefined ? [] : [`${left} left out`]),
  ]
  const lists = [
    ...created.map(id => `  + ${id}`),
    ...updated.map(id => `  ~ ${id}`),
    ...withdrawn.map(id => `  - ${id}`),
    ...skipped.map(({ dataset, reason }) => `  ! ${dataset}: ${reason}`),
  ]
  return `${harvester}${isDryRun ? ' (dry run)' : ''}: ${numbers.join(', ')}\n${lists.map(line => `${line}\n`).join('')}`
}
