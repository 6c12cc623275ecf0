import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { SaxesParser } from '@rubensworks/saxes'
import type { SamlProvider } from '../../../config/derived.ts'
import { CONFIG_INVALID } from '../../../config/faults.ts'
import { Fault } from '../../../errors/errors.ts'
import { lookup } from '../../../model/lookup.ts'

/** An identity provider: its entity id, the address for requests, and the certificates of its signatures. */
export interface IdentityProvider {
  readonly issuer: string
  readonly entryPoint: string
  /** PEM. */
  readonly certificates: readonly string[]
}

const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata'
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#'
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'

/** Minimum bits of an RSA key for a trusted signature (NIST SP 800-131A). */
const MIN_RSA_BITS = 2048

/** Reads the metadata or certificate in the settings. Faults: ConfigInvalid, with the missing part. */
export function readIdentityProvider({ source }: SamlProvider): IdentityProvider {
  const file = source.type === 'metadata' ? source.file : source.certificateFile
  const text = readText(file)
  const read =
    source.type === 'metadata'
      ? readMetadata(text, file)
      : {
          issuer: source.issuer,
          entryPoint: source.entryPoint,
          certificates: text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [],
        }
  const { issuer, entryPoint } = read
  if (issuer === '') throw invalid(file, 'no EntityDescriptor with an entityID was found')
  if (!URL.canParse(entryPoint) || !/^https?:$/.test(new URL(entryPoint).protocol))
    throw invalid(file, 'no SingleSignOnService with the binding HTTP-Redirect was found')
  if (read.certificates.length === 0) throw invalid(file, 'no certificate of signatures was found')
  const certificates = read.certificates.map(each => checkedCertificate(each, file))
  return { issuer, entryPoint, certificates }
}

/** The relevant parts of metadata (SAML 2.0 Metadata, section 2.4.3). */
function readMetadata(text: string, file: string) {
  const parser = new SaxesParser({ xmlns: true })
  const found = { issuer: '', entryPoint: '', certificates: [] as string[] }
  /** The local names of open elements, and the text of the innermost. */
  const open: string[] = []
  let certificate = ''
  let isForSigning = true
  parser.on('error', error => {
    throw invalid(file, `it is no XML: ${error.message}`)
  })
  parser.on('doctype', () => {
    throw invalid(file, 'it has a document type declaration, which metadata has not')
  })
  parser.on('opentag', ({ uri, local, attributes }) => {
    open.push(local)
    const attribute = (name: string) => lookup(attributes, name)?.value ?? ''
    if (uri === METADATA && local === 'EntityDescriptor') {
      if (found.issuer !== '') throw invalid(file, 'it describes several entities: one is expected')
      found.issuer = attribute('entityID')
    }
    if (uri === METADATA && local === 'KeyDescriptor') isForSigning = attribute('use') !== 'encryption'
    if (uri === SIGNATURE && local === 'X509Certificate') certificate = ''
    const isService = uri === METADATA && local === 'SingleSignOnService' && open.includes('IDPSSODescriptor')
    if (isService && attribute('Binding') === REDIRECT && found.entryPoint === '')
      found.entryPoint = attribute('Location')
  })
  parser.on('text', piece => {
    if (open.at(-1) === 'X509Certificate') certificate += piece
  })
  parser.on('closetag', ({ local }) => {
    const isOfProvider = open.includes('IDPSSODescriptor') && open.includes('KeyDescriptor')
    if (local === 'X509Certificate' && isOfProvider && isForSigning)
      found.certificates.push(
        `-----BEGIN CERTIFICATE-----\n${certificate.replace(/\s+/g, '')}\n-----END CERTIFICATE-----`,
      )
    open.pop()
  })
  parser.write(text).close()
  return found
}

/** A certificate in PEM, whose key is long enough. Its expiry is not checked: trust comes from the file. */
function checkedCertificate(given: string, file: string): string {
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(given)
  } catch {
    throw invalid(file, 'a certificate in it cannot be read')
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails } = certificate.publicKey
  if (type !== 'rsa' || (asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS)
    throw invalid(file, `a certificate in it has another key than RSA with at least ${MIN_RSA_BITS} bits`)
  return certificate.toString()
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw invalid(file, `it cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

function invalid(file: string, reason: string): Fault {
  return new Fault(CONFIG_INVALID, { reason: `saml_sign_in: ${file}: ${reason}` }, { place: { file } })
}
