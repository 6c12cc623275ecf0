import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerFault } from '../../http/faults.ts'
import { XML_DECLARATION, xmlText } from '../../model/xml.ts'
import { DATA_SERVICES, META, type PayloadFormat } from './format/shape.ts'
import { formatAnyway, JSON_TYPES, type ODataFormat } from './negotiate.ts'
import { optionNamed } from './options.ts'
import { versionHeader } from './protocol-version.ts'

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

/**
 * The body of an error answer (JSON Format 4.0 and Atom Format 4.0, section 19; those of 3.0). In JSON of 4.0
 * the code is a number (OData service 2.5).
 *
 * @param status the status of the answer, which is the code
 */
export function errorBody(message: string, status: number, { type, version }: PayloadFormat): string {
  const old = { code: String(status), message: { lang: 'en-US', value: message } }
  switch (type) {
    case 'json':
      return JSON.stringify(version !== '4.0' ? { 'odata.error': old } : { error: { message, code: status } })
    case 'verbose':
      return JSON.stringify({ error: old })
    case 'atom': {
      const [namespace, language] = version !== '4.0' ? [DATA_SERVICES.meta, ' xml:lang="en-US"'] : [META, '']
      return `${XML_DECLARATION}<m:error xmlns:m="${namespace}"><m:code>${status}</m:code><m:message${language}>${xmlText(message)}</m:message></m:error>\n`
    }
  }
}
