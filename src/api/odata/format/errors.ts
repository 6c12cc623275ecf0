import { XML_DECLARATION, xmlText } from '../../../model/xml.ts'
import { DATA_SERVICES, META } from './namespaces.ts'
import type { PayloadFormat } from './shape.ts'

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
    default:
      return type satisfies never
  }
}
