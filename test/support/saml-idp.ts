import { inflateRawSync } from 'node:zlib'
import { SignedXml } from 'xml-crypto'
import { selfSigned } from './certificate.ts'

const MINUTE = 60_000

/** What a response says; what a test leaves out is right. */
export interface ResponseOptions {
  readonly inResponseTo: string
  readonly nameId?: string
  readonly format?: string
  readonly attributes?: Readonly<Record<string, readonly string[]>>
  readonly audience?: string
  readonly recipient?: string
  readonly destination?: string
  readonly issuer?: string
  readonly status?: string
  /** Milliseconds from now to the moments. */
  readonly notBefore?: number
  readonly notOnOrAfter?: number
  /** What is signed; the assertion unless told. */
  readonly signed?: 'assertion' | 'response' | 'both' | 'nothing'
  readonly signer?: { readonly privateKey: string; readonly certificate: string }
  readonly algorithms?: { readonly signature: string; readonly digest: string; readonly c14n?: string }
  readonly id?: string
  /** Changes the assertion before it is signed. */
  readonly edit?: (xml: string) => string
}

const SHA256 = {
  signature: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  digest: 'http://www.w3.org/2001/04/xmlenc#sha256',
}
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'

/** A small identity provider of SAML 2.0, which says whatever a test wants. */
export class SmallIdp {
  readonly issuer = 'https://idp.example/metadata'
  readonly entryPoint = 'https://idp.example/sso?tenant=1'
  readonly key = selfSigned('idp.example')
  private readonly base: string
  private count = 0

  constructor(base: string) {
    this.base = base
  }

  get metadata(): string {
    const certificate = this.key.certificate.replace(/-----[^-]+-----|\s/g, '')
    return `<?xml version="1.0"?>
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="${this.issuer}">
<md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
<md:KeyDescriptor use="encryption"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>none</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
<md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>
${certificate}
</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://idp.example/post"/>
<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${this.entryPoint}"/>
</md:IDPSSODescriptor></md:EntityDescriptor>`
  }

  /** The request in an address to which the portal has sent a browser. */
  static readRequest(location: string): {
    readonly id: string
    readonly xml: string
    readonly relayState: string | null
  } {
    const { searchParams } = new URL(location)
    const xml = inflateRawSync(Buffer.from(searchParams.get('SAMLRequest') ?? '', 'base64')).toString()
    const [, id = ''] = / ID="([^"]*)"/.exec(xml) ?? []
    return { id, xml, relayState: searchParams.get('RelayState') }
  }

  /** A response in base 64, as the form carries it. */
  respond(options: ResponseOptions): string {
    return Buffer.from(this.xml(options)).toString('base64')
  }

  xml(options: ResponseOptions): string {
    const { signed = 'assertion', edit = text => text } = options
    let assertion = edit(this.assertion(options))
    if (signed === 'assertion' || signed === 'both')
      assertion = sign(assertion, 'Assertion', this.signing(options))
    const response = this.response(options, assertion)
    return signed === 'response' || signed === 'both'
      ? sign(response, 'Response', this.signing(options))
      : response
  }

  assertion(options: ResponseOptions): string {
    const { notBefore = -MINUTE, notOnOrAfter = 5 * MINUTE } = options
    const at = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString()
    const id = options.id ?? `_assertion${++this.count}`
    const {
      nameId = 'ada',
      format = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
      audience = `${this.base}/account/saml/metadata`,
      recipient = `${this.base}/account/saml/acs`,
      attributes = {},
    } = options
    return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${at(0)}"><saml:Issuer>${options.issuer ?? this.issuer}</saml:Issuer><saml:Subject><saml:NameID Format="${format}">${nameId}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData InResponseTo="${options.inResponseTo}" Recipient="${recipient}" NotOnOrAfter="${at(notOnOrAfter)}"/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${at(notBefore)}" NotOnOrAfter="${at(notOnOrAfter)}"><saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${at(0)}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>${Object.entries(
      attributes,
    )
      .map(
        ([name, values]) =>
          `<saml:Attribute Name="${name}">${values.map(value => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`,
      )
      .join('')}</saml:AttributeStatement></saml:Assertion>`
  }

  response(options: ResponseOptions, content: string): string {
    const { destination = `${this.base}/account/saml/acs`, status = 'Success' } = options
    return `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_response${++this.count}" Version="2.0" IssueInstant="${new Date().toISOString()}" Destination="${destination}" InResponseTo="${options.inResponseTo}"><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${this.issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${status}"/></samlp:Status>${content}</samlp:Response>`
  }

  private signing({ signer = this.key, algorithms = SHA256 }: ResponseOptions) {
    return { ...signer, algorithms }
  }
}

function sign(
  xml: string,
  element: string,
  {
    privateKey,
    certificate,
    algorithms,
  }: {
    readonly privateKey: string
    readonly certificate: string
    readonly algorithms: NonNullable<ResponseOptions['algorithms']>
  },
): string {
  const signer = new SignedXml({
    privateKey,
    publicCert: certificate,
    signatureAlgorithm: algorithms.signature,
    canonicalizationAlgorithm: EXCLUSIVE,
  })
  signer.addReference({
    xpath: `/*[local-name(.)='${element}']`,
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', algorithms.c14n ?? EXCLUSIVE],
    digestAlgorithm: algorithms.digest,
  })
  signer.computeSignature(xml, {
    location: { reference: `/*/*[local-name(.)='Issuer']`, action: 'after' },
  })
  return signer.getSignedXml()
}
