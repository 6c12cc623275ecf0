import { parseExactly } from '../model/exact-json.ts'
import type { DatasetRecord, Value } from '../model/value.ts'
import { recordsSpace } from '../rdf/iris.ts'
import { iriText } from '../rdf/ntriples.ts'
import { INDEX, RDF } from '../rdf/vocab.ts'
import { publishedTriples } from './published-triples.ts'

const ID_LENGTH = 40
const JSON_START = `> <${INDEX.json}> "`
const JSON_END = `"^^<${RDF.JSON}> .`

/**
 * The records of a published version in their order, read from the file of its index graph, in bounded pieces: with
 * them everything can be made anew that is made of records, and the source is not needed.
 */
export async function* publishedRecords(
  file: string,
  base: string,
  dataset: string,
): AsyncGenerator<readonly DatasetRecord[]> {
  const idStart = iriText(recordsSpace(base, dataset)).length - 1
  const idEnd = idStart + ID_LENGTH
  let position = 0
  for await (const piece of publishedTriples(file)) {
    const records: DatasetRecord[] = []
    for (let at = 0; at < piece.length; ) {
      const end = piece.indexOf('\n', at)
      if (piece.startsWith(JSON_START, at + idEnd)) {
        const literal = piece.slice(at + idEnd + JSON_START.length, end - JSON_END.length)
        records.push({ id: piece.slice(at + idStart, at + idEnd), position, values: valuesOf(literal) })
        position += 1
      }
      at = end + 1
    }
    yield records
  }
}

/** The escapes of N-Triples within a literal that is JSON are escapes of a JSON string as well. */
function valuesOf(literal: string): readonly Value[] {
  const text = literal.includes('\\') ? (JSON.parse(`"${literal}"`) as string) : literal
  return parseExactly(text) as readonly Value[]
}
