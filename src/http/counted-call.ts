import type { FastifyReply, FastifyRequest } from 'fastify'
import { declareFault, Fault } from '../errors/errors.ts'
import type { Principal } from '../model/principal.ts'
import type { Allowance, CallTaker } from './quota.ts'

export const QUOTA_EXCEEDED = declareFault('QuotaExceeded', 429, '{reason}')

/** A call beyond a quota; APIs whose body for it is documented make it from the allowance. */
export class QuotaExceeded extends Fault {
  readonly allowance: Allowance

  constructor(allowance: Allowance) {
    super(QUOTA_EXCEEDED, { reason: EXCEEDED[allowance.kind] })
    this.allowance = allowance
  }
}

/**
 * Counts a call of an API and reports the remaining quota in the headers. The headers stay whatever the answer becomes, so
 * this comes before everything that may refuse a call. Throws QuotaExceeded, which the API answers in the form of its errors.
 *
 * @param address the caller's address, see `clientAddress`
 */
export function countCall(
  request: FastifyRequest,
  reply: FastifyReply,
  quotas: CallTaker,
  address: string,
): void {
  const { principal } = request
  const allowance = quotas.take(principal, address)
  reportAllowance(reply, allowance)
  if (allowance.isExceeded) {
    reply.header('retry-after', String(allowance.wait))
    throw new QuotaExceeded(allowance)
  }
  counted.set(reply, { quotas, principal, address, allowance })
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

/** The body of 429 of the REST APIs (REST 5.6). */
export function quotaBody({ kind, limit, reset }: Allowance): unknown {
  return {
    errorcode: 10002,
    reset_time: `${new Date(reset).toISOString().slice(0, 19)}Z`,
    limit_time_unit: 'day',
    call_limit: limit,
    error: EXCEEDED[kind],
  }
}
