import type { Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import fastify, { type FastifyInstance } from 'fastify'
import type { ExploreOptions } from '../api/explore/endpoint.ts'
import { explore } from '../api/explore/routes.ts'
import { SPARQL_PATH } from '../api/sparql/endpoint.ts'
import { sparql } from '../api/sparql/routes.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ServedDataset } from '../catalog/served.ts'
import { AnswerCache } from '../http/answer-cache.ts'
import { type Field, isNumeric } from '../model/field.ts'
import { type Authenticated, EVERYTHING } from '../model/principal.ts'
import { EXPLORE_V21 } from '../query/dialect.ts'
import { sparqlDataset } from './endpoint-sources.ts'
import { PREDICATES, queriesOf } from './warm-up-queries.ts'

/** Records from which on a dataset is large enough for the first questions to take longer than later ones. */
const LARGE_DATASET = 20_000

/** A small dataset is asked, too: what it is asked is answered sooner, and what is around the store runs more often. */
const TIMES = { large: 5000, small: 2000, sparql: 1500 } as const

/** Milliseconds between two looks whether clients are still being answered. */
const PAUSE = 20

/** Milliseconds after an answer in which the next request is likely; then questions take one part in so many of the time. */
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

/** A question: a path below that of the API with its parameters. */
type Question = (turn: number) => string
type Parameters = (turn: number) => Readonly<Record<string, string>>

export interface WarmUpOptions extends Pick<ExploreOptions, 'store' | 'base' | 'title'> {
  readonly catalog: Catalog
  /** What clients are connected to: while they are being answered, nothing else is asked. */
  readonly server: Pick<Server, 'on' | 'off'>
  /** Threads that answer. */
  readonly threads: number
  readonly signal: AbortSignal
  /** Records from which on a dataset is large enough to ask. */
  readonly least?: number
  /** Seconds that a query may work. */
  readonly deadline: number
  /** Milliseconds of work for the large dataset, a small one, and SPARQL over the large one; each question is asked once at least. */
  readonly times?: { readonly large: number; readonly small: number; readonly sparql: number }
}

/** Number of requests sent, and of those not answered with 200. */
export interface WarmUpResult {
  readonly sent: number
  readonly refused: number
}

/**
 * Sends typical requests after a start, while the server is idle: code is compiled well only once it has run, and before that
 * answers take twice as long. The questions go through the API, but to no port, and nobody's use is counted.
 */
export async function warmUp(options: WarmUpOptions): Promise<WarmUpResult> {
  const { catalog, signal, server, threads, least = LARGE_DATASET, times = TIMES } = options
  const result = { sent: 0, refused: 0 }
  const bySize = catalog
    .entries()
    .filter(({ content, statistics }) => content === 'records' && statistics.records > 0)
    .sort((a, b) => a.statistics.records - b.statistics.records)
  const [small, large] = [bySize.at(0), bySize.at(-1)]
  if (small === undefined || large === undefined || large.statistics.records < least) return result
  const clients = new Clients(server)
  const http = await bareApi(options)
  const ask = async (url: string) => {
    const answer = await http.inject({ url, headers: { accept: 'application/json' } })
    result.sent += 1
    if (answer.statusCode !== 200) result.refused += 1
    return answer
  }
  const warm = async (questions: readonly Question[], time: number, first: number) => {
    let left = time
    const last = first + questions.length
    for (let turn = first; turn < last || left > 0; turn++) {
      while (clients.open > 0 && !signal.aborted) await sleep(PAUSE)
      if (signal.aborted) return
      const begun = performance.now()
      const question = questions[turn % questions.length] as Question
      await ask(question(turn))
      const took = performance.now() - begun
      left -= took
      if (clients.wereThere()) await sleep(PAUSE + threads * SHARE * took)
    }
  }
  const inThreads = (questions: readonly Question[], time: number) =>
    Promise.all(Array.from({ length: threads }, (_, at) => warm(questions, time, at)))
  try {
    await inThreads(datasetQuestions(small), times.small)
    await inThreads(datasetQuestions(large), times.large)
    const address = `${SPARQL_PATH}/${encodeURIComponent(large.dataset.id)}`
    const queryAddress = (query: string) => `${address}?${new URLSearchParams({ query })}`
    if (!signal.aborted) {
      const { results } = (await ask(queryAddress(PREDICATES))).json()
      const questions = queriesOf(results?.bindings ?? []).map(
        query => (turn: number) => queryAddress(query(turn)),
      )
      if (questions.length > 0) await inThreads(questions, times.sparql)
    }
    return result
  } finally {
    clients.close()
    await http.close()
  }
}

/** The clients of a server. */
class Clients {
  /** Requests that are being answered. */
  open = 0
  private last = Number.NEGATIVE_INFINITY
  private readonly server: WarmUpOptions['server']

  constructor(server: WarmUpOptions['server']) {
    this.server = server
    server.on('request', this.onRequest)
  }

  /** True where one has asked a moment ago, and may well ask again. */
  wereThere(): boolean {
    return performance.now() - this.last < MOMENT
  }

  close(): void {
    this.server.off('request', this.onRequest)
  }

  private readonly onRequest = (_: unknown, response: ServerResponse): void => {
    this.open += 1
    this.last = performance.now()
    response.once('close', () => {
      this.open -= 1
      this.last = performance.now()
    })
  }
}

function datasetQuestions({ dataset }: ServedDataset): readonly Question[] {
  const place = `${PATH}/catalog/datasets/${encodeURIComponent(dataset.id)}`
  return questionsOf(dataset.fields).map(question => turn => `${place}/${question(turn)}`)
}

/** The Explore API and SPARQL without what they are surrounded by: accounts, limits, logs. */
async function bareApi({ catalog, store, base, title, deadline }: WarmUpOptions): Promise<FastifyInstance> {
  const http = fastify({ logger: false })
  http.addHook('onRequest', (request, _, done) => {
    request.principal = EVERYBODY
    done()
  })
  await http.register(explore, {
    prefix: PATH,
    path: PATH,
    dialect: EXPLORE_V21,
    // Each question is another: none is given twice.
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
    datasets: () => [],
  })
  return http
}

/** Questions in which operators are used that portals are asked for most, with other constants each turn. */
export function questionsOf(fields: readonly Field[]): readonly Question[] {
  const [number] = namesOf(fields, ({ type }) => isNumeric(type))
  const [text] = namesOf(fields, ({ type, multivalued }) => type === 'text' && !multivalued)
  const [place] = namesOf(fields, ({ type }) => type === 'geo_point_2d')
  const facets = namesOf(fields, ({ annotations }) => annotations.facet !== undefined)
  const [key, second] = facets
  const questions = [
    () => ({ limit: '20' }),
    (turn: number) => ({ where: `"${letters(turn)}*"`, limit: '20' }),
    ...(number === undefined ? [] : numberQuestions(number)),
    ...(text === undefined ? [] : textQuestions(text)),
    ...(place === undefined ? [] : placeQuestions(place)),
    ...(number === undefined || key === undefined ? [] : groupQuestions(number, key, second)),
    ...(number === undefined || text === undefined || key === undefined
      ? []
      : mixedQuestions(number, text, key)),
  ].map(parameters => (turn: number) => `records?${new URLSearchParams(parameters(turn))}`)
  const list = facets.slice(0, 3).map(name => ['facet', name.slice(1, -1)])
  const filter = (turn: number) => (number === undefined ? [] : [['where', `${number} > ${turn}`]])
  if (list.length > 0) questions.push(turn => `facets?${new URLSearchParams([...list, ...filter(turn)])}`)
  return questions
}

/** Names of fields as ODSQL quotes them. */
function namesOf(fields: readonly Field[], isMeant: (field: Field) => boolean): readonly string[] {
  return fields.filter(isMeant).map(({ name }) => `\`${name}\``)
}

function numberQuestions(number: string): readonly Parameters[] {
  return [
    turn => ({ where: `${number} > ${turn}`, limit: '0' }),
    turn => ({ where: `${number} > ${turn}`, order_by: `${number} desc`, limit: '10' }),
    turn => ({
      select: `${number} * 2 as doubled`,
      order_by: `${number} + 1`,
      limit: '20',
      offset: String(turn),
    }),
  ]
}

function textQuestions(text: string): readonly Parameters[] {
  return [
    turn => ({ order_by: text, limit: '20', offset: String(turn) }),
    turn => ({ where: `${text} like "*${letters(turn)}*"`, limit: '20' }),
  ]
}

function placeQuestions(place: string): readonly Parameters[] {
  const corner = (turn: number) => [((turn * 37) % 160) - 80, ((turn * 61) % 340) - 170] as const
  return [
    turn => {
      const [lat, lon] = corner(turn)
      return { where: `in_bbox(${place}, ${lat}, ${lon}, ${lat + 5}, ${lon + 5})`, limit: '20' }
    },
    turn => {
      const [lat, lon] = corner(turn)
      return {
        where: `within_distance(${place}, geom'POINT(${lon} ${lat})', ${90 + (turn % 20)}km)`,
        limit: '20',
      }
    },
    turn => {
      const [lat, lon] = corner(turn)
      const shape = `POLYGON((${lon} ${lat}, ${lon + 4} ${lat}, ${lon + 2} ${lat + 3}, ${lon} ${lat}))`
      return { where: `within(${place}, geom'${shape}')`, limit: '20' }
    },
  ]
}

function groupQuestions(number: string, key: string, second: string | undefined): readonly Parameters[] {
  const groups = (select: string, keys: string): Parameters => {
    return turn => ({ select, where: `${number} > ${turn}`, group_by: keys, limit: '1000' })
  }
  const sums = `sum(${number}) as s, avg(${number}) as a, max(${number}) as m, count(*) as n`
  return [
    groups(sums, key),
    groups(`median(${number}) as m, count(distinct ${number}) as d`, key),
    ...(second === undefined ? [] : [groups('count(*) as n', `${key}, ${second}`)]),
  ]
}

function mixedQuestions(number: string, text: string, key: string): readonly Parameters[] {
  return [
    turn => ({ where: `${number} > ${turn}`, order_by: text, limit: '20' }),
    turn => ({
      where: `(${key} in ("${letters(turn)}", "${letters(turn + 1)}") or ${number} > ${turn}) and not ${key} = "a"`,
      limit: '20',
    }),
  ]
}

/** Two letters that texts may have. */
function letters(turn: number): string {
  return String.fromCharCode(97 + (turn % 26), 97 + ((turn * 7) % 26))
}
