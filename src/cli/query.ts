import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { Command, Option } from 'commander'
import { queryForm, withBaseAddress } from '../catalog/example-queries.ts'
import type { Config } from '../config/config.ts'
import { usageFault } from '../config/faults.ts'
import { DEFAULTS } from '../config/schema.ts'
import { BAD_GATEWAY, Fault } from '../errors/errors.ts'
import type { Prefixes } from '../formats/turtle.ts'
import { definedDatasets } from '../publishing/definition.ts'
import { followContinuations } from '../sparql/follow.ts'
import { inOrderOfQuery } from '../sparql/variable-order.ts'
import { JSON_OPTION, type PortalOptions, servedConfigOf, servedOptions } from './options.ts'
import { print } from './print.ts'
import {
  ANSWER_FORMATS,
  type ComunicaAnswer,
  type GivenTriple,
  type QueryFormat,
  writeQueryAnswer,
} from './query/answer.ts'
import {
  checkDatasets,
  fetchWithKey,
  isSourceAddress,
  PROTOCOLS,
  type Protocol,
  type QuerySource,
  querySources,
} from './query/sources.ts'

interface Options extends PortalOptions {
  readonly format?: QueryFormat
  readonly via: Protocol
  readonly key?: string
  readonly source: readonly string[]
}

/** `lodestone query`: SPARQL with Comunica over served datasets of this portal and other sources. */
export function queryCommand(): Command {
  const command = new Command('query')
  command
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
  return servedOptions(command)
    .option(...JSON_OPTION)
    .action(async (words: readonly string[], options: Options) => {
      const named = words.slice(0, -1)
      const given = words.at(-1)
      if (given === undefined) return command.error("error: missing required argument 'dataset'")
      if (named.length + options.source.length === 0)
        command.error("error: missing required argument 'sparql', after the dataset that it is asked of")
      const { base, portal } = placeOf(named, options)
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

/** The portal, and its base address; the current folder where only addresses are asked, which need no portal. */
function placeOf(named: readonly string[], options: Options): Pick<Config, 'portal' | 'base'> {
  const { portal = process.env.LODESTONE_PORTAL, base, port } = options
  const isPlaceGiven = [portal, base, port].some(given => given !== undefined) || existsSync('portal.yaml')
  return isPlaceGiven || !named.every(isSourceAddress)
    ? servedConfigOf(options)
    : { portal: '.', base: `http://localhost:${DEFAULTS.port}` }
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
    throw usageFault(`${file}: ${reason}.`)
  })
}

/** The prefixes that a query declares: its answer is written with them too. */
export function knownPrefixes(query: string): Prefixes {
  const found = query.matchAll(/\bPREFIX\s+([A-Za-z][\w-]*):\s*<([^<>\s]+)>/gi)
  return Object.fromEntries(Array.from(found, ([, prefix = '', namespace = '']) => [prefix, namespace]))
}

/**
 * Runs a query with Comunica over one source, or a join of several. Faults: Usage, BadGateway.
 *
 * @param send sends the requests to the sources
 */
async function runComunica(
  query: string,
  sources: readonly QuerySource[],
  send: typeof fetch = fetch,
): Promise<ComunicaAnswer> {
  const { QueryEngine } = await loadComunica()
  const engine = new QueryEngine()
  const [first, ...rest] = sources
  if (first === undefined) throw usageFault('a query needs a source.')
  const context = { sources: [first, ...rest], fetch: send } satisfies {
    readonly sources: [QuerySource, ...QuerySource[]]
    readonly fetch: typeof fetch
  }
  // The context is copied, because `explain` modifies it.
  await engine.explain(query, { ...context }, 'parsed').catch(async error => {
    throw await querySyntaxFault(error, query)
  })
  if (queryForm(query) === null)
    throw usageFault('only SELECT, ASK, CONSTRUCT and DESCRIBE are run: sources are only read.')
  try {
    const result = await engine.query(query, context)
    switch (result.resultType) {
      case 'bindings': {
        const rows = await result.execute()
        const { variables } = await result.metadata()
        const names = variables.map(({ value }) => value)
        return { type: 'rows', variables: inOrderOfQuery(query, names), rows: described(rows) }
      }
      case 'quads':
        return { type: 'triples', triples: described((await result.execute()) as AsyncIterable<GivenTriple>) }
      case 'boolean':
        return { type: 'truth', value: await result.execute() }
      default:
        throw usageFault('updates are not run: sources are only read.')
    }
  } catch (error) {
    throw comunicaFault(error)
  }
}

/** Comunica is a dependency of a checkout, and optional for an installed Lodestone: servers do not need it. */
async function loadComunica() {
  try {
    return await import('@comunica/query-sparql')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    const reason =
      'lodestone query needs Comunica, which is not installed here: run npm install @comunica/query-sparql beside Lodestone.'
    throw usageFault(reason, cause)
  }
}

async function* described<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items
  } catch (error) {
    throw comunicaFault(error)
  }
}

/** Describes in one line where a text is no SPARQL, and what is expected there. */
export async function querySyntaxFault(error: unknown, query: string): Promise<Fault> {
  const { syntaxProblem } = await import('../sparql/syntax.ts')
  const problem = syntaxProblem(query)
  const offset = problem?.from ?? /at offset: (\d+)/.exec(messageOf(error))?.[1]
  const before = offset === undefined ? null : query.slice(0, Number(offset)).split('\n')
  const place = before === null ? '' : `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: `
  const isLexer = /unexpected character/.test(messageOf(error))
  const reason =
    problem?.reason ?? (isLexer ? 'Comunica cannot read the query at this place.' : lineOf(error))
  return usageFault(`the query cannot be read: ${place}${reason}`, error)
}

/** Describes in one line why a valid query failed. */
export function comunicaFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  return new Fault(BAD_GATEWAY, { reason: `the query failed: ${lineOf(error)}` }, { cause: error })
}

const MAX_WORD_LENGTH = 120
const MAX_LINE_LENGTH = 500

/** A message in one line; long words, such as addresses, are truncated and credentials redacted. */
function lineOf(error: unknown): string {
  return messageOf(error)
    .replace(/(apikey|access_token)=[^&\s>"']*/gi, '$1=redacted')
    .split(/\s+/)
    .filter(word => word !== '')
    .map(word => (word.length > MAX_WORD_LENGTH ? `${word.slice(0, MAX_WORD_LENGTH)}…` : word))
    .join(' ')
    .slice(0, MAX_LINE_LENGTH)
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
