import { QueryError } from '../store.ts'

/**
 * The engine's message about a query that it cannot parse or evaluate. Its parser reports the location as `error at 3:6: expected
 * one of …`; the list of expected tokens also contains the rules that the query breaks, as sentences.
 */
export function queryError(message: string): QueryError {
  const place = /^error at (\d+):(\d+): /.exec(message)
  if (place === null) return new QueryError(message)
  const rule = /\b(?:The|A|An) [A-Z\w][^,[\]]{10,200}/.exec(message.slice(place[0].length))?.[0]
  return new QueryError(rule ?? '', Number(place[1]), Number(place[2]))
}
