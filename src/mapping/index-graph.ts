import type { Field } from '../model/field.ts'
import { searchText } from '../model/search.ts'
import { recordsSpace } from '../rdf/iris.ts'
import { escapeText, iriText } from '../rdf/ntriples.ts'
import { INDEX, RDF, XSD } from '../rdf/vocab.ts'
import type { RecordMapper } from './compile.ts'

/**
 * Writes what queries need and exports leave out: for each record its position, its values as one rdf:JSON array in
 * the order of the fields, and the folded words of its text (house design, "What is in the store").
 */
export function indexMapper(
  base: string,
  dataset: { readonly id: string; readonly fields: readonly Field[] },
): RecordMapper {
  const subject = `<${iriText(recordsSpace(base, dataset.id)).slice(1, -1)}`
  const position = `> <${INDEX.position}> "`
  const json = `> <${INDEX.json}> "`
  const text = `> <${INDEX.text}> "`
  const integerEnd = `"^^<${XSD.integer}> .\n`
  const jsonEnd = `"^^<${RDF.JSON}> .\n`
  return (record, out) => {
    const head = subject + record.id
    let lines =
      `${head}${position}${record.position}${integerEnd}` +
      `${head}${json}${escapeText(JSON.stringify(record.values))}${jsonEnd}`
    const words = searchText(record.values, dataset.fields)
    if (words !== '') lines += `${head}${text}${escapeText(words)}" .\n`
    out.add(lines, words === '' ? 2 : 3)
  }
}
