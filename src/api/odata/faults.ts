import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerFault } from '../../http/faults.ts'
import { errorBody } from './format/errors.ts'
import { formatAnyway, JSON_TYPES, type ODataFormat } from './negotiate.ts'
import { optionNamed } from './options.ts'
import { versionHeader } from './versions.ts'

/**
 * Answers any error as an OData error, in the version and format of the request as far as those can be read (OData 4.0
 * Protocol 9.4; OData service 2.5).
 */
export function answerODataFault(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const format = formatAnyway(request.headers, namedFormat(request.raw.url ?? ''))
  for (const name of ['odata-version', 'dataserviceversion', 'preference-applied']) reply.removeHeader(name)
  reply.header(...versionHeader(format.version)).serializer((body: unknown) => body as string)
  const payloadFormat = { ...format, omitNulls: false }
  answerFault(({ message, status }) => errorBody(message, status, payloadFormat), contentType(format))(
    error,
    request,
    reply,
  )
}

/** The media type of errors: not every data format is also an error format. */
function contentType({ type, version }: ODataFormat): string {
  if (type === 'atom') return 'application/xml'
  return type === 'verbose' && version === '3.0' ? 'application/json;odata=verbose' : JSON_TYPES[version]
}

/** The value of `$format` of an address that may not be readable at all. */
function namedFormat(url: string): string | undefined {
  const at = url.indexOf('?')
  const parts =
    at < 0
      ? []
      : url
          .slice(at + 1)
          .split('&')
          .slice(0, 200)
  for (const part of parts)
    try {
      if (optionNamed(part) === 'format') return part.slice(part.indexOf('=') + 1)
    } catch {
      // What cannot be decoded names nothing.
    }
  return undefined
}
