import { lookup } from '../model/lookup.ts'
import { iriText } from './ntriples.ts'

/** The prefixes of some vocabularies. */
export type Vocabularies = Readonly<Record<string, string>>

/** A name of one of these vocabularies with its prefix: `dcat:Dataset`. */
export type NameOf<V extends Vocabularies> = `${keyof V & string}:${string}`

/** A predicate and the text of an object; null for a triple to omit. */
export type StatementOf<V extends Vocabularies> = readonly [predicate: NameOf<V>, object: string | null]

/** Writes N-Triples with names of some vocabularies. */
export interface TripleWriter<V extends Vocabularies> {
  /** The text of a name's IRI. */
  readonly name: (short: NameOf<V>) => string
  /** The lines of the statements about one subject, which is given as text. */
  readonly t: (subject: string, statements: readonly StatementOf<V>[]) => string
}

/** Makes code that writes documents of known vocabularies readable: `['rdf:type', name('dcat:Dataset')]`. */
export function tripleWriterOf<const V extends Vocabularies>(vocabularies: V): TripleWriter<V> {
  const name = (short: NameOf<V>): string => {
    const colon = short.indexOf(':')
    return iriText(`${lookup(vocabularies, short.slice(0, colon)) ?? ''}${short.slice(colon + 1)}`)
  }
  const t = (subject: string, statements: readonly StatementOf<V>[]): string => {
    let text = ''
    for (const [predicate, object] of statements)
      if (object !== null) text += `${subject} ${name(predicate)} ${object} .\n`
    return text
  }
  return { name, t }
}
