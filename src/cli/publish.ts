import { Command } from 'commander'
import { refuseOtherAddress } from '../app/running.ts'
import type { Config } from '../config/config.ts'
import {
  openReleases,
  type PublishMessage,
  publishAll,
  publisherSettings,
} from '../publishing/publish-all.ts'
import { publishingShare } from '../runtime/memory.ts'
import {
  BASE_OPTION,
  JSON_OPTION,
  PORTAL_OPTION,
  type PortalOptions,
  portArgument,
  servedConfigOf,
  withAccounts,
} from './options.ts'
import { printJson, printText } from './print.ts'
import { createProgress } from './progress.ts'

/** `lodestone publish`: writes new versions without serving; a running server of the portal loads them. */
export function publishCommand(): Command {
  return new Command('publish')
    .description('publish datasets that changed, without serving')
    .argument('[datasets...]', 'ids of datasets (default: all that were not unpublished)')
    .option(...PORTAL_OPTION)
    .option('--port <n>', 'port of the default base address', portArgument)
    .option(...BASE_OPTION)
    .option(...JSON_OPTION)
    .action(async (datasets: string[], options: PortalOptions) => {
      const progress = await createProgress(process.stderr)
      const results: PublishMessage[] = []
      const config = servedConfigOf(options)
      const { portal, base, memory, keepVersions } = config
      refuseOtherAddress(config, 'this publication')
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
      else printText(publicationTable(results))
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

const COLUMNS = ['dataset', 'records', 'triples', 'seconds', 'state'] as const
/** Results that make a table worth while: failures alone are on stderr. */
const SHOWN: ReadonlySet<PublishMessage['type']> = new Set(['published', 'unchanged', 'withdrawn'])
/** Right-aligned columns. */
const NUMBERS: ReadonlySet<number> = new Set([1, 2, 3])

type Row = readonly [dataset: string, records: string, triples: string, seconds: string, state: string]

/** The results of publishing datasets, one a line with records, triples, seconds and state; an empty text if all failed. */
function publicationTable(messages: readonly PublishMessage[]): string {
  if (!messages.some(({ type }) => SHOWN.has(type))) return ''
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
  const lines = [COLUMNS, ...rows.sort(([a], [b]) => (a < b ? -1 : 1))]
  const widths = COLUMNS.map((_, column) => Math.max(...lines.map(line => (line[column] as string).length)))
  return lines
    .map(
      line =>
        `${line
          .map((cell, at) => aligned(cell, at, widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function aligned(cell: string, column: number, width: number): string {
  return NUMBERS.has(column) ? cell.padStart(width) : cell.padEnd(width)
}
