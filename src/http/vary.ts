import type { FastifyReply } from 'fastify'

/** Says on which headers of the request an answer depends, each once (RFC 9110, section 12.5.5). */
export function varyBy(reply: FastifyReply, ...names: readonly string[]): void {
  const before = reply.getHeader('vary')
  const known = before === undefined ? [] : String(before).split(/, */)
  const more = names.filter(name => !known.includes(name))
  if (more.length > 0) reply.header('vary', [...known, ...more].join(', '))
}
