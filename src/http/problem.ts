import type { Fault } from '../errors/errors.ts'

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** A fault as a problem document (RFC 9457): the error body of the linked-data endpoints. */
export function problemBody(fault: Fault): unknown {
  return { type: 'about:blank', title: fault.code, status: fault.status, detail: fault.message }
}
