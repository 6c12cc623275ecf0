import { Command, InvalidArgumentError, Option } from 'commander'
import { Catalog } from '../catalog/catalog.ts'
import { isFault, NOT_FOUND_RESOURCE, recoded } from '../errors/errors.ts'
import { parseWhere } from '../language/odsql/parse.ts'
import { exactJson } from '../model/exact-json.ts'
import { isLanguage, LANGUAGES, type Language } from '../model/language.ts'
import { isTimeZone } from '../model/time.ts'
import { openPortalStore } from '../publishing/registry/portal-store.ts'
import { absenceHint } from '../publishing/suggested-dataset.ts'
import { type Versions, versionsOf } from '../publishing/versions/versions.ts'
import { EXPLORE_V20, EXPLORE_V21, SEARCH_V2 } from '../query/dialect.ts'
import type { ExecutedStatement } from '../query/execute/executor.ts'
import { explainOdsql } from '../query/execute/explain.ts'
import { countArgument, JSON_OPTION, type PortalOptions, servedConfigOf, servedOptions } from './options.ts'
import { counted, printText } from './print.ts'

interface ExplainOptions extends PortalOptions {
  readonly select?: string
  readonly groupBy?: string
  readonly orderBy?: string
  readonly limit: number
  readonly offset: number
  readonly timezone: string
  readonly lang?: Language
  readonly dialect: string
}

const DIALECTS = [EXPLORE_V21, EXPLORE_V20, SEARCH_V2]

/** `lodestone explain`: every stage of a query from text to answer, and the time of each. */
export function explainCommand(): Command {
  const command = new Command('explain')
    .description('show every stage of an ODSQL query, from text to SPARQL, and the time of each')
    .argument('<dataset>', 'id of a published dataset')
    .argument('<query>', 'a where clause; an empty text for all records')
    .option('--select <clause>', 'select clause')
    .option('--group-by <clause>', 'group_by clause')
    .option('--order-by <clause>', 'order_by clause')
    .option('--limit <n>', 'number of rows', countArgument, 10)
    .option('--offset <n>', 'rows passed over', countArgument, 0)
    .option('--timezone <zone>', 'time zone of dates', zoneArgument, 'UTC')
    .addOption(
      new Option(
        '--lang <code>',
        'language of the texts of dates (default: the first of the portal)',
      ).choices(LANGUAGES),
    )
    .addOption(
      new Option('--dialect <name>', 'generation of the API')
        .choices(DIALECTS.map(({ name }) => name))
        .default(EXPLORE_V21.name),
    )
  return servedOptions(command)
    .option(...JSON_OPTION)
    .action(async (id: string, where: string, options: ExplainOptions) => {
      const config = servedConfigOf(options)
      const versions = versionsOf(config.portal)
      const { store, registry } = await openPortalStore({ ...config, workers: 1 }, versions)
      const catalog = new Catalog({ base: config.base, store, versions, registry, grace: 0 })
      try {
        await catalog.refresh()
        const { dataset, target } = served(catalog, id, versions, config.base)
        const dialect = DIALECTS.find(({ name }) => name === options.dialect) ?? EXPLORE_V21
        const { select, groupBy, orderBy, limit, offset, timezone } = options
        const language = options.lang ?? config.languages.find(isLanguage) ?? LANGUAGES[0]
        const context = { dataset, technical: true, timezone, language, dialect, now: Date.now() }
        const clauses = { select, where: [where], groupBy, orderBy, limit, offset }
        const requested = { target, store, clock: () => performance.now() }
        const { plan, statements, answer, milliseconds } = await explainOdsql(clauses, context, requested)
        const stages = {
          text: where,
          ast: where.trim() === '' ? null : parseWhere(where),
          plan,
          statements,
          answer: { total: answer.total, rows: answer.rows.map(({ object }) => object) },
          milliseconds,
        }
        printText(options.json === true ? `${exactJson(stages, 2)}\n` : explainText(stages))
      } finally {
        catalog.close()
        await store.close()
      }
    })
}

function zoneArgument(text: string): string {
  if (!isTimeZone(text)) throw new InvalidArgumentError('a time zone such as Europe/Paris is expected.')
  return text
}

/** Faults: NotFoundResource, with the dataset that was probably meant. */
function served(catalog: Catalog, id: string, versions: Versions, base: string) {
  try {
    return catalog.dataset(id)
  } catch (error) {
    if (!isFault(error, NOT_FOUND_RESOURCE)) throw error
    throw recoded(error, NOT_FOUND_RESOURCE, absenceHint(versions, id, base))
  }
}

function explainText(stages: Readonly<Record<string, unknown>>): string {
  return Object.entries(stages)
    .map(([stage, value]) => `${stage}\n${sectionText(value)}\n`)
    .join('\n')
}

function sectionText(value: unknown): string {
  if (value === null || typeof value !== 'object') return `  ${String(value)}`
  if (Array.isArray(value) && value.every(isStatement))
    return value.map(statementText).join('\n') || '  nothing is asked: the statistics have the answer'
  return JSON.stringify(value, leaveOut, 2).replace(/^/gm, '  ')
}

function statementText({ name, sparql, columns, rows, milliseconds }: ExecutedStatement): string {
  const read = columns.length === 0 ? 'none' : columns.join(', ')
  return `  ${name}\n    ${sparql}\n    columns: ${read}\n    ${counted(rows, 'row')}, ${milliseconds.toFixed(1)} ms`
}

function isStatement(value: unknown): value is ExecutedStatement {
  return typeof value === 'object' && value !== null && 'sparql' in value
}

/** Spans would fill the page, and name and type suffice for a field. */
function leaveOut(key: string, value: unknown): unknown {
  if (key === 'span') return undefined
  if (typeof value === 'bigint') return String(value)
  if (
    typeof value === 'object' &&
    value !== null &&
    'annotations' in value &&
    'name' in value &&
    'type' in value
  )
    return `${String(value.name)} (${String(value.type)})`
  return value
}
