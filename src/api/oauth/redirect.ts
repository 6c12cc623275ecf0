import type { FastifyReply } from 'fastify'
import { keepPrivate } from '../../site/account-page.ts'

/**
 * Sends a person back to an application, with the answer in the query (RFC 6749, sections 4.1.2 and 4.1.2.1), and who gave
 * it, so that an application of several servers is not sent with the code of one to another (RFC 9207).
 *
 * @param issuer as the metadata have it
 */
export function sendBack(
  reply: FastifyReply,
  redirectUri: string,
  issuer: string,
  answer: Readonly<Record<string, string | null>>,
): FastifyReply {
  const location = withAnswer(redirectUri, { ...answer, iss: issuer })
  return keepPrivate(reply).code(302).header('location', location).send()
}

/** A redirect URI as it was registered, character by character, with the answer behind it. */
function withAnswer(redirectUri: string, answer: Readonly<Record<string, string | null>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(answer)) if (value !== null) parameters.append(name, value)
  const separator = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&'
  return `${redirectUri}${separator}${parameters}`
}
