import { Fault } from '../../errors/errors.ts'
import { isMatched } from '../../http/conditional.ts'
import type { RequestHeaders } from './versions.ts'

/**
 * Refuses to answer under an isolation, which services need not support: a request for a snapshot must not be answered with anything else
 * (OData 4.01 Protocol 8.2.4). Faults: PreconditionFailed.
 */
export function refuseIsolation(headers: RequestHeaders): void {
  for (const name of ['odata-isolation', 'isolation'] as const)
    if (headers[name] !== undefined)
      throw new Fault('PreconditionFailed', {
        reason: `OData-Isolation: ${String(headers[name]).slice(0, 40)} is not supported.`,
      })
}

/**
 * Refuses an answer that is none of those that If-Match names (Protocol 8.2.4). Faults: PreconditionFailed.
 *
 * @param tag of the answer, as its header has it
 */
export function refuseUnmatched({ 'if-match': known }: RequestHeaders, tag: unknown): void {
  if (isMatched(typeof known === 'string' ? known : undefined, typeof tag === 'string' ? tag : undefined))
    return
  throw new Fault('PreconditionFailed', {
    reason: 'If-Match: the data is another one now, or was never what the tag names.',
  })
}
