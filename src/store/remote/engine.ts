import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, isFault, UNPROCESSABLE_ENTITY } from '../../errors/errors.ts'
import { FairQueue, STORE_BUSY } from '../../runtime/fair-queue.ts'
import { currentClient } from '../../runtime/work-client.ts'
import { construct, inGraph, triple, variable } from '../../sparql/build.ts'
import { generate, generateUpdate, type Update } from '../../sparql/generate.ts'
import { DEADLINE_EXCEEDED, LOAD_REFUSED, STORE_UNAVAILABLE } from '../faults.ts'
import { QueryError } from '../store.ts'
import type { EngineAddresses } from './addresses.ts'
import { type Connections, type EngineRequest, type EngineResponse, NoAnswer } from './http.ts'
import { isWholeAnswer } from './results.ts'

/** Media types of the requested answer formats (SPARQL 1.1 Protocol, section 2.1). */
export const MEDIA_TYPES = {
  json: 'application/sparql-results+json',
  xml: 'application/sparql-results+xml',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  nt: 'application/n-triples',
} as const

export interface RemoteEngineOptions {
  readonly addresses: EngineAddresses
  readonly connections: Connections
  /** Maximum number of concurrent internal queries; untrusted ones have a separate limit of half as many. */
  readonly concurrency: number
  /** Milliseconds that a query may run. */
  readonly deadline: number
  /** Maximum number of waiting queries. */
  readonly queue: number
}

/** A query and its request options. */
export interface RemoteQuery {
  readonly text: string
  readonly format: keyof typeof MEDIA_TYPES
  readonly deadline: number
  /** The dataset of the query (SPARQL 1.1 Protocol, section 2.1.4); absent where the text names its graphs. */
  readonly dataset?: { readonly defaultGraphs: readonly string[]; readonly namedGraphs: readonly string[] }
  /** Maximum length of the answer, in bytes. */
  readonly maxLength?: number
  /** A query of a client that is aborted before its turn is not sent; the connection of one that runs is closed. */
  readonly signal?: AbortSignal | undefined
}

/** Milliseconds before a query is sent again after its connection broke: this is safe, because it changes nothing. */
const RETRIES = [20, 200, 800]
/** Milliseconds between two checks whether a checkpoint is over. */
const CHECKPOINT_PAUSE = 100
/** Maximum length of a JavaScript string. */
const MAX_LENGTH = 500 * 2 ** 20
/** Virtuoso looks at the text and not at its media type: with this prefix the text is Turtle, in which literals may be long. */
const TURTLE = Buffer.from('@prefix x: <urn:x> .\n')
/** Maximum milliseconds of a change, and of a chunk of a load. */
const CHANGE_DEADLINE = 120_000
/** Maximum milliseconds of reading a whole graph. */
const EXPORT_DEADLINE = 3_600_000

/** The protocols of one engine: queries, updates and loads, with a limit of concurrent requests. */
export class RemoteEngine {
  readonly addresses: EngineAddresses
  readonly deadline: number
  deadlines = 0
  private readonly connections: Connections
  private readonly own: FairQueue
  private readonly untrusted: FairQueue
  private isClosed = false

  constructor({ addresses, connections, concurrency, deadline, queue }: RemoteEngineOptions) {
    this.addresses = addresses
    this.deadline = deadline
    this.connections = connections
    this.own = new FairQueue({ concurrency, limit: queue, timeout: deadline })
    // Untrusted queries leave capacity for all others, and wait in a separate queue.
    const few = Math.max(1, Math.floor(concurrency / 2))
    this.untrusted = new FairQueue({ concurrency: few, limit: 50, timeout: deadline })
  }

  /**
   * Sends an internal query, or with `isUntrusted` one of a client, fairly between clients. Faults: DeadlineExceeded, StoreBusy, StoreUnavailable,
   * UnprocessableEntity for an answer to a client that is too long; {@link QueryError}.
   */
  async query(query: RemoteQuery, isUntrusted = false): Promise<string> {
    if (!isUntrusted) return this.own.run(null, () => this.execute(query, false))
    const client = currentClient()
    const deadline = client?.deadline(query.deadline) ?? query.deadline
    try {
      return await this.untrusted.run(client, async () => {
        query.signal?.throwIfAborted()
        return this.execute({ ...query, deadline }, true)
      })
    } catch (error) {
      if (isFault(error, DEADLINE_EXCEEDED)) client?.offend()
      throw error
    }
  }

  /** Makes changes, all in one request. Faults: StoreUnavailable, LoadRefused. */
  async change(updates: readonly Update[]): Promise<void> {
    await this.update(updates.map(generateUpdate).join(' ;\n'))
  }

  /** Adds whole lines of N-Triples to a graph. Adding them twice has no further effect. Faults: as of {@link change}. */
  async add(graph: string, lines: Buffer): Promise<void> {
    const { data, graphParameter, kind } = this.addresses
    if (data === null) return this.update(`INSERT DATA { GRAPH <${graph}> { ${lines.toString()} } }`)
    const url = new URL(data)
    url.searchParams.set(graphParameter, graph)
    // A graph that is being loaded is not queried yet, so it needs no transaction, which takes Oxigraph three times as long; and
    // the writer of the file has validated the terms.
    if (kind === 'oxigraph') for (const each of ['no_transaction', 'lenient']) url.searchParams.set(each, '')
    const headers = { 'content-type': kind === 'virtuoso' ? 'text/turtle' : MEDIA_TYPES.nt }
    const body = kind === 'virtuoso' ? Buffer.concat([TURTLE, lines]) : lines
    await this.send('triples', { url, headers, body })
  }

  /** All triples of a graph as N-Triples, in chunks, as the engine writes them. Faults: StoreUnavailable, DeadlineExceeded. */
  async export(graph: string, onPiece: (piece: Buffer) => void): Promise<void> {
    const { data, graphParameter, query } = this.addresses
    const url = new URL(data ?? query)
    if (data === null) url.searchParams.set('query', wholeGraph(graph))
    else url.searchParams.set(graphParameter, graph)
    const headers = { accept: MEDIA_TYPES.nt }
    const request: EngineRequest = {
      method: 'GET',
      url,
      headers,
      deadline: EXPORT_DEADLINE,
      maxLength: MAX_LENGTH,
      onPiece,
    }
    const answer = await this.connections.request(request).catch((error: unknown) => {
      throw error instanceof NoAnswer ? this.faultOfSilence(error, EXPORT_DEADLINE, false, 0) : error
    })
    // An empty graph does not exist.
    if (answer.status !== 200 && answer.status !== 404)
      throw new Fault(STORE_UNAVAILABLE, { reason: `the engine answers ${answer.status} for a graph.` })
  }

  close(): void {
    this.isClosed = true
    this.connections.close()
  }

  private async execute(query: RemoteQuery, isUntrusted: boolean): Promise<string> {
    const { dataset, text, format, maxLength = MAX_LENGTH } = query
    const parameters = new URLSearchParams({ query: text })
    for (const graph of dataset?.defaultGraphs ?? []) parameters.append('default-graph-uri', graph)
    for (const graph of dataset?.namedGraphs ?? []) parameters.append('named-graph-uri', graph)
    const request: EngineRequest = {
      method: 'POST',
      url: this.addresses.query,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: MEDIA_TYPES[format] },
      body: parameters.toString(),
      deadline: query.deadline,
      maxLength,
      signal: query.signal,
    }
    const answer = await this.retried(request, isUntrusted, maxLength)
    if (answer.status === 200 && isWholeAnswer(answer)) return answer.text
    if (answer.status === 200)
      throw new Fault(STORE_UNAVAILABLE, {
        reason: 'the engine gives a part of the answer only: its limits on rows or time are too low.',
      })
    throw this.faultOf(answer, query, isUntrusted)
  }

  private async retried(
    request: EngineRequest,
    isUntrusted: boolean,
    maxLength: number,
  ): Promise<EngineResponse> {
    const end = performance.now() + request.deadline
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.afterCheckpoint(request, end)
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error
        const pause = RETRIES[attempt]
        const isWorthwhile = error.reason === 'broken' || error.reason === 'unreachable'
        if (!isWorthwhile || pause === undefined || this.isClosed || performance.now() + pause > end)
          throw this.faultOfSilence(error, request.deadline, isUntrusted, maxLength)
        await sleep(pause)
      }
    }
  }

  /** Sends a request, and repeats it while the engine is in a checkpoint: then nothing was done. */
  private async afterCheckpoint(request: EngineRequest, end: number): Promise<EngineResponse> {
    for (;;) {
      const answer = await this.connections.request({ ...request, deadline: end - performance.now() })
      if (!this.isCheckpoint(answer) || this.isClosed || performance.now() + CHECKPOINT_PAUSE > end)
        return answer
      await sleep(CHECKPOINT_PAUSE)
    }
  }

  /** Virtuoso without a MaintenancePage answers all requests with 404 while it writes a checkpoint. */
  private isCheckpoint({ status }: EngineResponse): boolean {
    return this.addresses.kind === 'virtuoso' && status === 404
  }

  private update(text: string): Promise<void> {
    const body = new URLSearchParams({ update: text }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return this.send('an update', { url: this.addresses.update, headers, body })
  }

  /** Posts a change. @param what is changed, in words */
  private async send(
    what: string,
    request: Pick<EngineRequest, 'url' | 'headers'> & { readonly body: string | Buffer },
  ): Promise<void> {
    const deadline = CHANGE_DEADLINE
    const whole = { ...request, method: 'POST', deadline, maxLength: 10_000_000 } as const
    const answer = await this.afterCheckpoint(whole, performance.now() + deadline).catch((error: unknown) => {
      throw error instanceof NoAnswer ? this.faultOfSilence(error, deadline, false, 0) : error
    })
    if (answer.status >= 300) throw refusal(what, answer)
  }

  private faultOfSilence(
    { reason, message }: NoAnswer,
    deadline: number,
    isUntrusted: boolean,
    maxLength: number,
  ): Fault {
    if (reason === 'late') {
      this.deadlines += 1
      return new Fault(DEADLINE_EXCEEDED, { seconds: Math.round(deadline) / 1000 })
    }
    if (reason === 'long' && isUntrusted) {
      const max = maxLength.toLocaleString('en')
      const described = `The answer is longer than the limit of ${max} characters. Ask for less of it at a time, with LIMIT and OFFSET.`
      return new Fault(UNPROCESSABLE_ENTITY, { reason: described })
    }
    const what =
      reason === 'long' ? 'the answer is too long to be passed on' : `the engine is away (${message})`
    return new Fault(STORE_UNAVAILABLE, { reason: `${what}.` })
  }

  private faultOf(
    answer: EngineResponse,
    { deadline, text: query }: RemoteQuery,
    isUntrusted: boolean,
  ): Error {
    const { status, text } = answer
    const described = firstLine(text)
    if (this.isCheckpoint(answer)) return new Fault(STORE_UNAVAILABLE, { reason: IN_CHECKPOINT })
    if (status === 408 || status === 504 || /time[d -]*out/i.test(described)) {
      this.deadlines += 1
      return new Fault(DEADLINE_EXCEEDED, { seconds: deadline / 1000 })
    }
    if (status === 429 || status === 503) return new Fault(STORE_BUSY)
    if (status === 401 || status === 403)
      return new Fault(STORE_UNAVAILABLE, { reason: `the engine refuses queries with ${status}.` })
    const place = /line[: ]+(\d+),? col(?:umn)?[: ]+(\d+)/i.exec(described)
    if (isUntrusted || (status >= 400 && status < 600))
      return new QueryError(
        isUntrusted ? described : `${status} ${described} in ${query.slice(0, 2000)}`,
        place === null ? undefined : Number(place[1]),
        place === null ? undefined : Number(place[2]),
      )
    return new Fault(STORE_UNAVAILABLE, { reason: `the engine answers ${status}.` })
  }
}

function wholeGraph(graph: string): string {
  const [subject, predicate, object] = [variable('s'), variable('p'), variable('o')]
  const where = inGraph(graph, triple(subject, predicate, object))
  return generate(construct([{ subject, predicate, object }], where))
}

const IN_CHECKPOINT = 'the engine is writing a checkpoint, or has nothing at its address (404).'

function refusal(what: string, { status, text }: EngineResponse): Fault {
  if (status === 404) return new Fault(STORE_UNAVAILABLE, { reason: IN_CHECKPOINT })
  if (status === 503 || status === 429)
    return new Fault(STORE_UNAVAILABLE, { reason: `the engine is busy (${status}).` })
  // Virtuoso answers this with 500.
  if (status === 401 || status === 403 || /\bSECURITY\b|No permission/.test(text))
    return new Fault(LOAD_REFUSED, {
      reason: `the engine refuses ${what} with ${status}: store_user and store_password have to be those of a user who may write`,
    })
  return new Fault(LOAD_REFUSED, { reason: `the engine refuses ${what} with ${status}: ${firstLine(text)}` })
}

function firstLine(text: string): string {
  return text
    .split(/\r?\n/)
    .filter(line => line.trim() !== '')
    .slice(0, 2)
    .join(' ')
    .slice(0, 500)
}
