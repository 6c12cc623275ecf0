import { SaxesParser } from '@rubensworks/saxes'
import { lookup } from '../../../model/lookup.ts'

/** Maximum bytes, elements and nesting depth of a response. */
const [MAX_BYTES, MAX_ELEMENTS, MAX_DEPTH] = [256 * 1024, 5000, 40]

const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol'

/** Algorithms of XML Signature that are accepted: none with SHA-1 (RFC 9231; NIST SP 800-131A), none with shared secrets. */
const ALGORITHMS: ReadonlySet<string> = new Set([
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  'http://www.w3.org/2001/10/xml-exc-c14n#',
])

/** The content of the root element of a response; it is not signed, so it is only used to refuse responses. */
export interface Envelope {
  readonly xml: string
  readonly inResponseTo: string
  readonly destination: string
  /** The last part of the first status code, `Success`. */
  readonly status: string
}

/**
 * Checks a response before anything more expensive: it must be small, without a document type and with known algorithms
 * only. Throws with the reason.
 */
export function readEnvelope(given: string): Envelope {
  if (given.length === 0) throw new Error('the form has no SAMLResponse')
  if (given.length > (MAX_BYTES * 4) / 3 || !/^[A-Za-z0-9+/=\s]+$/.test(given))
    throw new Error('the response is no base64, or longer than 256 kB')
  const xml = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(given, 'base64'))
  const parser = new SaxesParser({ xmlns: true })
  const envelope = { xml, inResponseTo: '', destination: '', status: '' }
  let [elements, depth] = [0, 0]
  const refuse = (what: string) => () => {
    throw new Error(`the response has ${what}`)
  }
  parser.on('error', error => {
    throw new Error(`the response is no XML: ${error.message}`)
  })
  parser.on('doctype', refuse('a document type declaration'))
  parser.on('processinginstruction', refuse('a processing instruction'))
  parser.on('opentag', ({ uri, local, attributes }) => {
    if (++elements > MAX_ELEMENTS || ++depth > MAX_DEPTH) refuse('too many elements')()
    const attribute = (name: string) => lookup(attributes, name)?.value ?? ''
    if (depth === 1) {
      if (uri !== PROTOCOL || local !== 'Response') refuse('another root element than Response')()
      if (attribute('Version') !== '2.0') refuse('another version than 2.0')()
      envelope.inResponseTo = attribute('InResponseTo')
      envelope.destination = attribute('Destination')
    }
    if (local === 'StatusCode' && envelope.status === '')
      envelope.status = attribute('Value').replace(/^.*:/, '')
    if (
      /Method$|^Transform$/.test(local) &&
      'Algorithm' in attributes &&
      !ALGORITHMS.has(attribute('Algorithm'))
    )
      refuse(`the algorithm ${attribute('Algorithm').slice(0, 80)}, which is not accepted`)()
  })
  parser.on('closetag', () => {
    depth--
  })
  parser.write(xml).close()
  return envelope
}
