import { splitTriples } from '../rdf/ntriples-reader.ts'
import { RDF } from '../rdf/vocab.ts'

/** Prefix to namespace. */
export type Prefixes = Readonly<Record<string, string>>

/** Names that need no escape after a prefix: a safe part of PN_LOCAL (RDF 1.1 Turtle, section 6.5). */
const LOCAL_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?$/

/** Literals that Turtle can write without quotes in exactly this form. */
const SHORTHAND =
  /^"(true|false)"\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#boolean>$|^"([+-]?\d+)"\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#integer>$/

/**
 * Writes N-Triples as Turtle with prefixes: consecutive triples of a subject become one block, the objects of a predicate one
 * list (RDF 1.1 Turtle). It streams the pieces, so that only one is in memory at a time.
 *
 * @param pieces whole lines of N-Triples
 */
export async function* turtle(pieces: AsyncIterable<string>, prefixes: Prefixes): AsyncGenerator<string> {
  yield headOf(prefixes)
  const writer = new TurtleWriter(prefixes)
  for await (const piece of pieces) yield writer.write(piece)
  yield writer.end()
}

/** The same for a complete text. */
export function turtleText(triples: string, prefixes: Prefixes): string {
  const writer = new TurtleWriter(prefixes)
  return headOf(prefixes) + writer.write(triples) + writer.end()
}

function headOf(prefixes: Prefixes): string {
  return Object.entries(prefixes)
    .map(([prefix, namespace]) => `@prefix ${prefix}: <${namespace}> .\n`)
    .join('')
}

/** Carries the subject and predicate of the last triple over from one piece to the next. */
class TurtleWriter {
  private readonly namespaces: readonly (readonly [namespace: string, prefix: string])[]
  private readonly shortened = new Map<string, string>()
  private subject = ''
  private predicate = ''

  constructor(prefixes: Prefixes) {
    this.namespaces = Object.entries(prefixes)
      .map(([prefix, namespace]) => [namespace, prefix] as const)
      .sort((a, b) => b[0].length - a[0].length)
  }

  write(triples: string): string {
    let text = ''
    for (const { subject, predicate, object } of splitTriples(triples)) {
      if (subject !== this.subject) {
        text += `${this.subject === '' ? '' : ' .\n'}\n${this.iri(subject)} ${this.verb(predicate)} `
      } else if (predicate !== this.predicate) {
        text += ` ;\n  ${this.verb(predicate)} `
      } else {
        text += ', '
      }
      this.subject = subject
      this.predicate = predicate
      text += this.object(object)
    }
    return text
  }

  end(): string {
    return this.subject === '' ? '' : ' .\n'
  }

  private verb(iri: string): string {
    if (iri === `<${RDF.type}>`) return 'a'
    const known = this.shortened.get(iri)
    if (known !== undefined) return known
    const short = this.iri(iri)
    if (this.shortened.size < 10_000) this.shortened.set(iri, short)
    return short
  }

  private object(text: string): string {
    if (!text.startsWith('"')) return this.iri(text)
    const plain = SHORTHAND.exec(text)
    if (plain !== null) return plain[1] ?? plain[2] ?? text
    const at = text.lastIndexOf('"^^<')
    if (at < 0 || !text.endsWith('>')) return text
    return `${text.slice(0, at)}"^^${this.verb(text.slice(at + 3))}`
  }

  private iri(text: string): string {
    if (!text.startsWith('<')) return text
    const iri = text.slice(1, -1)
    for (const [namespace, prefix] of this.namespaces) {
      if (!iri.startsWith(namespace)) continue
      const local = iri.slice(namespace.length)
      if (LOCAL_NAME.test(local)) return `${prefix}:${local}`
    }
    return text
  }
}
