import { publishAll } from '../../../src/publishing/publish-all.ts'
import { BASE, type BenchPortal } from '../support.ts'
import { percentile, type Row } from '../table.ts'
import { bareEvaluator } from './evaluator.ts'
import { duckdb, oxigraph, type Peer, type PlaceRecord, sqlite } from './peers.ts'
import { type Constants, DATE_QUESTIONS, QUESTIONS, type QuestionMaker } from './questions.ts'
import { ServedPortal } from './server.ts'

const WARM_UP = 5
const RUNS = 40
/** SQLite and Oxigraph scan: a few runs say enough. */
const SLOW_RUNS = 4

/** Milliseconds over HTTP of half and of nearly all answers, and how much more than DuckDB in process they may take. */
const BARS = {
  small: { half: 5, most: 12 },
  large: { half: 25, most: 60 },
} as const
const BEHIND_DUCKDB = 2

/**
 * The sixteen questions over HTTP, nothing asked twice, beside DuckDB, SQLite and Oxigraph in this process, and the evaluator
 * without HTTP beside DuckDB; with the time of a restart and the memory after all of them.
 */
export async function benchQuestions(
  { folder }: BenchPortal,
  dataset: string,
  size: keyof typeof BARS,
): Promise<readonly Row[]> {
  const published = performance.now()
  await publishAll({ portal: folder, base: BASE, now: () => new Date() }, [dataset], () => undefined)
  const seconds = (performance.now() - published) / 1000
  const rows: Row[] = [
    { what: `${dataset}: published, or found unchanged`, value: `${seconds.toFixed(1)} s` },
  ]
  const exporting = await ServedPortal.start(folder)
  // What is measured has exported nothing.
  const records = await exported(exporting, dataset).finally(() => exporting.stop())
  const constants = constantsOf(records)
  const found = [await duckdb(records), sqlite(records)]
  const evaluator = await bareEvaluator(folder, dataset)
  if (size === 'small') {
    const { ntriples, vocabulary } = evaluator.facts()
    found.push(await oxigraph(ntriples, vocabulary))
  }
  const peers = found.filter((peer): peer is Peer => typeof peer !== 'string')
  for (const reason of found) if (typeof reason === 'string') rows.push({ what: reason, value: '' })
  const fresh = await ServedPortal.start(folder)
  try {
    const makers = size === 'small' ? QUESTIONS : [...QUESTIONS, ...DATE_QUESTIONS]
    for (const make of makers) rows.push(...(await benchQuestion(make)))
    rows.push({ what: `${dataset}: ready after a restart`, value: `${fresh.seconds.toFixed(1)} s` })
    const memory = fresh.memory()
    rows.push({
      what: `${dataset}: resident after all questions`,
      value: memory === null ? 'skipped: the system does not tell' : `${memory.toFixed(0)} MB`,
    })
    return rows
  } finally {
    await fresh.stop()
    for (const peer of peers) peer.close()
    await evaluator.close()
  }

  async function benchQuestion(make: QuestionMaker): Promise<readonly Row[]> {
    const { name } = make(0, constants)
    process.stderr.write(`${dataset}: ${name}\n`)
    const times: number[] = []
    const alone: number[] = []
    let processor = 0
    const theirs = new Map(peers.map(peer => [peer.name, [] as number[]]))
    for (let run = 0; run < WARM_UP + RUNS; run++) {
      if (run === WARM_UP) processor = fresh.processor()
      // Constants of their own: what one of them warms, none of the others finds.
      const { milliseconds } = await fresh.ask(dataset, make(2 * run, constants))
      if (run >= WARM_UP) times.push(milliseconds)
    }
    processor = (fresh.processor() - processor) / RUNS
    for (let run = 0; run < WARM_UP + RUNS; run++) {
      const milliseconds = evaluator.ask(make(2 * run + 1, constants))
      if (run >= WARM_UP) alone.push(milliseconds)
      for (const peer of peers) {
        const isSlow = peer.name !== 'DuckDB'
        if (isSlow && run >= SLOW_RUNS) continue
        const taken = await peer.ask(make(2 * run + 1, constants)).catch(() => null)
        if (taken !== null && (run >= WARM_UP || (isSlow && run > 0))) theirs.get(peer.name)?.push(taken)
      }
    }
    const half = percentile(times, 0.5)
    const duck = percentile(theirs.get('DuckDB') ?? [], 0.5)
    const described = peers.map(peer => `${peer.name} ${shown(theirs.get(peer.name) ?? [])}`).join('  ')
    const bar = BARS[size]
    return [
      {
        what: `${dataset}: ${name}`,
        value: `p50 ${half.toFixed(1)}  p95 ${percentile(times, 0.95).toFixed(1)} ms  processor ${processor.toFixed(1)}  ${described}`,
        bar: `p50 under ${bar.half}, p95 under ${bar.most} ms, DuckDB and ${BEHIND_DUCKDB}`,
        met:
          half < bar.half &&
          percentile(times, 0.95) < bar.most &&
          (Number.isNaN(duck) || half <= duck + BEHIND_DUCKDB),
      },
      {
        what: `${dataset}: ${name}, evaluator alone`,
        value: `p50 ${percentile(alone, 0.5).toFixed(2)} ms  DuckDB ${shown(theirs.get('DuckDB') ?? [])}`,
        // Without DuckDB there is nothing to be ahead of.
        ...(Number.isNaN(duck) ? {} : { bar: 'ahead of DuckDB', met: percentile(alone, 0.5) < duck }),
      },
    ]
  }
}

function shown(times: readonly number[]): string {
  return times.length === 0 ? '-' : percentile(times, 0.5).toFixed(1)
}

async function exported(served: ServedPortal, dataset: string): Promise<readonly PlaceRecord[]> {
  const { body } = await served.get(`/api/explore/v2.1/catalog/datasets/${dataset}/exports/jsonl`)
  return body
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as PlaceRecord)
}

/** Words, countries and places of records here and there. */
function constantsOf(records: readonly PlaceRecord[]): Constants {
  const some = Array.from({ length: 400 }, (_, at) => records[(at * 7919) % records.length] as PlaceRecord)
  const words = some.flatMap(({ name }) =>
    String(name)
      .toLowerCase()
      .split(/[^a-z]+/),
  )
  return {
    words: [...new Set(words.filter(word => word.length > 3))],
    countries: [...new Set(some.map(({ country_code }) => String(country_code)))],
    points: some.flatMap(({ coordinates }) => (coordinates === null ? [] : [coordinates])),
  }
}
