import { queryForm } from '../../catalog/example-queries.ts'
import { USAGE } from '../../config/faults.ts'
import { BAD_GATEWAY, Fault } from '../../errors/errors.ts'
import type { ComunicaAnswer, GivenTriple } from './answer.ts'
import type { QuerySource } from './sources.ts'

/**
 * Runs a query with Comunica over one source, or a join of several. Faults: Usage, BadGateway.
 *
 * @param send sends the requests to the sources
 */
export async function runComunica(
  query: string,
  sources: readonly QuerySource[],
  send: typeof fetch = fetch,
): Promise<ComunicaAnswer> {
  const { QueryEngine } = await loadComunica()
  const engine = new QueryEngine()
  const [first, ...rest] = sources
  if (first === undefined) throw new Fault(USAGE, { reason: 'a query needs a source.' })
  const context = { sources: [first, ...rest], fetch: send } satisfies {
    readonly sources: [QuerySource, ...QuerySource[]]
    readonly fetch: typeof fetch
  }
  // The context is copied, because `explain` modifies it.
  await engine.explain(query, { ...context }, 'parsed').catch(async error => {
    throw await querySyntaxFault(error, query)
  })
  if (queryForm(query) === null)
    throw new Fault(USAGE, {
      reason: 'only SELECT, ASK, CONSTRUCT and DESCRIBE are run: sources are only read.',
    })
  try {
    const result = await engine.query(query, context)
    switch (result.resultType) {
      case 'bindings': {
        const rows = await result.execute()
        const { variables } = await result.metadata()
        return { type: 'rows', variables: variables.map(({ value }) => value), rows: described(rows) }
      }
      case 'quads':
        return { type: 'triples', triples: described((await result.execute()) as AsyncIterable<GivenTriple>) }
      case 'boolean':
        return { type: 'truth', value: await result.execute() }
      default:
        throw new Fault(USAGE, { reason: 'updates are not run: sources are only read.' })
    }
  } catch (error) {
    throw comunicaFault(error)
  }
}

/** Comunica is a dependency of a checkout, and optional for an installed Lodestone: servers do not need it. */
async function loadComunica() {
  try {
    return await import('@comunica/query-sparql')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    const reason =
      'lodestone query needs Comunica, which is not installed here: run npm install @comunica/query-sparql beside Lodestone.'
    throw new Fault(USAGE, { reason }, { cause })
  }
}

async function* described<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items
  } catch (error) {
    throw comunicaFault(error)
  }
}

/** Describes in one line where a text is no SPARQL, and what is expected there. */
export async function querySyntaxFault(error: unknown, query: string): Promise<Fault> {
  const { syntaxProblem } = await import('../../sparql/syntax.ts')
  const problem = syntaxProblem(query)
  const offset = problem?.from ?? /at offset: (\d+)/.exec(messageOf(error))?.[1]
  const before = offset === undefined ? null : query.slice(0, Number(offset)).split('\n')
  const place = before === null ? '' : `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: `
  const isLexer = /unexpected character/.test(messageOf(error))
  const reason =
    problem?.reason ?? (isLexer ? 'Comunica cannot read the query at this place.' : lineOf(error))
  return new Fault(USAGE, { reason: `the query cannot be read: ${place}${reason}` }, { cause: error })
}

/** Describes in one line why a valid query failed. */
export function comunicaFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  return new Fault(BAD_GATEWAY, { reason: `the query failed: ${lineOf(error)}` }, { cause: error })
}

const MAX_WORD_LENGTH = 120
const MAX_LINE_LENGTH = 500

/** A message in one line; long words, such as addresses, are truncated and credentials redacted. */
function lineOf(error: unknown): string {
  return messageOf(error)
    .replace(/(apikey|access_token)=[^&\s>"']*/gi, '$1=redacted')
    .split(/\s+/)
    .filter(word => word !== '')
    .map(word => (word.length > MAX_WORD_LENGTH ? `${word.slice(0, MAX_WORD_LENGTH)}…` : word))
    .join(' ')
    .slice(0, MAX_LINE_LENGTH)
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
