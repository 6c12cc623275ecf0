import { termText } from '../../rdf/ntriples.ts'
import { parseTerm, splitTriples } from '../../rdf/ntriples-reader.ts'
import type { TriplePattern } from '../../rdf/term.ts'
import { readTerm } from '../solutions.ts'

/** The position of a triple whose terms say where a row stands. */
export type KeyPlace = 'subject' | 'object'

/** The keys of rows in order, from a SELECT of one variable as TSV; null where one is a blank node, which cannot be asked for. */
export function readKeys(text: string): readonly string[] | null {
  const keys = text.split('\n').slice(1, -1)
  return keys.some(key => key.startsWith('_')) ? null : keys.map(ntriplesText)
}

/** Lines of N-Triples by their keys, in order, from a SELECT of the variables of a pattern as TSV. */
export function selectedLines(
  text: string,
  pattern: TriplePattern,
  place: KeyPlace,
): ReadonlyMap<string, readonly string[]> {
  const places = ['subject', 'predicate', 'object'] as const
  const given = places.map(each => {
    const term = pattern[each]
    return term === undefined ? null : termText(term)
  })
  const lines = new Lines()
  for (const row of text.split('\n').slice(1, -1)) {
    const fields = row.split('\t')
    let next = 0
    const [subject = '', predicate = '', object = ''] = given.map(
      known => known ?? ntriplesText(fields[next++] ?? ''),
    )
    lines.add(place === 'subject' ? subject : object, `${subject} ${predicate} ${object} .\n`)
  }
  return lines.byKey
}

/** Lines of N-Triples by their keys, in order. */
export function keyedLines(text: string, place: KeyPlace): ReadonlyMap<string, readonly string[]> {
  const lines = new Lines()
  for (const { subject, predicate, object } of splitTriples(text))
    lines.add(
      place === 'subject' ? subject : termText(parseTerm(object)),
      `${subject} ${predicate} ${object} .\n`,
    )
  return lines.byKey
}

class Lines {
  readonly byKey = new Map<string, string[]>()

  add(key: string, line: string): void {
    const lines = this.byKey.get(key)
    if (lines === undefined) this.byKey.set(key, [line])
    else lines.push(line)
  }
}

/** Terms that both syntaxes write alike: all but those with escapes or controls, and numbers without their datatype. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are written in two ways
const ALIKE = /^[<"][^\\\x00-\x1f\x7f\ufffe\uffff]*$/

function ntriplesText(field: string): string {
  return ALIKE.test(field) ? field : termText(readTerm(field))
}
