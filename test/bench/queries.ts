import { buildApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { compileCount, compileFetch, compilePage } from '../../src/query/compile/records.ts'
import type { CompileTarget } from '../../src/query/compile/scope.ts'
import { planOdsql } from '../../src/records/ask.ts'
import { Stopwatch } from '../../src/records/stopwatch.ts'
import { generate } from '../../src/sparql/generate.ts'
import type { Store } from '../../src/store/store.ts'
import { BASE, type BenchPortal } from './support.ts'
import { percentile, type Row } from './table.ts'

const RUNS = 30

/** The clauses of a query, made anew for each run so that nothing is asked twice alike. */
type Clauses = (run: number) => {
  readonly where?: string
  readonly order_by?: string
  readonly offset?: number
}

const QUERIES: Readonly<Record<string, Clauses>> = {
  'page of 20': run => ({ offset: run * 20 }),
  'page of 20, deep': run => ({ offset: 9000 + run * 20 }),
  equality: run => ({ where: `country_code = "${['FR', 'IT', 'DE', 'ES', 'PL'][run % 5]}"` }),
  'equality and range': run => ({ where: `country_code = "FR" and population > ${10_000 + run}` }),
  range: run => ({ where: `population > ${1_000_000 + run}` }),
  'range, ordered': run => ({ where: `population in [${5000 + run}..20000]`, order_by: 'name' }),
  'order by number': run => ({ order_by: 'population desc', offset: run * 20 }),
  'full text, one word': run => ({ where: `"${['saint', 'san', 'new', 'villa', 'bad'][run % 5]}"` }),
  'full text, prefix': run => ({ where: `"saint ${'abcdefgjlm'[run % 10]}*"` }),
  'or of two fields': run => ({ where: `population > ${5_000_000 + run} or feature_code = "PPLC"` }),
  not: run => ({ where: `not country_code = "CN" and population > ${500_000 + run}` }),
  'is null, ordered': run => ({ where: 'alternate_names is not null', order_by: 'population', offset: run }),
}

/** Twelve record queries over HTTP beside the bare SPARQL that they compile to, run in turn on the same store. */
export async function benchQueries({ folder }: BenchPortal): Promise<readonly Row[]> {
  const app = await buildApp({ ...loadConfig({ portal: folder, base: BASE }, {}), log: 'error' })
  await app.catalog.refresh()
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  const address = app.http.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const rows: Row[] = []
  const { target, dataset } = app.catalog.dataset('cities')
  for (const [name, clauses] of Object.entries(QUERIES)) {
    const [whole, bare]: [number[], number[]] = [[], []]
    for (let run = -3; run < RUNS; run++) {
      const { where, order_by, offset = 0 } = clauses(run + 3)
      const query = new URLSearchParams({ limit: '20', offset: String(offset) })
      if (where !== undefined) query.set('where', where)
      if (order_by !== undefined) query.set('order_by', order_by)
      const begun = performance.now()
      const url = `http://127.0.0.1:${port}/api/explore/v2.0/catalog/datasets/cities/records?${query}`
      const response = await fetch(url)
      if (!response.ok) throw new Error(await response.text())
      await response.text()
      const between = performance.now()
      const statements = { where: [where ?? ''], orderBy: order_by, limit: 20, offset }
      const plan = planOdsql(statements, { dataset, timezone: 'UTC' }, new Stopwatch(() => 0))
      const spent = await runBare(plan, target, app.store)
      if (run < 0) continue
      whole.push(between - begun)
      bare.push(spent)
    }
    rows.push(queryRow(name, whole, bare))
  }
  await app.close()
  return rows
}

/** Milliseconds that the statements of a plan take by themselves. */
async function runBare(
  plan: ReturnType<typeof planOdsql>,
  target: CompileTarget,
  store: Store,
): Promise<number> {
  const page = compilePage(plan, target)
  const count = compileCount(plan, target)
  let spent = 0
  const run = async (text: string) => {
    const begun = performance.now()
    const found = await store.select(text)
    spent += performance.now() - begun
    return found
  }
  const found = page.type === 'empty' ? [] : await run(generate(page.query))
  if (page.type === 'search' && found.length > 0)
    await run(
      generate(
        compileFetch(
          found.flatMap(({ record }) => record?.value ?? []),
          target,
        ),
      ),
    )
  if (count.type === 'count' && found.length === plan.limit) await run(generate(count.query))
  return spent
}

function queryRow(name: string, whole: readonly number[], bare: readonly number[]): Row {
  const [p50, p95, alone] = [percentile(whole, 0.5), percentile(whole, 0.95), percentile(bare, 0.5)]
  const over = (p50 / alone - 1) * 100
  const value = `p50 ${p50.toFixed(1)}  p95 ${p95.toFixed(1)}  bare ${alone.toFixed(1)} ms  ${over.toFixed(0).padStart(4)} %`
  if (name === 'page of 20') return { what: name, value, bar: 'p50 under 5 ms', met: p50 < 5 }
  if (alone < 20) return { what: name, value }
  return { what: name, value, bar: 'under 15 % over its bare SPARQL', met: over < 15 }
}
