import { Fault } from '../../errors/errors.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { escapeText, literalEnd } from '../../rdf/ntriples.ts'
import { XSD } from '../../rdf/vocab.ts'
import { MAPPING_INVALID } from '../diagnostic.ts'

/** A property with its value: Turtle text, or a nested node. */
export interface WrittenProperty {
  readonly predicate: string
  readonly object: string | WrittenNode
}

/** The properties of a blank node. */
export type WrittenNode = readonly WrittenProperty[]

/** Maximum length of a line that is not wrapped. */
const WIDTH = 100

/** A subject with all its properties, one a line, short nodes on one line. */
export function subjectText(subject: string, node: WrittenNode): string {
  const [first, ...rest] = node.map(property => propertyText(property, 1))
  return `${subject} ${[first, ...rest.map(text => `  ${text}`)].join(' ;\n')} .\n`
}

function propertyText({ predicate, object }: WrittenProperty, depth: number): string {
  return `${predicate} ${typeof object === 'string' ? object : nodeText(object, predicate.length, depth)}`
}

function nodeText(node: WrittenNode, before: number, depth: number): string {
  const short = inOneLine(node)
  if (short !== null && short.length + before + 2 * depth <= WIDTH) return short
  const indent = '  '.repeat(depth)
  const lines = node.map(property => `${indent}  ${propertyText(property, depth + 1)}`)
  return `[\n${lines.join(' ;\n')}\n${indent}]`
}

/** A node on one line; null if it contains nodes at two levels. */
function inOneLine(node: WrittenNode): string | null {
  const parts: string[] = []
  for (const { predicate, object } of node) {
    if (typeof object !== 'string' && object.some(inner => typeof inner.object !== 'string')) return null
    parts.push(`${predicate} ${typeof object === 'string' ? object : inOneLine(object)}`)
  }
  return `[ ${parts.join(' ; ')} ]`
}

const PREFIX_NAME = /^[A-Za-z](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$/
const LOCAL_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]*)$/

/** The prefixes of a document: shortens IRIs and records which prefixes were used. */
export class PrefixedNames {
  private readonly used = new Map<string, string>()
  private readonly known: readonly (readonly [prefix: string, namespace: string])[]

  /** Of several prefixes with the same name the first is used; of several matching namespaces the longest. */
  constructor(...tables: readonly Readonly<Record<string, string>>[]) {
    const all = new Map<string, string>()
    for (const table of tables)
      for (const [prefix, namespace] of Object.entries(table))
        if (!all.has(prefix) && PREFIX_NAME.test(prefix) && isIri(namespace)) all.set(prefix, namespace)
    this.known = [...all].sort(([, a], [, b]) => b.length - a.length)
  }

  /** An IRI of the document, shortened if a prefix matches. Throws MappingInvalid for an invalid IRI. */
  iri(iri: string): string {
    for (const [prefix, namespace] of this.known) {
      if (!iri.startsWith(namespace) || !LOCAL_NAME.test(iri.slice(namespace.length))) continue
      this.used.set(prefix, namespace)
      return `${prefix}:${iri.slice(namespace.length)}`
    }
    if (!isIri(iri)) throw new Fault(MAPPING_INVALID, { reason: `${JSON.stringify(iri)} is no IRI` })
    return `<${iri}>`
  }

  /** A literal of the document. */
  literal(text: string, datatype: string | undefined, language: string | undefined): string {
    if (language !== undefined) return `"${escapeText(text)}${literalEnd(XSD.string, language)}`
    const end = datatype === undefined || datatype === XSD.string ? '' : `^^${this.iri(datatype)}`
    return `"${escapeText(text)}"${end}`
  }

  /** The declarations of all used prefixes, sorted by name. */
  declarations(): string {
    return [...this.used]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([prefix, namespace]) => `@prefix ${prefix}: <${namespace}> .\n`)
      .join('')
  }
}
