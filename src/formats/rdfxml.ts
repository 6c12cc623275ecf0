import { escapeXml, isXmlText, XML_DECLARATION, xmlText } from '../model/xml.ts'
import { parseTriples } from '../rdf/ntriples-reader.ts'
import type { BlankNode, Literal, NamedNode, Term } from '../rdf/term.ts'
import { RDF, XSD } from '../rdf/vocab.ts'
import type { Prefixes } from './turtle.ts'

const SYNTAX = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'

/** Reserved names of RDF/XML, which cannot be predicates (RDF 1.1 XML Syntax, section 6.1). */
const RESERVED: ReadonlySet<string> = new Set(
  ['RDF', 'ID', 'about', 'parseType', 'resource', 'nodeID', 'datatype', 'Description', 'li']
    .concat('aboutEach', 'aboutEachPrefix', 'bagID')
    .map(name => SYNTAX + name),
)

/** Further attributes of an element with a base direction (RDF 1.2 XML Syntax, section 2.7). */
const DIRECTED = 'rdf:version="1.2" xmlns:its="http://www.w3.org/2005/11/its" its:version="2.0"'

/** A namespace that no prefix can be bound to (Namespaces in XML 1.0, section 3). */
const UNBINDABLE = 'http://www.w3.org/2000/xmlns/'

const NAME_START =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}'
const NAME = `${NAME_START}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}`
const FIRST_OF_NAME = new RegExp(`[${NAME_START}]`, 'u')
const NOT_IN_NAME = new RegExp(`[^${NAME}]`, 'u')

/**
 * Splits the IRI of a predicate before its longest NCName; null if RDF/XML cannot name it (RDF 1.1 XML Syntax, section 6.1.4;
 * Namespaces in XML 1.0, production 4).
 */
export function splitIri(iri: string): { readonly namespace: string; readonly local: string } | null {
  // In linear time: one expression for both would try each place of a long IRI.
  const end = iri.split(NOT_IN_NAME).at(-1) ?? ''
  const start = end.search(FIRST_OF_NAME)
  const local = start < 0 ? '' : end.slice(start)
  const namespace = iri.slice(0, iri.length - local.length)
  if (local === '' || namespace === '' || RESERVED.has(iri) || namespace === UNBINDABLE) return null
  return { namespace, local }
}

/**
 * Writes N-Triples as RDF/XML (RDF 1.2 XML Syntax; without triple terms and base directions that of 1.1): consecutive triples of
 * a subject become one node element, named after its type if that comes first. It streams the pieces, so that only one is in
 * memory at a time.
 *
 * Throws RangeError for what RDF/XML cannot express: check {@link splitIri} and `isXmlText` before.
 *
 * @param pieces whole lines of N-Triples
 */
export async function* rdfxml(pieces: AsyncIterable<string>, prefixes: Prefixes): AsyncGenerator<string> {
  const writer = new RdfXmlWriter(prefixes)
  yield writer.start()
  for await (const piece of pieces) {
    const text = writer.write(piece)
    if (text !== '') yield text
  }
  yield writer.end()
}

/** The start and end tags of an element with a known name. */
interface ElementTags {
  readonly open: string
  readonly close: string
}

/** Carries the subject of the last triple over from one piece to the next. */
class RdfXmlWriter {
  private readonly prefixes: ReadonlyMap<string, string>
  private readonly tags = new Map<string, ElementTags>()
  private subject: NamedNode | BlankNode | null = null
  private close = ''

  constructor(prefixes: Prefixes) {
    const all = Object.entries({ ...prefixes, rdf: SYNTAX })
    this.prefixes = new Map(all.map(([prefix, namespace]) => [namespace, prefix]))
  }

  start(): string {
    const namespaces = [...this.prefixes].map(([iri, prefix]) => `\n  xmlns:${prefix}="${escapeXml(iri)}"`)
    return `${XML_DECLARATION}<rdf:RDF${namespaces.join('')}>\n`
  }

  write(triples: string): string {
    let text = ''
    for (const { subject, predicate, object } of parseTriples(triples)) {
      if (this.subject?.value !== subject.value || this.subject.type !== subject.type) {
        const type = predicate.value === RDF.type && object.type === 'iri' ? this.className(object) : null
        text += this.close + this.open(subject, type)
        this.subject = subject
        if (type !== null) continue
      }
      text += `  ${this.statement(predicate, object)}\n`
    }
    return text
  }

  end(): string {
    return `${this.close}</rdf:RDF>\n`
  }

  /** A property element; a triple as its value is a nested node element with one property. */
  private statement(predicate: NamedNode, object: Term): string {
    const { open, close } = this.property(predicate.value)
    switch (object.type) {
      case 'literal':
        return `${open}${literalXml(object, close)}`
      case 'triple': {
        const subject = nameXml(object.subject, 'about')
        const inner = `<rdf:Description ${subject}>${this.statement(object.predicate, object.object)}</rdf:Description>`
        return `${open} rdf:version="1.2" rdf:parseType="Triple">${inner}${close}`
      }
      default:
        return `${open} ${nameXml(object, 'resource')}/>`
    }
  }

  private open(subject: NamedNode | BlankNode, type: string | null): string {
    const name = type ?? 'rdf:Description'
    this.close = `</${name}>\n`
    return `<${name} ${nameXml(subject, 'about')}>\n`
  }

  /** The qualified name of a class whose namespace has a prefix. */
  private className({ value }: NamedNode): string | null {
    const split = splitIri(value)
    const prefix = split === null ? undefined : this.prefixes.get(split.namespace)
    return split === null || prefix === undefined ? null : `${prefix}:${split.local}`
  }

  private property(iri: string): ElementTags {
    const known = this.tags.get(iri)
    if (known !== undefined) return known
    const split = splitIri(iri)
    if (split === null) throw new RangeError(`RDF/XML has no name for the predicate ${iri}`)
    const prefix = this.prefixes.get(split.namespace)
    const name = `${prefix ?? 'ns'}:${split.local}`
    const declaration = prefix === undefined ? ` xmlns:ns="${escapeXml(split.namespace)}"` : ''
    const tags = { open: `<${name}${declaration}`, close: `</${name}>` }
    if (this.tags.size < 10_000) this.tags.set(iri, tags)
    return tags
  }
}

/** The attribute that names a node: as the subject of an element, or as the object of a property. */
function nameXml({ type, value }: NamedNode | BlankNode, attribute: 'about' | 'resource'): string {
  return type === 'iri' ? `rdf:${attribute}="${escapeXml(value)}"` : `rdf:nodeID="${nodeId(value)}"`
}

function literalXml({ value, datatype, language }: Literal, close: string): string {
  if (!isXmlText(value))
    throw new RangeError(`No XML document can hold ${JSON.stringify(value.slice(0, 80))}`)
  const [tag = '', direction] = language.split('--')
  const kind =
    language !== ''
      ? ` xml:lang="${tag}"${direction === undefined ? '' : ` ${DIRECTED} its:dir="${direction}"`}`
      : datatype === XSD.string
        ? ''
        : ` rdf:datatype="${escapeXml(datatype)}"`
  return `${kind}>${xmlText(value)}${close}`
}

/** The label of a blank node as an NCName; distinct labels remain distinct. */
function nodeId(label: string): string {
  return `b${label.replace(/[^A-Za-z0-9]/gu, character => `_${character.codePointAt(0)?.toString(16)}_`)}`
}
