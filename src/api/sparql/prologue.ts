import { lookup, setMember } from '../../model/lookup.ts'
import { resolveIri } from '../../rdf/resolve.ts'
import { syntaxFault } from './faults.ts'
import { isWord, type SparqlToken } from './tokens.ts'

/** A part of the text. */
export interface TextRange {
  readonly from: number
  readonly to: number
}

/** The versions that a query may announce (RDF 1.2 Concepts, "Versions of RDF"). */
const VERSIONS: readonly string[] = ['1.1', '1.2', '1.2-basic']

const IRI = 'an IRI in angle brackets'

/** The token, if it is of a kind. */
function expected(
  text: string,
  token: SparqlToken | undefined,
  type: SparqlToken['type'],
  what: string,
): SparqlToken {
  if (token?.type === type) return token
  const found =
    token === undefined ? 'the query ends' : `${text.slice(token.from, token.to).slice(0, 60)} was found`
  throw syntaxFault(text, token?.from ?? text.trimEnd().length, `${found} but ${what} is expected.`)
}

/** The IRI that a token stands for; null for what is none. */
export type Resolve = (token: SparqlToken) => string | null

/** What is declared before a query. */
export interface Prologue {
  readonly prefixes: Readonly<Record<string, string>>
  /** Declarations of versions. */
  readonly versions: readonly TextRange[]
  readonly resolve: Resolve
  /** Index of the first token after it. */
  readonly end: number
}

/**
 * Reads the declarations before a query (SPARQL 1.2 Query, section 4.1). Throws BadRequest for one that is not whole.
 *
 * @param base what relative IRIs are resolved against
 */
export function readPrologue(text: string, tokens: readonly SparqlToken[], base: string): Prologue {
  const prefixes: Record<string, string> = Object.create(null)
  const versions: TextRange[] = []
  let current = base
  let at = 0
  for (;;) {
    if (isWord(tokens[at], 'BASE')) {
      current = resolved(text, expected(text, tokens[at + 1], 'iri', IRI), current)
      at += 2
      continue
    }
    if (isWord(tokens[at], 'VERSION')) {
      versions.push(readVersion(text, tokens, at))
      at += 2
      continue
    }
    if (!isWord(tokens[at], 'PREFIX')) break
    const name = expected(text, tokens[at + 1], 'name', 'a prefix with its colon')
    const [prefix = '', local] = name.value.split(/:(.*)/s)
    if (local !== '')
      throw syntaxFault(text, name.from, `${name.value} was found but ${prefix}: is expected.`)
    setMember(prefixes, prefix, resolved(text, expected(text, tokens[at + 2], 'iri', IRI), current))
    at += 3
  }
  const resolve: Resolve = token => {
    if (token.type === 'iri') return resolved(text, token, current)
    if (token.type !== 'name') return null
    const colon = token.value.indexOf(':')
    const local = token.value.slice(colon + 1).replace(/\\(.)/g, '$1')
    return (lookup(prefixes, token.value.slice(0, colon)) ?? '') + local
  }
  return { prefixes, versions, resolve, end: at }
}

/** `VERSION "1.2"`: engines need not know the declaration. */
function readVersion(text: string, tokens: readonly SparqlToken[], index: number): TextRange {
  const known = VERSIONS.map(version => `"${version}"`).join(', ')
  const label = expected(text, tokens[index + 1], 'string', `one of ${known}`)
  if (!VERSIONS.includes(label.value.slice(1, -1)))
    throw syntaxFault(
      text,
      label.from,
      `the version ${label.value.slice(0, 40)} is not served; one of ${known} is expected.`,
    )
  return { from: tokens[index]?.from ?? label.from, to: label.to }
}

function resolved(text: string, token: SparqlToken, base: string): string {
  const iri = token.value.replace(/\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})/g, (_, short, long) =>
    String.fromCodePoint(Math.min(0x10ffff, Number.parseInt(short ?? long, 16))),
  )
  const found = resolveIri(iri, base)
  if (found === null) throw syntaxFault(text, token.from, 'not an IRI.')
  return found
}
