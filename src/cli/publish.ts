import { Command } from 'commander'
import { refuseOtherAddress, runningServers } from '../app/running.ts'
import type { Config } from '../config/config.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../errors/errors.ts'
import { completeDrafts } from '../publishing/management/drafts.ts'
import {
  openReleases,
  type PublishMessage,
  publishAll,
  publisherSettings,
} from '../publishing/publish-all.ts'
import { withdrawEverywhere } from '../publishing/registry/registry.ts'
import { suggestedDataset } from '../publishing/suggested-dataset.ts'
import { publishedDatasets, versionsOf } from '../publishing/versions/versions.ts'
import { publishingShare } from '../runtime/memory.ts'
import {
  JSON_OPTION,
  type PortalOptions,
  printColumns,
  servedConfigOf,
  servedOptions,
  withAccounts,
} from './options.ts'
import { printJson } from './print.ts'
import { createProgress } from './progress.ts'

/** `lodestone publish`: writes new versions without serving; a running server of the portal loads them. */
export function publishCommand(): Command {
  const command = new Command('publish')
    .description('publish datasets that changed, without serving')
    .argument('[datasets...]', 'ids of datasets (default: all that were not unpublished)')
  return servedOptions(command)
    .option(...JSON_OPTION)
    .action(async (datasets: string[], options: PortalOptions) => {
      const progress = await createProgress(process.stderr)
      const results: PublishMessage[] = []
      const config = servedConfigOf(options)
      const { portal, base, memory, keepVersions } = config
      preparePublishing(config, 'this publication')
      const { shared, close } = await openReleases(publisherSettings(config))
      await publishAll(
        {
          portal,
          base,
          keepVersions,
          endsRollBack: datasets.length > 0,
          now: () => new Date(),
          shared,
          isNamed: datasets.length > 0,
          parallel: publishingShare(memory),
        },
        datasets.length > 0 ? datasets : null,
        message => {
          progress.publication(message)
          if (message.type !== 'progress' && message.type !== 'loading') results.push(message)
        },
      )
      await close()
      await noteResults(config, results)
      progress.done()
      if (options.json === true) printJson(results)
      else printResults(results)
      if (progress.failures.length > 0) process.exitCode = 1
    })
}

/** Records the published datasets in the audit log. */
async function noteResults(config: Config, results: readonly PublishMessage[]): Promise<void> {
  const noted = results.filter(
    ({ type }) => type === 'published' || type === 'failed' || type === 'withdrawn',
  )
  if (noted.length === 0) return
  await withAccounts(config, async ({ audit }) => {
    for (const { type, dataset } of noted) await audit.note(type, dataset)
  })
}

/** Results that make a table worth while: failures alone are on stderr. */
const SHOWN: ReadonlySet<PublishMessage['type']> = new Set(['published', 'unchanged', 'withdrawn'])

type Row = readonly [dataset: string, records: string, triples: string, seconds: string, state: string]

/** Prints the results of publishing datasets, one a line; nothing if all failed. */
function printResults(messages: readonly PublishMessage[]): void {
  if (!messages.some(({ type }) => SHOWN.has(type))) return
  const rows: Row[] = []
  for (const message of messages) {
    const { dataset, type } = message
    switch (type) {
      case 'published':
      case 'unchanged':
        rows.push([dataset, `${message.records}`, `${message.triples}`, message.seconds.toFixed(1), type])
        break
      case 'failed':
        rows.push([dataset, '-', '-', message.seconds.toFixed(1), 'failed'])
        break
      case 'withdrawn':
        rows.push([dataset, '-', '-', '-', 'withdrawn'])
        break
      case 'mapping-refused': {
        const at = rows.findLastIndex(row => row[0] === dataset)
        const [, records = '-', triples = '-', seconds = '-'] = rows[at] ?? []
        rows.splice(at < 0 ? rows.length : at, 1, [dataset, records, triples, seconds, 'mapping refused'])
        break
      }
      case 'progress':
      case 'loading':
      case 'waiting':
        break
      default:
        message satisfies never
    }
  }
  rows.sort(([a], [b]) => (a < b ? -1 : 1))
  printColumns(['dataset', 'records', 'triples', 'seconds', 'state'], rows, [1, 2, 3])
}

/** `lodestone unpublish`: withdraws a dataset until it is published again by name. */
export function unpublishCommand(): Command {
  const command = new Command('unpublish')
    .description('withdraw datasets; publishing them by name brings them back')
    .argument('<datasets...>', 'ids of datasets')
  return servedOptions(command).action(async (datasets: string[], options: PortalOptions) => {
    const unknown = new Set(datasets)
    const config = servedConfigOf(options)
    const withdrawn: string[] = []
    const versions = versionsOf(config.portal)
    const { shared, close } = await openReleases(publisherSettings(config))
    for (const id of datasets) {
      if (!(await withdrawEverywhere(versions, shared, id))) continue
      unknown.delete(id)
      withdrawn.push(id)
    }
    await close()
    if (withdrawn.length > 0)
      await withAccounts(config, async ({ audit }) => {
        for (const id of withdrawn) await audit.note('withdrawn', id)
      })
    if (unknown.size > 0) {
      const published = publishedDatasets(versions)
      const hints = [...unknown].map(id => suggestedDataset(id, published))
      const hint = [...new Set(hints)].join(' ').trim()
      const parts = { kind: 'published dataset', id: [...unknown].join(', ') }
      throw new Fault(NOT_FOUND_RESOURCE, parts, hint === '' ? {} : { hint })
    }
  })
}

/**
 * Before a command publishes: refuses to work beside a server with another address (ConfigInvalid), and completes the drafts that a
 * server which was killed has left. One that runs has done so when it started.
 */
export function preparePublishing(config: Config, who: string): void {
  refuseOtherAddress(config, who)
  if (runningServers(config.portal, Date.now()).length === 0) completeDrafts(config.portal)
}
