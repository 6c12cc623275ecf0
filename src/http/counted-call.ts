import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Principal } from '../model/principal.ts'
import { JSON_TYPE, prettyJson } from './json.ts'
import type { Allowance, CallTaker } from './quota.ts'

/**
 * Counts a call of an API, reports the remaining quota in the headers, and answers the call if it exceeds the quota. The
 * headers stay whatever the answer becomes, so this comes before everything that may refuse a call.
 *
 * @param address the caller's address, see `clientAddress`
 * @returns true if the call was answered with 429
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

/** Uncounts the call of an answer that could not be given because its data is not loaded yet. */
export function returnCall(reply: FastifyReply): void {
  const call = counted.get(reply)
  if (call === undefined) return
  counted.delete(reply)
  const { quotas, principal, address, allowance } = call
  quotas.giveBack(principal, address, allowance)
  reportAllowance(reply, { ...allowance, remaining: allowance.remaining + 1 })
}

/** The call that was counted for an answer. */
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

/** The headers that report an allowance. */
export const ALLOWANCE_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const

/** Their values, as the live service writes them: the time with a blank and an offset. */
export function allowanceTexts({ limit, remaining, reset }: Allowance): readonly [string, string, string] {
  return [String(limit), String(remaining), resetText(reset)]
}

let described = { reset: Number.NaN, text: '' }

function resetText(reset: number): string {
  if (described.reset !== reset)
    described = { reset, text: `${new Date(reset).toISOString().slice(0, 19).replace('T', ' ')}+00:00` }
  return described.text
}

/** The message for each exceeded limit; that of the whole portal is as documented. */
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
