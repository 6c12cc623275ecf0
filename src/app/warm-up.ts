import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import fastify, { type FastifyInstance } from 'fastify'
import { EVERYTHING } from '../accounts/authorisation.ts'
import type { ExploreOptions } from '../api/explore/endpoint.ts'
import { explore } from '../api/explore/routes.ts'
import { SPARQL_PATH } from '../api/sparql/endpoint.ts'
import { sparql } from '../api/sparql/routes.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { AnswerCache } from '../http/conditional.ts'
import { OPERATORS_PATHS } from '../http/health.ts'
import { ANONYMOUS, type Authenticated } from '../model/principal.ts'
import { EXPLORE_V21 } from '../query/dialect.ts'
import { runFor, type WorkClient } from '../runtime/work-client.ts'
import { sparqlDataset } from './endpoint-sources.ts'
import {
  catalogQuestions,
  datasetQuestions,
  PREDICATES,
  queriesOf,
  type WarmUpQuestion,
} from './warm-up-questions.ts'

/** Records from which on a dataset is large enough for the first questions to take longer than later ones. */
const LARGE_DATASET = 20_000

/** Datasets from which on the first answers of the catalog take longer than later ones. */
const MANY_DATASETS = 100

/** A small dataset is queried, too: its answers are faster, so that the code around the store runs more often. */
const TIMES: WarmUpTimes = { catalog: 1500, large: 5000, small: 2000, sparql: 6000 }

/** Milliseconds between two checks whether clients are still being answered. */
const PAUSE = 20

/** Milliseconds after an answer in which the next request is likely; questions then take only a fraction 1/n of the time. */
const MOMENT = 500
const SHARE = 9

const PATH = '/api/explore/v2.1'

/** Sees every dataset, because the answers are discarded. */
const EVERYBODY: Authenticated = {
  type: 'user',
  id: 0,
  name: 'warm-up',
  grants: new Set([EVERYTHING]),
  quota: null,
  by: 'session',
}

/** Milliseconds after which a question is no typical one. */
const MAX_TIME = 2000

/** The client of the questions: it makes room for every other, so that none waits for a slow question. */
const OWN: WorkClient = {
  id: 'warm-up',
  usage: () => Number.MAX_SAFE_INTEGER,
  spend: () => undefined,
  isHeavy: () => false,
  isPressing: () => false,
  isOverBudget: () => true,
  offend: () => undefined,
  deadline: milliseconds => Math.min(milliseconds, MAX_TIME),
}
const CONTEXT = { client: OWN }

export interface WarmUpOptions extends Pick<ExploreOptions, 'store' | 'base' | 'title'> {
  readonly catalog: Catalog
  /** The server of the clients: while they are being answered, the warm-up pauses. */
  readonly server: Pick<Server, 'on' | 'off'>
  /** Threads that answer. */
  readonly threads: number
  readonly signal: AbortSignal
  /** Minimum number of records of a dataset that is queried. */
  readonly least?: number
  /** Minimum number of datasets for which the catalog is queried. */
  readonly many?: number
  /** Seconds that a query may run. */
  readonly deadline: number
  readonly times?: WarmUpTimes
}

/** Milliseconds of work on the catalog, the large dataset, a small one, and the large one by SPARQL; each question runs at least once. */
export interface WarmUpTimes {
  readonly catalog: number
  readonly large: number
  readonly small: number
  readonly sparql: number
}

/** Number of requests sent, and of those not answered with 200. */
export interface WarmUpResult {
  readonly sent: number
  readonly refused: number
}

/**
 * Sends typical requests after a start, while the server is idle: code is optimised only once it has run, and before that
 * answers take twice as long. The requests are injected into the API, not sent to a port, and are not counted as usage.
 */
export async function warmUp(options: WarmUpOptions): Promise<WarmUpResult> {
  const { catalog, signal, server, threads, times = TIMES } = options
  const { least = LARGE_DATASET, many = MANY_DATASETS } = options
  const result = { sent: 0, refused: 0 }
  const bySize = catalog
    .entries()
    .filter(({ content, statistics }) => content === 'records' && statistics.records > 0)
    .sort((a, b) => a.statistics.records - b.statistics.records)
  const [small, large] = [bySize.at(0), bySize.at(-1)]
  if (small === undefined || large === undefined) return result
  const [hasMany, hasLarge] = [bySize.length >= many, large.statistics.records >= least]
  if (!hasMany && !hasLarge) return result
  const clients = new Clients(server)
  const http = await bareApi(options)
  const ask = async (url: string) => {
    const headers = { accept: 'application/json' }
    // What is injected begins when it is awaited.
    const answer = await runFor(CONTEXT, async () => await http.inject({ url, headers }))
    result.sent += 1
    if (answer.statusCode !== 200) result.refused += 1
    return answer
  }
  /** The loop of one thread: each question once, then, until the time is over, the one with the least time so far. */
  const warm = async (questions: readonly WarmUpQuestion[], time: number, first: number) => {
    const elapsed = questions.map(() => 0)
    let left = time
    for (let turn = 0; turn < questions.length || left > 0; turn++) {
      while (clients.open > 0 && !signal.aborted) await sleep(PAUSE)
      if (signal.aborted) return
      const begun = performance.now()
      const at =
        turn < questions.length ? (first + turn) % questions.length : elapsed.indexOf(Math.min(...elapsed))
      await ask((questions[at] as WarmUpQuestion)(threads * turn + first))
      const took = performance.now() - begun
      elapsed[at] = (elapsed[at] as number) + took
      left -= took
      if (clients.wereThere())
        await ignoreRejection(
          sleep(PAUSE + threads * SHARE * took, null, { signal }),
          'the next turn sees that it is over',
        )
    }
  }
  const inThreads = (questions: readonly WarmUpQuestion[], time: number) =>
    Promise.all(Array.from({ length: threads }, (_, at) => warm(questions, time, at)))
  try {
    if (hasMany) await inThreads(catalogQuestions(PATH, bySize.length), times.catalog)
    await inThreads(datasetQuestions(PATH, small), times.small)
    if (!hasLarge) return result
    await inThreads(datasetQuestions(PATH, large), times.large)
    const questions = signal.aborted ? [] : await queriesAbout(large.dataset.id, hasMany, ask)
    if (questions.length > 0) await inThreads(questions, times.sparql)
    return result
  } finally {
    clients.close()
    await http.close()
  }
}

/** Sends queries about a large dataset to its endpoint and, unless there are many datasets, to that of all. */
async function queriesAbout(
  id: string,
  areMany: boolean,
  ask: (url: string) => Promise<{ json(): { results?: { bindings?: Parameters<typeof queriesOf>[0] } } }>,
): Promise<readonly WarmUpQuestion[]> {
  const address = `${SPARQL_PATH}/${encodeURIComponent(id)}`
  const queryAddress = (query: string, place = address) => `${place}?${new URLSearchParams({ query })}`
  const { results } = (await ask(queryAddress(PREDICATES))).json()
  // The endpoint of all datasets reads several graphs as one; with many datasets it would read too much.
  const places = areMany ? [address] : [address, SPARQL_PATH]
  return queriesOf(results?.bindings ?? []).flatMap(query =>
    places.map(place => (turn: number) => queryAddress(query(turn), place)),
  )
}

class Clients {
  /** Requests that are being answered. */
  open = 0
  private last = Number.NEGATIVE_INFINITY
  private readonly server: WarmUpOptions['server']

  constructor(server: WarmUpOptions['server']) {
    this.server = server
    server.on('request', this.onRequest)
  }

  /** True if a client has sent a request a moment ago, and is likely to send another. */
  wereThere(): boolean {
    return performance.now() - this.last < MOMENT
  }

  close(): void {
    this.server.off('request', this.onRequest)
  }

  private readonly onRequest = ({ url = '' }: Partial<IncomingMessage>, response: ServerResponse): void => {
    if (OPERATORS_PATHS.includes(url)) return
    this.open += 1
    this.last = performance.now()
    response.once('close', () => {
      this.open -= 1
      this.last = performance.now()
    })
  }
}

/** Addresses of lists of datasets. */
const LIST = /\/catalog\/(?:datasets|facets)\?/

/** The Explore API and SPARQL without accounts, limits and logs. */
async function bareApi({ catalog, store, base, title, deadline }: WarmUpOptions): Promise<FastifyInstance> {
  const http = fastify({ logger: false })
  const datasets = catalog.entries().map(sparqlDataset)
  http.addHook('onRequest', (request, _, done) => {
    // Lists of datasets are cached for each set of visible datasets, and most requests are anonymous.
    request.principal = LIST.test(request.url) ? ANONYMOUS : EVERYBODY
    done()
  })
  await http.register(explore, {
    prefix: PATH,
    path: PATH,
    dialect: EXPLORE_V21,
    // Questions do not repeat, so a cache is useless.
    answers: new AnswerCache(1),
    catalog,
    store,
    base,
    title,
    clock: () => performance.now(),
    now: () => Date.now(),
  })
  await http.register(sparql, {
    answers: new AnswerCache(1),
    store,
    base,
    title,
    description: '',
    languages: ['en'],
    deadline,
    dataset: (id, principal, version) => sparqlDataset(catalog.addressed(id, principal, version)),
    datasets: () => datasets,
  })
  return http
}
