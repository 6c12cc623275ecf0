import { Fault } from '../../errors.ts'
import { escapeText } from '../../rdf/ntriples.ts'
import { parseTerm } from '../../rdf/ntriples-reader.ts'
import type { Literal, Term } from '../../rdf/term.ts'
import { RDF, XSD } from '../../rdf/vocab.ts'
import type { Query } from '../../sparql/algebra.ts'
import { isPlainLiteral } from './plain.ts'

/** How literals are kept in an engine that changes some of them, and back. */
export interface Codec {
  /** What stands in the engine for a term. */
  encode<T extends Term>(term: T): T
  decode(term: Term): Term
  /** Whole lines of N-Triples as the engine is to have them; tells the predicates of values that are exceptions. */
  encodeLines(lines: Buffer, onException: (predicate: string) => void): Buffer
}

/** A datatype that no engine knows, so that each keeps the text as it is. */
const OPAQUE = 'urn:lodestone:literal:'

/** What stands there in place of a datatype for an IRI that is too long for the engine. */
const IRI = 'iri'
const LONGEST_IRI = 1800
const LONG_IRI = new RegExp(`<([^>\\n]{${LONGEST_IRI + 1},})> \\.\\n`, 'g')
const TOO_LONG = new RegExp(`<[^>\\n]{${LONGEST_IRI + 1},}> <|> <[^>\\n]{${LONGEST_IRI + 1},}>`)

/** An engine that keeps all literals, and computes with all of them as the embedded store does. */
export const FAITHFUL: Codec = {
  encode: term => term,
  decode: term => term,
  encodeLines: lines => lines,
}

const COMMON: ReadonlySet<string> = new Set([
  XSD.string,
  XSD.integer,
  XSD.decimal,
  XSD.double,
  XSD.boolean,
  XSD.date,
  XSD.dateTime,
  RDF.JSON,
])

/**
 * The codec of an engine. Literals of a datatype that it changes, and where it changes unusual values, those and all of
 * uncommon datatypes, are kept under a datatype of Lodestone's own.
 *
 * @param opaque datatypes of which it changes some plain literal
 * @param keepsUnusual whether it keeps what is not plain (plain.ts)
 */
export function codecOf(opaque: ReadonlySet<string>, keepsUnusual: boolean): Codec {
  const isOpaque = (value: string, datatype: string) =>
    opaque.has(datatype) ||
    (!keepsUnusual &&
      (!COMMON.has(datatype) || (datatype !== XSD.string && !isPlainLiteral(value, datatype))))
  const encodeLines: Codec['encodeLines'] = (lines, onException) => {
    const text = lines.toString('utf8')
    const told = new Set<string>()
    const tell = (from: string, at: number) => {
      const predicate = predicateAt(from, at)
      if (predicate === null || told.has(predicate)) return
      told.add(predicate)
      onException(predicate)
    }
    for (const { index } of text.matchAll(UNUSUAL)) tell(text, index)
    let changed = false
    const short = keepsUnusual
      ? text
      : text.replace(LONG_IRI, (_, iri: string) => {
          changed = true
          return `"${escapeText(iri)}"^^<${OPAQUE}${IRI}> .\n`
        })
    const tooLong = keepsUnusual ? null : TOO_LONG.exec(short)
    if (tooLong !== null) {
      const reason = `the engine takes no IRI of more than ${LONGEST_IRI} characters as subject or predicate, and there is one that begins with ${tooLong[0].slice(0, 100)}`
      throw new Fault('LoadRefused', { reason })
    }
    const encoded = short.replace(TYPED, (whole: string, quoted: string, datatype: string, at: number) => {
      if (datatype.startsWith(OPAQUE)) return whole
      const value = quoted.includes('\\') ? parseTerm(`"${quoted}"`).value : quoted
      const opaque = isOpaque(value, datatype)
      if (opaque || !isPlainLiteral(value, datatype)) tell(short, at)
      if (!opaque) return whole
      changed = true
      return `"${quoted}"^^<${OPAQUE}${datatype}> .\n`
    })
    return changed ? Buffer.from(encoded) : lines
  }
  return {
    encode: term =>
      !keepsUnusual && term.type === 'iri' && term.value.length > LONGEST_IRI
        ? ({
            type: 'literal',
            value: term.value,
            datatype: OPAQUE + IRI,
            language: '',
          } as Term as typeof term)
        : term.type === 'literal' && term.language === '' && isOpaque(term.value, term.datatype)
          ? { ...term, datatype: OPAQUE + term.datatype }
          : term,
    decode: term => {
      if (term.type !== 'literal' || !term.datatype.startsWith(OPAQUE)) return term
      const datatype = term.datatype.slice(OPAQUE.length)
      return datatype === IRI ? { type: 'iri', value: term.value } : { ...term, datatype }
    },
    encodeLines,
  }
}

/** The end of a line whose object is a literal with a datatype. */
const TYPED = /"((?:[^"\\\n]|\\.)*)"\^\^<([^>\n]*)> \.\n/g
/** Characters of texts that are not plain, as they are and escaped. */
const UNUSUAL = /[\ud800-\udbff\x80-\x9f]|\\u00(?:0[0-8bcefBCEF]|1|7[fF])/g

/** The predicate of the line around a place; null where the place is in an IRI. */
function predicateAt(text: string, at: number): string | null {
  const begin = text.lastIndexOf('\n', at) + 1
  const open = text.indexOf('> <', begin)
  const close = text.indexOf('>', open + 3)
  return open < 0 || close > at ? null : text.slice(open + 3, close)
}

/** True for a constant that is computed with, and that the engine would not compute with as it is. */
export function isExceptionalConstant({ value, datatype, language }: Literal): boolean {
  return language === '' && !isPlainLiteral(value, datatype)
}

/** A query with its terms as the engine has them. */
export function encodeQuery<Q extends Query>(query: Q, codec: Codec): Q {
  return codec === FAITHFUL ? query : (encodeNode(query, codec) as Q)
}

/** Goes through all of a query, which is plain data. */
function encodeNode(node: unknown, codec: Codec): unknown {
  if (Array.isArray(node)) return node.map(each => encodeNode(each, codec))
  if (typeof node !== 'object' || node === null) return node
  if ('type' in node && (node.type === 'literal' || (node.type === 'iri' && 'value' in node)))
    return codec.encode(node as Term)
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, encodeNode(value, codec)]))
}

/** A literal in N-Triples, with its datatype written out. */
export function typedText({ value, datatype }: Literal): string {
  return `"${escapeText(value)}"^^<${datatype}>`
}
