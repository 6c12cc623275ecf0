import type { FastifyReply } from 'fastify'

/** Says on which headers of the request an answer depends, each once (RFC 9110, section 12.5.5). */
export function varyBy(reply: FastifyReply, ...names: readonly string[]): void {
  const before = reply.getHeader('vary')
  const known = before === undefined ? [] : String(before).split(/, */)
  const all = new Set([...known, ...names])
  if (all.size > known.length) reply.header('vary', [...all].join(', '))
}
