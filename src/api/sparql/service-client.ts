import { BAD_GATEWAY, Fault } from '../../errors/errors.ts'
import { abortAfter } from '../../runtime/abort-after.ts'
import { followContinuations } from '../../sparql/follow.ts'
import { boundedText, type ServiceLimits } from './service-results.ts'

const RESULTS = 'application/sparql-results+json'

/**
 * Queries an external SPARQL endpoint (SPARQL 1.1 Protocol, section 2.1.2) and returns its answer in JSON. It sends nothing of
 * the caller but the query, no credentials, and does not follow redirects: an address is allowed, not a host. An answer that
 * continues at the same address is read to its end.
 * Faults: BadGateway, UnprocessableEntity.
 *
 * @param signal aborted when the caller disconnects
 */
export async function requestEndpoint(
  address: string,
  query: string,
  limits: ServiceLimits,
  { remaining, signal }: { readonly remaining: () => number; readonly signal: AbortSignal },
): Promise<string> {
  const late = abortAfter(remaining())
  try {
    const response = await followContinuations(fetch)(address, {
      method: 'POST',
      body: new URLSearchParams({ query }),
      headers: { accept: RESULTS },
      redirect: 'error',
      signal: AbortSignal.any([signal, late]),
    })
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel()
      throw unavailable(address, `answers ${response.status}`)
    }
    return await boundedText(response.body, address, limits)
  } catch (error) {
    if (error instanceof Fault) throw error
    throw unavailable(
      address,
      late.aborted ? `has not answered within ${limits.time / 1000} s` : 'cannot be reached',
      error,
    )
  }
}

function unavailable(address: string, what: string, cause?: unknown): Fault {
  return new Fault(BAD_GATEWAY, { reason: `The service ${address} ${what}.` }, { cause })
}
