import { lookup } from '../../../model/lookup.ts'

/** Milliseconds by which the clock of the provider may differ. */
export const CLOCK_SKEW = 60_000

/** Maximum characters of an id or name. */
const MAX_LENGTH = 1024

const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'

/** An element as parsed by xml2js: attributes in `$`, text in `_`, children by their local names. */
interface Element {
  readonly $?: Readonly<Record<string, string>>
  readonly _?: string
  readonly [child: string]: unknown
}

/** The values that an assertion must contain. */
export interface Expected {
  readonly issuer: string
  readonly audience: string
  /** The address of the assertion consumer service. */
  readonly recipient: string
  readonly inResponseTo: string
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface Assertion {
  readonly id: string
  /** Milliseconds since 1970 at which it expires. */
  readonly expires: number
  /** Empty if there is none, which counts as transient. */
  readonly nameId: string
  readonly isTransient: boolean
  readonly attributes: ReadonlyMap<string, readonly string[]>
}

/**
 * Checks an assertion whose signature was verified, by the rules of the web browser SSO profile (SAML 2.0 Profiles, section
 * 4.1.4.3): the library omits several of these checks if elements are absent. Throws with the reason.
 */
export function checkAssertion(root: unknown, expected: Expected): Assertion {
  const assertion = element(lookup(root as Readonly<Record<string, unknown>>, 'Assertion'))
  const { $: attributes } = assertion
  const id = lookup(attributes ?? {}, 'ID') ?? ''
  if (id === '' || id.length > MAX_LENGTH) throw new Error('the assertion has no ID')
  if (textOf(only(assertion, 'Issuer')) !== expected.issuer)
    throw new Error('the assertion is of another issuer')
  const subject = only(assertion, 'Subject')
  const [nameId, ...others] = list(subject, 'NameID')
  if (others.length > 0) throw new Error('the assertion has not exactly one NameID')
  if (nameId !== undefined && !isName(nameId)) throw new Error('the NameID is no text, or too long')
  const confirmed = confirmationEnd(subject, expected)
  const limited = checkConditions(only(assertion, 'Conditions'), expected)
  if (list(assertion, 'AuthnStatement').length === 0) throw new Error('the assertion has no AuthnStatement')
  return {
    id,
    expires: Math.min(confirmed, limited) + CLOCK_SKEW,
    nameId: textOf(nameId ?? {}),
    isTransient: nameId === undefined || lookup(nameId.$ ?? {}, 'Format') === TRANSIENT,
    attributes: attributesOf(assertion),
  }
}

function isName(nameId: Element): boolean {
  const text = textOf(nameId)
  return children(nameId).length === 0 && text !== '' && text.length <= MAX_LENGTH
}

/** The expiry of the subject confirmation, which must be for this recipient and this request. */
function confirmationEnd(subject: Element, { recipient, inResponseTo, now }: Expected): number {
  for (const each of list(subject, 'SubjectConfirmation')) {
    const [data] = list(each, 'SubjectConfirmationData')
    const given = data?.$ ?? {}
    const end = moment(lookup(given, 'NotOnOrAfter'))
    const isOurs =
      lookup(each.$ ?? {}, 'Method') === BEARER &&
      lookup(given, 'Recipient') === recipient &&
      lookup(given, 'InResponseTo') === inResponseTo &&
      lookup(given, 'NotBefore') === undefined
    if (isOurs && end !== null && now - CLOCK_SKEW < end) return end
  }
  throw new Error('the assertion is not confirmed for this portal and this request, or has expired')
}

/** The expiry of the conditions, which must be for this portal as audience. */
function checkConditions(conditions: Element, { audience, now }: Expected): number {
  const given = conditions.$ ?? {}
  const [begin, end] = [lookup(given, 'NotBefore'), lookup(given, 'NotOnOrAfter')]
  const [from, until] = [moment(begin), moment(end)]
  if ((begin !== undefined && from === null) || (end !== undefined && until === null))
    throw new Error('the conditions of the assertion have no valid moments')
  if (from !== null && now + CLOCK_SKEW < from) throw new Error('the assertion is not valid yet')
  if (until !== null && now - CLOCK_SKEW >= until) throw new Error('the assertion has expired')
  const restrictions = list(conditions, 'AudienceRestriction')
  const isForUs = restrictions.every(each => list(each, 'Audience').some(of => textOf(of) === audience))
  if (restrictions.length === 0 || !isForUs) throw new Error('the assertion is for another audience')
  return until ?? Number.POSITIVE_INFINITY
}

function attributesOf(assertion: Element): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const statement of list(assertion, 'AttributeStatement'))
    for (const attribute of list(statement, 'Attribute')) {
      const name = lookup(attribute.$ ?? {}, 'Name')
      const values = list(attribute, 'AttributeValue').filter(value => children(value).length === 0)
      const texts = values.map(textOf).filter(text => text !== '' && text.length <= MAX_LENGTH)
      if (name !== undefined) found.set(name, [...(found.get(name) ?? []), ...texts])
    }
  return found
}

/** The only child of a name. Throws if there is none, or several. */
function only(parent: Element, name: string): Element {
  const [first, ...others] = list(parent, name)
  if (first === undefined || others.length > 0) throw new Error(`the assertion has not exactly one ${name}`)
  return first
}

function list(parent: Element, name: string): readonly Element[] {
  const found = lookup(parent as Readonly<Record<string, unknown>>, name)
  return Array.isArray(found) ? found.map(element) : []
}

/** xml2js represents an element without attributes and children as a string. */
function element(given: unknown): Element {
  if (typeof given === 'string') return { _: given }
  if (typeof given === 'object' && given !== null) return given as Element
  throw new Error('there is no assertion')
}

function children(parent: Element): readonly string[] {
  return Object.keys(parent).filter(name => name !== '$' && name !== '_')
}

function textOf(given: Element): string {
  return (given._ ?? '').trim()
}

function moment(text: string | undefined): number | null {
  if (text === undefined || !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return null
  const found = Date.parse(text)
  return Number.isNaN(found) ? null : found
}
