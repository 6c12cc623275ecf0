import type { FastifyReply } from 'fastify'

/** Calls of a day for the whole portal where nothing else is said. */
export const DAILY_CALLS = 100_000

/** What is left of a quota after a call. */
export interface Allowance {
  /** Calls of a day. */
  readonly limit: number
  readonly remaining: number
  /** Milliseconds since 1970 at which the day begins anew. */
  readonly reset: number
  /** True where this call is one too many. */
  readonly isExceeded: boolean
}

/** Counts calls of the APIs. */
export interface Quota {
  /** Counts one call and tells what is left. */
  take(): Allowance
  /** True where the next call would be one too many. */
  isSpent(): boolean
}

const DAY = 86_400_000

/**
 * Counts the calls of the whole portal in memory, from one midnight UTC to the next (facts on "quotas").
 *
 * @param now milliseconds since 1970
 * @param refuses false where the count is only told and no call is ever one too many
 */
export function dailyQuota(limit: number, now: () => number, refuses: boolean): Quota {
  let reset = 0
  let taken = 0
  const beginDay = () => {
    const moment = now()
    if (moment < reset) return
    reset = (Math.floor(moment / DAY) + 1) * DAY
    taken = 0
  }
  return {
    take: () => {
      beginDay()
      taken++
      return {
        limit,
        remaining: Math.max(0, limit - taken),
        reset,
        isExceeded: refuses && taken > limit,
      }
    },
    isSpent: () => {
      if (!refuses) return false
      beginDay()
      return taken >= limit
    },
  }
}

/** The headers that tell an allowance. */
export const ALLOWANCE_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const

/** What they tell, as the live service writes it: the moment with a blank and an offset. */
export function allowanceTexts({ limit, remaining, reset }: Allowance): readonly [string, string, string] {
  return [String(limit), String(remaining), resetText(reset)]
}

/** Tells in the headers what is left. */
export function tellAllowance(reply: FastifyReply, allowance: Allowance): void {
  const texts = allowanceTexts(allowance)
  for (const [index, name] of ALLOWANCE_HEADERS.entries()) reply.header(name, texts[index])
}

/** The body of 429 (query API, "Errors"). */
export function quotaBody({ limit, reset }: Allowance): unknown {
  return {
    errorcode: 10002,
    reset_time: `${new Date(reset).toISOString().slice(0, 19)}Z`,
    limit_time_unit: 'day',
    call_limit: limit,
    error: 'Too many requests on the domain. Please contact the domain administrator.',
  }
}

let told = { reset: Number.NaN, text: '' }

function resetText(reset: number): string {
  if (told.reset !== reset)
    told = { reset, text: `${new Date(reset).toISOString().slice(0, 19).replace('T', ' ')}+00:00` }
  return told.text
}
