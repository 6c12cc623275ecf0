import { linkedDataRequests } from './linked-data-requests.ts'
import { odataRequests } from './odata-requests.ts'
import { pageRequests } from './page-requests.ts'
import { type GoldenRequest, requestLine } from './request.ts'
import { restRequests } from './rest-requests.ts'

/** All requests whose answers are golden, each once. */
export function goldenRequests(): readonly GoldenRequest[] {
  const all = [...restRequests(), ...linkedDataRequests(), ...odataRequests(), ...pageRequests()]
  return [...new Map(all.map(request => [requestLine(request), request])).values()]
}
