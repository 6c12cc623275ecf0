import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Principal } from '../model/principal.ts'
import { JSON_TYPE, prettyJson } from './json.ts'
import type { Allowance, CallTaker } from './quota.ts'

/**
 * Counts a call of an API, tells in the headers what is left, and answers it where it is one too many. The headers stay
 * whatever the answer becomes, so this comes before all that may refuse a call.
 *
 * @param address the caller's address, see `clientAddress`
 * @returns true where the call is answered, with 429
 */
export function countCall(
  request: FastifyRequest,
  reply: FastifyReply,
  quotas: CallTaker,
  address: string,
): boolean {
  const { principal } = request
  const allowance = quotas.take(principal, address)
  reportAllowance(reply, allowance)
  if (!allowance.isExceeded) {
    counted.set(reply, { quotas, principal, address, allowance })
    return false
  }
  reply
    .code(429)
    .headers({ 'retry-after': String(allowance.wait), 'cache-control': 'no-cache, no-store' })
    .type(JSON_TYPE)
    .send(prettyJson(quotaBody(allowance)))
  return true
}

/** Takes the call of an answer back: it could not be given since its data is not there yet. */
export function returnCall(reply: FastifyReply): void {
  const call = counted.get(reply)
  if (call === undefined) return
  counted.delete(reply)
  const { quotas, principal, address, allowance } = call
  quotas.giveBack(principal, address, allowance)
  reportAllowance(reply, { ...allowance, remaining: allowance.remaining + 1 })
}

/** What was counted for an answer. */
interface CountedCall {
  readonly quotas: CallTaker
  readonly principal: Principal
  readonly address: string
  readonly allowance: Allowance
}

const counted = new WeakMap<FastifyReply, CountedCall>()

function reportAllowance(reply: FastifyReply, allowance: Allowance): void {
  const texts = allowanceTexts(allowance)
  for (const [index, name] of ALLOWANCE_HEADERS.entries()) reply.header(name, texts[index])
}

/** The headers that tell an allowance. */
export const ALLOWANCE_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const

/** What they tell, as the live service writes it: the moment with a blank and an offset. */
export function allowanceTexts({ limit, remaining, reset }: Allowance): readonly [string, string, string] {
  return [String(limit), String(remaining), resetText(reset)]
}

let described = { reset: Number.NaN, text: '' }

function resetText(reset: number): string {
  if (described.reset !== reset)
    described = { reset, text: `${new Date(reset).toISOString().slice(0, 19).replace('T', ' ')}+00:00` }
  return described.text
}

/** What is said of each limit that is used up; of the portal's own as it is documented. */
const EXCEEDED: Readonly<Record<Allowance['kind'], string>> = {
  domain: 'Too many requests on the domain. Please contact the domain administrator.',
  anonymous:
    'Too many anonymous requests from your address. Please authenticate or contact the domain administrator.',
  user: 'Too many requests of your account. Please contact the domain administrator.',
}

/** The body of 429 (REST 5.6). */
export function quotaBody({ kind, limit, reset }: Allowance): unknown {
  return {
    errorcode: 10002,
    reset_time: `${new Date(reset).toISOString().slice(0, 19)}Z`,
    limit_time_unit: 'day',
    call_limit: limit,
    error: EXCEEDED[kind],
  }
}
