import { QueryEngine } from '@comunica/query-sparql'
import { answerTerm, type RdfJsTerm } from '../../rdf/rdfjs.ts'
import { followContinuations } from '../../sparql/follow.ts'
import { syntaxProblem } from '../../sparql/syntax.ts'
import { inOrderOfQuery } from '../../sparql/variable-order.ts'
import type { MessageRow, QueryMessage, QueryRun } from './modules/query-messages.ts'

/**
 * Runs one query with Comunica, off the main thread, over fragments or endpoints of this portal. Terminating the worker stops the
 * query and its requests.
 */
interface WorkerScope {
  postMessage(message: QueryMessage): void
  onmessage: ((event: { readonly data: QueryRun }) => void) | null
  onunhandledrejection: ((event: { readonly reason: unknown; preventDefault(): void }) => void) | null
}
const scope = globalThis as unknown as WorkerScope
const report = (message: QueryMessage) => scope.postMessage(message)

/** Maximum rows that are reported together, and milliseconds that the first of them waits. */
const MAX_ROWS = 200
const TIMEOUT = 60

let requests = 0
let refused: number | null = null
let hasEnded = false

scope.onmessage = ({ data }) => {
  run(data).catch(fail)
}
// Comunica throws some errors outside of any awaited promise.
scope.onunhandledrejection = event => {
  event.preventDefault()
  fail(event.reason)
}
report({ type: 'ready' })

async function run({ query, sources, base, here, isExplained }: QueryRun): Promise<void> {
  const engine = new QueryEngine()
  const [first, ...rest] = sources
  if (first === undefined) return
  const context = {
    sources: [first, ...rest] as [typeof first, ...typeof rest],
    fetch: followContinuations(countedFetch(base, here)),
  }
  const unreadable = await engine.explain(query, { ...context }, 'parsed').then(
    () => null,
    error => error as Error,
  )
  if (unreadable !== null) return refuse(query, unreadable)
  if (isExplained) {
    const { data } = await engine.explain(query, context, 'physical')
    report({ type: 'plan', text: String(data) })
    return finish()
  }
  const result = await engine.query(query, context)
  switch (result.resultType) {
    case 'bindings': {
      const rows = await result.execute()
      const { variables } = await result.metadata()
      const names = inOrderOfQuery(
        query,
        variables.map(({ value }) => value),
      )
      report({ type: 'head', kind: 'rows', variables: names })
      await reportRows(rows, row => names.map(name => answerTerm(row.get(name))))
      break
    }
    case 'quads': {
      const triples = (await result.execute()) as AsyncIterable<Record<(typeof TRIPLE)[number], RdfJsTerm>>
      report({ type: 'head', kind: 'triples', variables: TRIPLE })
      await reportRows(triples, triple => TRIPLE.map(name => answerTerm(triple[name])))
      break
    }
    case 'boolean':
      report({ type: 'truth', value: await result.execute() })
      break
    default:
      throw new Error('Only SELECT, ASK, CONSTRUCT and DESCRIBE are run: the sources are only read.')
  }
  finish()
}

function finish(): void {
  if (hasEnded) return
  hasEnded = true
  report({ type: 'requests', count: requests })
  report({ type: 'done' })
}

const TRIPLE = ['subject', 'predicate', 'object'] as const

async function reportRows<Item>(items: AsyncIterable<Item>, row: (item: Item) => MessageRow): Promise<void> {
  let buffered: MessageRow[] = []
  let timer: ReturnType<typeof setTimeout> | null = null
  const flush = () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (buffered.length > 0) report({ type: 'rows', rows: buffered })
    buffered = []
  }
  for await (const item of items) {
    buffered.push(row(item))
    timer ??= setTimeout(flush, TIMEOUT)
    if (buffered.length >= MAX_ROWS) flush()
  }
  flush()
}

/**
 * A `fetch` that counts requests. If the page was loaded from another address than the public one, requests go to that
 * address, and responses keep the requested URL, by which fragments describe themselves.
 */
function countedFetch(base: string, here: string): typeof fetch {
  let isReported = true
  return async (input, init) => {
    requests += 1
    if (isReported) {
      isReported = false
      setTimeout(() => {
        isReported = true
        report({ type: 'requests', count: requests })
      }, TIMEOUT)
    }
    const requested = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
    const isOwn = base !== here && (requested === base || requested.startsWith(`${base}/`))
    const target = isOwn ? here + requested.slice(base.length) : requested
    const answer = await fetch(target, init)
    if (answer.status >= 400) refused ??= answer.status
    if (isOwn) Object.defineProperty(answer, 'url', { value: requested })
    return answer
  }
}

/** Reports the position of a syntax error, and what is expected there. */
function refuse(query: string, error: Error): void {
  const problem = syntaxProblem(query)
  if (problem === null) fail(error)
  else fail(new Error(problem.reason), problem.from)
}

const MAX_MESSAGE_LENGTH = 600

function fail(error: unknown, at: number | null = null): void {
  if (hasEnded) return
  hasEnded = true
  const text = error instanceof Error ? error.message : String(error)
  const offset = /at offset: (\d+)/.exec(text)?.[1]
  report({ type: 'requests', count: requests })
  report({
    type: 'fault',
    message: text.replace(/\s+/g, ' ').slice(0, MAX_MESSAGE_LENGTH),
    offset: at ?? (offset === undefined ? null : Number(offset)),
    status: refused,
  })
}
