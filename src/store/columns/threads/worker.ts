import { parentPort, workerData } from 'node:worker_threads'
import { memoised } from '../../../model/memoised.ts'
import { collectGarbage } from '../../../runtime/engine-flags.ts'
import { prioritisedThread } from '../../../runtime/thread-priority.ts'
import { GraphBuilder } from '../build/graph-builder.ts'
import { SectionMemory } from '../build/section-writer.ts'
import type { Column } from '../column.ts'
import { type DatasetView, Evaluation } from '../evaluate/evaluation.ts'
import { EvaluationStopped, NotInColumns, WorkClock } from '../evaluate/evaluation-limits.ts'
import { SelectionCache } from '../evaluate/expressions/selection-cache.ts'
import { ContinuationRefused } from '../evaluate/patterns/outermost-scan.ts'
import { type RetainedScratch, withScratch } from '../evaluate/vectors/scratch.ts'
import type { GraphColumns } from '../graph.ts'
import { matchPage } from '../pattern-page.ts'
import { ColumnsDamaged } from '../sections.ts'
import { type JobState, jobText, textPieces } from './answer-text.ts'
import { PieceBytes } from './piece-bytes.ts'
import type {
  ColumnReply,
  ColumnRequest,
  Failure,
  Job,
  JobLimits,
  LastPiece,
  QueriedGraphs,
  ThreadSetup,
  WireTable,
} from './protocol.ts'
import { GraphHolder } from './registry.ts'
import { tableOf, tablesOf } from './tables.ts'

/** Entry point of a thread that answers from columns. */
const port = parentPort
if (port === null) throw new Error('worker.ts runs in a worker thread only')
const reply = (message: ColumnReply, transfer: readonly ArrayBuffer[] = []): void =>
  port.postMessage(message, [...transfer])

const signal = new Int32Array((workerData as ThreadSetup).signal)
const names = new WeakMap<GraphColumns, string>()
const graphs = new GraphHolder({
  onPart: (graph, part) => reply({ type: 'part', graph, part }),
  onDamage: (graph, damage) => {
    reply({ type: 'damaged', graph, reason: damage.message })
    return damage
  },
})

/** The chunk of an answer that is being written; it is empty between two chunks. */
const written = new PieceBytes()

/** A job that answers in chunks. */
interface OpenJob {
  readonly pieces: Pieces
  readonly clock: WorkClock
  readonly state: JobState
  scratch: RetainedScratch | null
}

/** Jobs that answer in chunks, between two chunks. */
const open = new Map<number, OpenJob>()

/** Removes a job, and releases its memory to others. */
function close(id: number): void {
  const job = open.get(id)
  open.delete(id)
  job?.scratch?.giveBack()
}

type Pieces = Generator<Uint8Array | WireTable, LastPiece>

port.on('message', (request: ColumnRequest) => {
  switch (request.type) {
    case 'attach':
      names.set(graphs.attach(request.place), request.place.name)
      return
    case 'detach':
      graphs.detach(request.graphs)
      return
    case 'share':
      graphs.addShared(request.graph, request.parts)
      return
    case 'collect':
      return collectGarbage()
    case 'run':
      return attempt(request.id, () => run(request.id, JSON.parse(request.job), request.limits))
    case 'next':
      return attempt(request.id, () => next(request.id))
    case 'close':
      open.get(request.id)?.pieces.return({ piece: null, cursor: null })
      return close(request.id)
    default:
      return request satisfies never
  }
})
reply({ type: 'up', thread: prioritisedThread() })

function attempt(id: number, work: () => void): void {
  try {
    work()
  } catch (error) {
    close(id)
    written.drop()
    reply({ type: 'failed', id, failure: failureOf(error) })
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof EvaluationStopped) return { reason: error.reason }
  if (error instanceof ContinuationRefused) return { reason: 'cursor' }
  if (error instanceof NotInColumns) return { reason: 'not in columns', what: error.what }
  if (error instanceof ColumnsDamaged) return { reason: 'damaged', message: error.message }
  if (
    error instanceof RangeError &&
    /allocation|Invalid (?:typed array|array|string) length|maximum size exceeded/i.test(error.message)
  )
    return { reason: 'memory' }
  return { reason: 'error', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

function graphOf(name: string): GraphColumns {
  const graph = graphs.get(name)
  if (graph === undefined) throw new Error(`the graph ${name} is not attached`)
  return graph
}

function viewOf({ defaultGraphs, namedGraphs }: QueriedGraphs): DatasetView {
  const named = new Map<string, GraphColumns[]>()
  for (const [iri, graph] of namedGraphs) memoised(named, iri, () => []).push(graphOf(graph))
  return { defaultGraphs: defaultGraphs.map(graphOf), namedGraphs: named }
}

function evaluationOf(
  id: number,
  queried: QueriedGraphs,
  clock: WorkClock,
  memory: number,
  base: string | null = null,
  selections: SelectionCache | null = null,
): Evaluation {
  const limits = { clock, signal: { numbers: signal, id }, memory }
  return new Evaluation(viewOf(queried), limits, { base: base ?? undefined, selections })
}

const nameOf = (graph: GraphColumns): string => names.get(graph) ?? ''

function run(id: number, job: Job, { milliseconds, memory }: JobLimits): void {
  const clock = new WorkClock(milliseconds)
  clock.begin()
  switch (job.type) {
    case 'table': {
      const selections = job.queries.length > 1 ? new SelectionCache() : null
      const tables = withScratch(() =>
        job.queries.map(query => {
          if (query.type !== 'select') throw new Error('a table is the answer of a SELECT')
          const evaluation = evaluationOf(id, job.graphs, clock, memory, null, selections)
          return tableOf(query, evaluation, job.counted, nameOf)
        }),
      )
      const [, graph] = job.graphs.namedGraphs[0] ?? []
      if (graph !== undefined && tables.some(({ rows }) => rows > 0)) touch(graphOf(graph), job.contents)
      reply({ type: 'table', id, tables })
      return
    }
    case 'text': {
      const evaluation = evaluationOf(id, job.graphs, clock, memory, job.base)
      const state = { isRead: false }
      const { query, format, continuation } = job
      begin(
        id,
        clock,
        textPieces(written, jobText(query, evaluation, format, written, continuation, state), job.piece),
        state,
      )
      return
    }
    case 'tables': {
      if (job.query.type !== 'select') throw new Error('tables are the answer of a SELECT')
      const evaluation = evaluationOf(id, job.graphs, clock, memory)
      begin(id, clock, tablesOf(job.query, evaluation, job.rows, nameOf))
      return
    }
    case 'match': {
      const { graph, pattern, offset, limit } = job
      reply({ type: 'matched', id, ...matchPage(graphOf(graph), pattern, offset, limit) })
      return
    }
    case 'lines':
      begin(id, clock, linesOf(graphOf(job.graph), job.subjects, job.size))
      return
    case 'build': {
      const builder = new GraphBuilder({ isSearched: job.isSearched })
      for (const subject of job.subjects) builder.addSubject(subject)
      for (const predicate of job.predicates) builder.addPredicate(predicate)
      builder.add(Buffer.from(job.text))
      const memoryOf = new SectionMemory()
      const header = builder.finish(memoryOf)
      reply({
        type: 'built',
        id,
        header: { ...header, sections: memoryOf.sections },
        buffers: memoryOf.buffers,
      })
      return
    }
    case 'prepare': {
      const column = graphOf(job.graph).columns[job.column]
      if (column !== undefined) prepare(column)
      reply({ type: 'touched', id })
      return
    }
    case 'touch':
      touch(graphOf(job.graph), job.predicates)
      reply({ type: 'touched', id })
      return
    default:
      job satisfies never
  }
}

/** The triples of the first subjects of a graph, of some at a time. */
function* linesOf(graph: GraphColumns, subjects: number, size: number): Pieces {
  for (let from = 0; from < subjects; from += size)
    yield new TextEncoder().encode([...graph.lines(from, Math.min(subjects, from + size))].join(''))
  return { piece: null, cursor: null }
}

/** Reads a column, and computes what filters, orders and searches would otherwise compute on first use. */
function prepare(column: Column): void {
  if (column.dictionary.count === 0) return
  if (!column.isDense) void column.rowNumbers
  void column.postings
  for (const part of column.dictionary.parts) {
    if (part.kind === 'point') column.gridOf(part)
    if (part.kind === 'other') column.boxesOf(part)
    if (part.kind === 'text' && part.words !== null) column.wordsOf(part)
  }
}

/** Reads what is needed to write the values of some columns. */
function touch(graph: GraphColumns, predicates: readonly string[]): void {
  if (predicates.length === 0) return
  if (graph.subjects > 0) graph.subjectTerm(0)
  for (const predicate of predicates) {
    const column = graph.column(predicate)
    if (column === undefined || column.dictionary.count === 0) continue
    void column.codes
    if (!column.isDense) void column.subjects
    if (!column.isSingle) void column.offsets
    column.listOf(0)
    for (const part of column.dictionary.parts) column.dictionary.form(part.first)
  }
}

function begin(id: number, clock: WorkClock, pieces: Pieces, state: JobState = { isRead: false }): void {
  open.set(id, { pieces, clock, state, scratch: null })
  withScratch(
    () => advance(id, pieces, clock),
    () => {
      const job = open.get(id)
      return job === undefined
        ? null
        : retained => {
            job.scratch = retained
          }
    },
  )
}

function next(id: number): void {
  const job = open.get(id)
  // It was closed while this piece, which is read ahead, waited for the thread.
  if (job === undefined) throw new EvaluationStopped('cancelled')
  job.state.isRead = true
  job.clock.begin()
  advance(id, job.pieces, job.clock)
}

function advance(id: number, pieces: Pieces, clock: WorkClock): void {
  const { value, done } = pieces.next()
  clock.end()
  if (done === true) {
    close(id)
    const { piece, cursor } = value
    reply({ type: 'piece', id, piece, done, cursor }, transferred(piece))
  } else reply({ type: 'piece', id, piece: value, done: false }, transferred(value))
}

function transferred(piece: Uint8Array | WireTable | null): readonly ArrayBuffer[] {
  return piece instanceof Uint8Array ? [piece.buffer as ArrayBuffer] : []
}
