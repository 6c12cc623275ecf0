import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { SaxesParser } from '@rubensworks/saxes'
import type { SamlProvider } from '../../../config/derived.ts'
import { lookup } from '../../../model/lookup.ts'
import { type Assertion, CLOCK_SKEW, checkAssertion } from './assertion.ts'
import type { IdentityProvider } from './identity-provider.ts'

/** A user who was signed in by a provider, and the request that it answers. */
export interface SignedInElsewhere {
  readonly requestId: string
  readonly browser: string
  /** Expiry of the request, in milliseconds since 1970. */
  readonly requestExpires: number
  readonly assertion: Assertion
  /** The permanent identifier of a user. */
  readonly subject: string
  readonly name: string
  /** Null if the provider left them out because they are too many. */
  readonly groups: readonly string[] | null
}

/** The attribute that Entra ID sends in the place of more than 150 groups. */
const GROUPS_LEFT_OUT = 'http://schemas.microsoft.com/claims/groups.link'

/** A portal as service provider: its address for responses, and the secret of its request IDs. */
export interface ServiceProvider {
  readonly settings: SamlProvider
  readonly provider: IdentityProvider
  /** The address of the assertion consumer service. */
  readonly consumer: string
  readonly secret: Buffer
}

/** What the library needs in both directions. */
export function libraryOptions({ settings, provider, consumer }: ServiceProvider) {
  return {
    callbackUrl: consumer,
    entryPoint: provider.entryPoint,
    issuer: settings.entityId,
    audience: settings.entityId,
    idpCert: [...provider.certificates],
    idpIssuer: provider.issuer,
    // Response or assertion must be signed, and only the signed part is read.
    wantAssertionsSigned: false,
    wantAuthnResponseSigned: false,
    acceptedClockSkewMs: CLOCK_SKEW,
    // Providers choose the method of authentication and the format of names.
    disableRequestedAuthnContext: true,
    identifierFormat: null,
  }
}

/** A response to a request of ours, whose signature was not verified yet. */
export interface OpenedResponse {
  /** In base 64. */
  readonly given: string
  readonly envelope: Envelope
  readonly request: NonNullable<ReturnType<typeof readRequestId>>
}

/**
 * Opens a response that was posted by a browser (SAML 2.0 Bindings, section 3.5), which is cheap. Throws with the reason if it does
 * not answer a request of this portal.
 */
export function openResponse(given: string, { secret }: ServiceProvider, now: number): OpenedResponse {
  const envelope = readEnvelope(given)
  const request = readRequestId(secret, envelope.inResponseTo, now)
  if (request === null)
    throw new Error('it answers no request of this portal, or one that is more than ten minutes old')
  return { given, envelope, request }
}

/**
 * Reads a response. The library verifies the signature and returns the signed part; everything else is checked here. Throws with
 * the reason.
 */
export async function readResponse(
  { given, envelope, request }: OpenedResponse,
  service: ServiceProvider,
  now: number,
): Promise<SignedInElsewhere> {
  const { settings, provider, consumer } = service
  if (envelope.destination !== '' && envelope.destination !== consumer)
    throw new Error('it is for another address')
  if (envelope.status !== 'Success') throw new Error(`the provider answered ${envelope.status.slice(0, 60)}`)
  const { SAML, ValidateInResponseTo } = await import('@node-saml/node-saml')
  const library = new SAML({
    ...libraryOptions(service),
    validateInResponseTo: ValidateInResponseTo.never,
  })
  const { profile } = await library.validatePostResponseAsync({ SAMLResponse: given })
  const assertion = checkAssertion(profile?.getAssertion?.(), {
    issuer: provider.issuer,
    audience: settings.entityId,
    recipient: consumer,
    inResponseTo: envelope.inResponseTo,
    now,
  })
  const of = (name: string | null) => (name === null ? [] : (assertion.attributes.get(name) ?? []))
  const [subject = assertion.isTransient ? '' : assertion.nameId] = of(settings.subjectAttribute)
  if (subject === '' || (settings.subjectAttribute !== null && of(settings.subjectAttribute).length === 0))
    throw new Error(
      'it says nothing that stays the same for a person: a NameID that is not transient is expected, or subject_attribute',
    )
  const [name = assertion.isTransient ? subject : assertion.nameId] = of(settings.nameAttribute)
  const groups = of(settings.groupsAttribute)
  return {
    requestId: envelope.inResponseTo,
    browser: request.browser,
    requestExpires: request.expires,
    assertion,
    subject,
    name,
    groups: groups.length === 0 && of(GROUPS_LEFT_OUT).length > 0 ? null : groups,
  }
}

/** Milliseconds that a user has to sign in at the provider. */
export const REQUEST_LIFE = 600_000

/** An identifier of a browser, derived from its cookie without revealing it. */
export function browserOf(cookie: string): string {
  return createHash('sha256').update(`saml browser\n${cookie}`).digest('base64url').slice(0, 32)
}

/**
 * The ID of a request (SAML 2.0 Core, section 1.3.4): its expiry and its browser, sealed. So any of several servers can verify
 * it, and none has to store it.
 */
export function requestId(secret: Buffer, browser: string, expires: number): string {
  const moment = Math.floor(expires).toString(36)
  return `_${moment}.${browser}.${seal(secret, browser, moment)}`
}

/** The content of the ID of a request; null for one that was not issued here, or is expired. */
export function readRequestId(
  secret: Buffer,
  id: string,
  now: number,
): { readonly browser: string; readonly expires: number } | null {
  const [, moment = '', browser = '', given = ''] =
    /^_([0-9a-z]{1,11})\.([\w-]{32})\.([\w-]{43})$/.exec(id) ?? []
  const [found, expected] = [Buffer.from(given), Buffer.from(seal(secret, browser, moment))]
  if (found.length !== expected.length || !timingSafeEqual(found, expected)) return null
  const expires = Number.parseInt(moment, 36)
  return expires > now ? { browser, expires } : null
}

function seal(secret: Buffer, browser: string, moment: string): string {
  return createHmac('sha256', secret).update(`saml request\n${browser}\n${moment}`).digest('base64url')
}

/**
 * Maximum bytes, nodes (elements, comments and CDATA sections), and nesting depth of a response: the time to verify a signature
 * grows with the square of the nodes.
 */
const [MAX_BYTES, MAX_NODES, MAX_DEPTH] = [256 * 1024, 5000, 40]

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
function readEnvelope(given: string): Envelope {
  if (given.length === 0) throw new Error('the form has no SAMLResponse')
  if (given.length > (MAX_BYTES * 4) / 3 || !/^[A-Za-z0-9+/=\s]+$/.test(given))
    throw new Error('the response is no base64, or longer than 256 kB')
  const xml = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(given, 'base64'))
  const parser = new SaxesParser({ xmlns: true })
  const envelope = { xml, inResponseTo: '', destination: '', status: '' }
  let [nodes, depth] = [0, 0]
  const refuse = (what: string) => () => {
    throw new Error(`the response has ${what}`)
  }
  parser.on('error', error => {
    throw new Error(`the response is no XML: ${error.message}`)
  })
  parser.on('doctype', refuse('a document type declaration'))
  parser.on('processinginstruction', refuse('a processing instruction'))
  const count = () => {
    if (++nodes > MAX_NODES) refuse('too many elements or comments')()
  }
  parser.on('comment', count)
  parser.on('cdata', count)
  parser.on('opentag', ({ uri, local, attributes }) => {
    count()
    if (++depth > MAX_DEPTH) refuse('elements that are nested too deeply')()
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
