import { nearName } from '../../model/did-you-mean.ts'
import { lookup } from '../../model/lookup.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import type { DiagnosticCode } from '../diagnostic.ts'
import { NAMESPACES } from '../init/terms.ts'
import type { Segment, TermMap } from '../ir.ts'
import { XSD_NAMES } from '../known-terms.ts'
import type { Context, Diagnostics } from './context.ts'
import { quoted, within, type YamlText } from './node.ts'
import { type Segments, segmentsOf } from './template.ts'

/** The role of an IRI: the words of messages and the code of an invalid one. */
export interface IriRole {
  readonly what: string
  readonly code: DiagnosticCode
}

export const SUBJECT: IriRole = { what: 'the subject', code: 'subject-not-iri' }
export const PREDICATE: IriRole = { what: 'the predicate', code: 'predicate-not-iri' }
export const CLASS: IriRole = { what: 'the class', code: 'class-not-iri' }
export const DATATYPE: IriRole = { what: 'the datatype', code: 'datatype-not-iri' }
export const GRAPH: IriRole = { what: 'the graph', code: 'graph-not-iri' }
export const OBJECT: IriRole = { what: 'the object', code: 'object-not-iri' }

/**
 * Schemes of IRIs that need no prefix, with the form of what follows; more are accepted before `//`. Some schemes are customary
 * prefixes too: `geo:48.1,11.5` has the scheme (RFC 5870), `geo:Feature` a prefix to be declared. A reference counts as `$`.
 */
const SCHEMES: ReadonlyMap<string, RegExp> = new Map([
  ['http', /^/],
  ['https', /^/],
  ['urn', /^/],
  ['mailto', /^/],
  ['tel', /^/],
  ['ftp', /^/],
  ['info', /^[\w.$-]+\//],
  ['tag', /^[^,:/]+,[\d$][\d$-]*:/],
  ['data', /^[^,]*,/],
  ['doi', /^(?:10\.|\$)/],
  ['geo', /^-?[\d$][\d.$]*,/],
  ['did', /^[a-z\d$]+:/],
  ['ark', /^\/?[\d$]+\//],
])
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/
const NAME_BEFORE_COLON = /^([^:/?#\s$()]*):/
const NEVER_IN_IRI = /[\s<>"{}|\\^`]/u

/** Reads an IRI or an IRI template: absolute, with a prefix, in angle brackets, or a reference alone. */
export function readIri(context: Context, node: YamlText, role: IriRole): TermMap | null {
  const read = segmentsOf(context, withoutBrackets(node))
  if (read === null) return null
  const expanded = expandPrefix(context, node, role, read)
  if (expanded === null) return null
  const { segments, relative } = expanded
  const [first] = segments
  if (first === undefined) return context.report(role.code, node, `${role.what} is empty, an IRI is expected`)
  if (!checkCharacters(context, node, role, segments, relative)) return null
  return {
    type: 'iri',
    segments,
    ...(relative && context.base !== undefined ? { base: context.base } : {}),
  }
}

/** `<http://…>` without its brackets. */
function withoutBrackets(node: YamlText): YamlText {
  if (!/^<[^<>]*>$/.test(node.text)) return node
  return {
    ...node,
    text: node.text.slice(1, -1),
    verbatim: node.verbatim === null ? null : node.verbatim + 1,
  }
}

interface Expanded {
  readonly segments: readonly Segment[]
  /** True if it has no scheme and is resolved against the base. */
  readonly relative: boolean
}

function expandPrefix(
  context: Context,
  node: YamlText,
  role: IriRole,
  { segments, plainColon }: Segments,
): Expanded | null {
  const [first, ...others] = segments
  if (first === undefined) return { segments, relative: false }
  if (first.type !== 'constant') {
    if (others.length === 0 || context.base !== undefined) return { segments, relative: others.length > 0 }
    return context.report(
      role.code,
      node,
      `${role.what} ${quoted(node.text)} begins with a reference, whose value is escaped: that never is an IRI`,
      role === DATATYPE
        ? QUOTE_COMMA
        : 'Begin with the fixed part, as in http://example.org/city/$(name), or take a reference alone whose values are IRIs.',
    )
  }
  const text = first.text
  const name = plainColon ? undefined : NAME_BEFORE_COLON.exec(text)?.[1]
  if (name === undefined) {
    const scheme = SCHEME.exec(text)
    if (scheme !== null) return { segments, relative: false }
    return withoutScheme(context, node, role, segments)
  }
  const rest = text.slice(name.length + 1)
  const namespace = context.prefixes.get(name)
  if (namespace !== undefined && !rest.startsWith('//')) {
    context.usedPrefixes.add(name)
    return { segments: [{ type: 'constant', text: namespace + rest }, ...others], relative: false }
  }
  const scheme = name.toLowerCase()
  if (rest.startsWith('//') || SCHEMES.get(scheme)?.test(rest + skeletonOf(others)) === true) {
    reportOddScheme(context, node, name, rest)
    return { segments, relative: false }
  }
  reportUnknownPrefix(context, node, name)
  return null
}

/** The constant text of segments, with `$` for each reference. */
function skeletonOf(segments: readonly Segment[]): string {
  return segments.map(segment => (segment.type === 'constant' ? segment.text : '$')).join('')
}

/** Prefixes that a portal defines for its own mappings, with the form of their namespaces. */
const PORTAL_NAMESPACES: Readonly<Record<string, string>> = {
  portal: 'http://…/ld/resources/',
  field: 'http://…/ld/ontologies/DATASET/',
}

function reportUnknownPrefix(context: Context, node: YamlText, name: string): void {
  const customary = lookup(NAMESPACES, name)
  const close =
    customary === undefined ? nearName(name, [...context.declared, ...context.prefixes.keys()]) : undefined
  const ofPortal = lookup(PORTAL_NAMESPACES, name)
  const fallback =
    ofPortal !== undefined
      ? `It is known in mappings of a portal's datasets alone. Declare it: prefixes: { ${name}: "${ofPortal}" }, with the address ` +
        'of your portal; `lodestone mapping export` writes whole IRIs.'
      : `Declare it at the top: prefixes: { ${name}: "${customary ?? 'http://…'}" }, or write the whole IRI.`
  context.report(
    'prefix-unknown',
    within(node, 0, name.length + 1),
    `the prefix ${quoted(`${name}:`)} is not declared`,
    close === undefined ? fallback : `Did you mean ${quoted(`${close}:`)}? ${fallback}`,
  )
}

/** `htp://` and `http:/` are syntactically IRIs, but probably misspelt. */
export function reportOddScheme({ report }: Diagnostics, node: YamlText, name: string, rest: string): void {
  const scheme = name.toLowerCase()
  const web = scheme === 'http' || scheme === 'https'
  if (web && /^\/\/[^/?#]/.test(rest)) return
  if (web && rest === '//' && node.text.includes('$(')) return
  if (!web && SCHEMES.has(scheme)) return
  const close = web ? undefined : nearName(scheme, ['http', 'https', 'ftp'])
  if (!web && close === undefined) return
  report(
    'iri-unusual',
    within(node, 0, name.length + 1),
    web ? `${quoted(node.text)} names no host` : `${quoted(`${name}:`)} is no scheme that is known`,
    `Web addresses begin with ${web ? scheme : close}://`,
  )
}

function withoutScheme(
  context: Context,
  node: YamlText,
  role: IriRole,
  segments: readonly Segment[],
): Expanded | null {
  if (context.base !== undefined && role !== PREDICATE && role !== DATATYPE && role !== CLASS)
    return { segments, relative: true }
  const language = role === DATATYPE && /^[A-Za-z]{2,3}(-[A-Za-z0-9]+)*$/.test(node.text)
  const swapped = role === DATATYPE && /^[\w-]+~/.test(node.text)
  return context.report(
    role.code,
    node,
    `${role.what} ${quoted(node.text)} is not an IRI: it has neither a scheme such as http:// nor a prefix`,
    language || swapped
      ? `A language is written ${node.text.split('~')[0]}~lang.`
      : guessedName(context, node, role),
  )
}

/** The most frequent cause of text in the place of a datatype. */
const QUOTE_COMMA =
  'A datatype is written xsd:date, a language en~lang. In a list between brackets a comma ends the text: put one that has commas in quotes.'

function guessedName(context: Context, node: YamlText, role: IriRole): string {
  if (role === DATATYPE) {
    const close = nearName(node.text, XSD_NAMES)
    return close === undefined ? QUOTE_COMMA : `Did you mean xsd:${close}?`
  }
  const name = node.text.split(/[:;.,/]/)[0] ?? ''
  if (/[;.,]/.test(node.text) && context.prefixes.has(name)) return `After a prefix comes a colon: ${name}:…`
  if (/^(www\.|[\w-]+\.[a-z]{2,}\/)/i.test(node.text)) return `Write https://${node.text}`
  if (/^https?\/\//i.test(node.text)) return 'After http comes a colon: http://…'
  return 'Write an absolute IRI (http://…) or a name with a prefix (schema:name).'
}

function checkCharacters(
  context: Context,
  node: YamlText,
  role: IriRole,
  segments: readonly Segment[],
  relative: boolean,
): boolean {
  let skeleton = ''
  for (const segment of segments) {
    if (segment.type !== 'constant') {
      skeleton += 'x'
      continue
    }
    const found = NEVER_IN_IRI.exec(segment.text)
    skeleton += segment.text
    if (found === null) continue
    const at = found[0].trim() === '' ? node.text.search(/\s/) : node.text.indexOf(found[0])
    context.report(
      'iri-invalid-char',
      at < 0 ? node : within(node, at, at + 1),
      `${role.what} ${quoted(node.text)} has ${characterName(found[0])}, which no IRI may have`,
      'Escape it (a space is %20), or take it away.',
    )
    return false
  }
  if (segments.length === 1 && segments[0]?.type !== 'constant') return true
  if (isIri(relative ? `${context.base}${skeleton}` : skeleton)) return true
  context.report(
    'iri-invalid-char',
    node,
    `${role.what} ${quoted(node.text)} is not a valid IRI`,
    /%(?![0-9A-Fa-f]{2})/.test(skeleton)
      ? 'After % come two hexadecimal digits; the sign itself is %25.'
      : undefined,
  )
  return false
}

function characterName(character: string): string {
  return character.trim() === '' ? 'a space' : `the character ${character}`
}
