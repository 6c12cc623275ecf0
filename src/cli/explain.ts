import { Command } from 'commander'
import { Catalog } from '../catalog/catalog.ts'
import { versionsOf } from '../catalog/versions.ts'
import { parseWhere } from '../language/odsql/parse.ts'
import { compileCount, compilePage } from '../query/compile/records.ts'
import { planOdsql } from '../records/ask.ts'
import { findRecords } from '../records/find.ts'
import { Stopwatch } from '../records/stopwatch.ts'
import { generate } from '../sparql/generate.ts'
import { createEmbeddedStore } from '../store/embedded/embedded.ts'
import {
  BASE_OPTION,
  configOf,
  JSON_OPTION,
  PORTAL_OPTION,
  type PortalOptions,
  portArgument,
} from './options.ts'

interface ExplainOptions extends PortalOptions {
  readonly json?: boolean
  readonly select?: string
  readonly orderBy?: string
  readonly limit: string
  readonly offset: string
}

/** `lodestone explain`: every stage of a query from text to answer, and the time of each. */
export function explainCommand(): Command {
  return new Command('explain')
    .description('show every stage of an ODSQL query, from text to SPARQL, and the time of each')
    .argument('<dataset>', 'id of a published dataset')
    .argument('<query>', 'a where clause; an empty text for all records')
    .option('--select <clause>', 'select clause')
    .option('--order-by <clause>', 'order_by clause')
    .option('--limit <n>', 'number of records', '10')
    .option('--offset <n>', 'records passed over', '0')
    .option(...PORTAL_OPTION)
    .option('--port <n>', 'port of the default base address', portArgument)
    .option(...BASE_OPTION)
    .option(...JSON_OPTION)
    .action(async (id: string, where: string, options: ExplainOptions) => {
      const config = configOf(options)
      const store = await createEmbeddedStore({ workers: 1, deadline: config.deadline * 1000 })
      const catalog = new Catalog({ base: config.base, store, versions: versionsOf(config.portal), grace: 0 })
      try {
        await catalog.refresh()
        const { dataset, target } = catalog.dataset(id)
        const watch = new Stopwatch(() => performance.now())
        const clauses = {
          select: options.select,
          where: [where],
          orderBy: options.orderBy,
          limit: Number(options.limit),
          offset: Number(options.offset),
        }
        const plan = planOdsql(clauses, { dataset, timezone: 'UTC' }, watch)
        const page = compilePage(plan, target)
        const count = compileCount(plan, target)
        const { total, records } = await findRecords(plan, target, store, watch)
        const stages = {
          text: where,
          ast: where.trim() === '' ? null : parseWhere(where),
          plan: { ...plan, select: plan.select.map(({ key }) => key) },
          page: {
            type: page.type,
            reason: page.reason,
            sparql: 'query' in page ? generate(page.query) : null,
          },
          count: {
            type: count.type,
            reason: count.reason,
            sparql: count.type === 'count' ? generate(count.query) : null,
          },
          answer: { total, records: records.map(record => record.id) },
          milliseconds: Object.fromEntries(watch.stages()),
        }
        process.stdout.write(
          options.json === true ? `${JSON.stringify(stages, null, 2)}\n` : explainText(stages),
        )
      } finally {
        catalog.close()
        await store.close()
      }
    })
}

function explainText(stages: Readonly<Record<string, unknown>>): string {
  return Object.entries(stages)
    .map(([stage, value]) => `${stage}\n${sectionText(value)}\n`)
    .join('\n')
}

function sectionText(value: unknown): string {
  if (value === null || typeof value !== 'object') return `  ${String(value)}`
  if ('sparql' in value && 'reason' in value)
    return `  ${String(value.reason)}\n  ${value.sparql === null ? 'nothing is asked' : String(value.sparql)}`
  return JSON.stringify(value, (key, inner: unknown) => (key === 'span' ? undefined : inner), 2).replace(
    /^/gm,
    '  ',
  )
}
