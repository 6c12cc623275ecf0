import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { Command, Option } from 'commander'
import { withBaseAddress } from '../catalog/example-queries.ts'
import { USAGE } from '../config/faults.ts'
import { Fault } from '../errors/errors.ts'
import type { Prefixes } from '../formats/turtle.ts'
import { definedDatasets } from '../publishing/definition.ts'
import { followContinuations } from '../sparql/follow.ts'
import {
  BASE_OPTION,
  JSON_OPTION,
  PORTAL_OPTION,
  type PortalOptions,
  portArgument,
  servedConfigOf,
} from './options.ts'
import { print } from './print.ts'
import { ANSWER_FORMATS, type QueryFormat, writeQueryAnswer } from './query/answer.ts'
import { comunicaFault, runComunica } from './query/engine.ts'
import { checkDatasets, fetchWithKey, PROTOCOLS, type Protocol, querySources } from './query/sources.ts'

interface Options extends PortalOptions {
  readonly format?: QueryFormat
  readonly via: Protocol
  readonly key?: string
  readonly source: readonly string[]
}

/** `lodestone query`: SPARQL with Comunica over served datasets of this portal and other sources. */
export function queryCommand(): Command {
  const command = new Command('query')
  return command
    .description('run a SPARQL query with Comunica over one served dataset or several')
    .usage('[options] [DATASET...] SPARQL')
    .argument(
      '[words...]',
      'ids of datasets or addresses of fragments and endpoints; then the query, @FILE or -',
    )
    .addOption(
      new Option('--via <way>', 'how datasets of the portal are asked')
        .choices(PROTOCOLS)
        .default('fragments'),
    )
    .option('--key <key>', 'an API key, which the portal is shown and nobody else, for restricted datasets')
    .option(
      '--source <address>',
      'another source, as KIND@ADDRESS where its kind cannot be found out',
      (address, before: readonly string[]) => [...before, address],
      [] as readonly string[],
    )
    .addOption(new Option('--format <name>', 'how the answer is written').choices(ANSWER_FORMATS))
    .option(...PORTAL_OPTION)
    .option('--port <n>', 'port of the default base address', portArgument)
    .option(...BASE_OPTION)
    .option(...JSON_OPTION)
    .action(async (words: readonly string[], options: Options) => {
      const named = words.slice(0, -1)
      const given = words.at(-1)
      if (given === undefined) return command.error("error: missing required argument 'dataset'")
      if (named.length + options.source.length === 0)
        command.error("error: missing required argument 'sparql', after the dataset that it is asked of")
      const { base, portal } = servedConfigOf(options)
      const query = await queryFromFile(given, base)
      const send = options.key === undefined ? fetch : fetchWithKey(base, options.key)
      const sources = querySources(named, options.source, { base, protocol: options.via })
      await checkDatasets(sources, base, definedDatasets(portal), send)
      await run(async () => {
        const answer = await runComunica(query, sources, followContinuations(send))
        const format = options.format ?? (options.json === true ? 'json' : null)
        const standard = process.stdout.isTTY === true ? 'table' : 'csv'
        await print(writeQueryAnswer(answer, format, standard, knownPrefixes(query)))
      })
    })
}

/** Milliseconds that requests in progress get after a failure. */
const GRACE = 200

/** Comunica throws some of its errors outside of any awaited promise, and continues with requests after the first. */
async function run(work: () => Promise<void>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: unknown) => {
      setTimeout(() => process.exit(), GRACE).unref()
      // Node would warn that the rejection reported here was handled late.
      process.removeAllListeners('warning')
      reject(comunicaFault(error))
    }
    process.on('uncaughtException', fail).on('unhandledRejection', fail)
    work().then(resolve, fail)
  })
}

/**
 * The text of a query on the command line: the argument itself, `@file`, or `-` for standard input. As in the example queries of
 * a portal, `<{base}` is replaced by its address.
 */
export async function queryFromFile(given: string, base: string): Promise<string> {
  return withBaseAddress(await rawText(given), base)
}

async function rawText(given: string): Promise<string> {
  if (given === '-') return text(process.stdin)
  if (!given.startsWith('@')) return given
  const file = given.slice(1)
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'there is no such file' : error.message
    throw new Fault(USAGE, { reason: `${file}: ${reason}.` })
  })
}

/** The prefixes that a query declares: its answer is written with them too. */
export function knownPrefixes(query: string): Prefixes {
  const found = query.matchAll(/\bPREFIX\s+([A-Za-z][\w-]*):\s*<([^<>\s]+)>/gi)
  return Object.fromEntries(Array.from(found, ([, prefix = '', namespace = '']) => [prefix, namespace]))
}
