import { buildApp } from '../../../src/app/app.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { compileGroups } from '../../../src/query/compile/groups.ts'
import { compileCount, compileFacet, compileRecords } from '../../../src/query/compile/records.ts'
import { EXPLORE_V21 } from '../../../src/query/dialect.ts'
import { Stopwatch } from '../../../src/query/execute/executor.ts'
import { facetField, facetOf } from '../../../src/query/facets.ts'
import { planOdsql } from '../../../src/query/pipeline.ts'
import type { SelectOperation } from '../../../src/sparql/algebra.ts'
import { Evaluation } from '../../../src/store/columns/evaluate/evaluation.ts'
import { tableOf } from '../../../src/store/columns/threads/tables.ts'
import { fieldPredicates, RecordReader } from '../../../src/store/record-reader.ts'
import { BASE } from '../support.ts'
import type { Question } from './questions.ts'

/** The evaluator in this thread, without a server, threads and JSON: from the algebra to the records of the page. */
export interface BareEvaluator {
  /** Milliseconds of a question, the records of its page read. */
  readonly ask: (question: Question) => number
  /** The facts as N-Triples, and the namespace of their predicates. */
  readonly facts: () => { readonly ntriples: string; readonly vocabulary: string }
  readonly close: () => Promise<void>
}

export async function bareEvaluator(folder: string, dataset: string): Promise<BareEvaluator> {
  const app = await buildApp({ ...loadConfig({ portal: folder, base: BASE }, {}), log: 'error' })
  await app.catalog.refresh()
  const { target } = app.catalog.dataset(dataset)
  const { fields } = target.dataset
  const { facts } = target.graphs
  const graph = await app.store.contents(facts, fieldPredicates(target))
  const context = {
    dataset: { fields },
    technical: true,
    timezone: 'UTC',
    language: 'en' as const,
    dialect: EXPLORE_V21,
    now: Date.now(),
  }
  const evaluate = (query: SelectOperation, counted: boolean) => {
    const evaluation = new Evaluation({ defaultGraphs: [], namedGraphs: new Map([[facts, [graph]]]) })
    const table = tableOf(query, evaluation, counted, () => facts)
    const [, found] = table.vectors.find(([name]) => name === 'record') ?? []
    if (found?.type !== 'subjects') return
    const reader = new RecordReader(graph, target)
    for (const position of found.ids) reader.record(position)
  }
  return {
    ask: ({ path, odsql }) => {
      const text = (name: string) => (typeof odsql[name] === 'string' ? odsql[name] : undefined)
      const where = text('where')
      const clauses = {
        select: text('select'),
        where: where === undefined ? [] : [where],
        groupBy: text('group_by'),
        orderBy: text('order_by'),
        limit: Number(text('limit') ?? 10),
        offset: Number(text('offset') ?? 0),
      }
      const plan = planOdsql(clauses, context, new Stopwatch(() => 0))
      const begun = performance.now()
      if (path === 'facets')
        for (const name of odsql.facet ?? []) {
          const field = facetField(name, fields)
          if (field === undefined) throw new Error(`no facet ${name}`)
          const question = { filter: plan.filter, timezone: 'UTC', limit: null, offset: 0 }
          evaluate(compileFacet(facetOf(name, field, '-count'), [], question, target).query, false)
        }
      else if (plan.type === 'groups') evaluate(compileGroups(plan, target).query, true)
      else if (plan.limit === 0) evaluate(compileCount(plan, target).query, false)
      else evaluate(compileRecords(plan, target).query, plan.filter !== null)
      return performance.now() - begun
    },
    facts: () => ({
      ntriples: [...graph.lines()].join(''),
      vocabulary: `${BASE}/ld/ontologies/${dataset}/`,
    }),
    close: () => app.close(),
  }
}
