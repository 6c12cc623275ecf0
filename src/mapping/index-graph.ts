import { exactJson } from '../model/exact-json.ts'
import type { Field } from '../model/field.ts'
import { storedPosition } from '../model/positions.ts'
import { searchText, searchWords } from '../model/search.ts'
import type { Value } from '../model/value.ts'
import { recordsSpace } from '../rdf/iris.ts'
import { escapeJson, iriText } from '../rdf/ntriples.ts'
import { INDEX, RDF, XSD } from '../rdf/vocab.ts'
import type { RecordMapper } from './compile.ts'
import type { ValueLists } from './value-lists.ts'
import type { WordBuckets } from './word-buckets.ts'

/**
 * Writes what queries need and exports leave out: for each record its position, its values as one rdf:JSON array in
 * the order of the fields, and the folded words of its text (house design, "What is in the store").
 *
 * @param told are told the words of each record
 * @param isSearched tells the fields whose words are found by a search of everything: all unless told
 */
export function indexMapper(
  base: string,
  dataset: { readonly id: string; readonly fields: readonly Field[] },
  told?: { readonly buckets: WordBuckets; readonly lists: ValueLists },
  isSearched: (field: Field) => boolean = () => true,
): RecordMapper {
  const searched = dataset.fields.map(field => (isSearched(field) ? field : null))
  const subject = `<${iriText(recordsSpace(base, dataset.id)).slice(1, -1)}`
  const position = `> <${INDEX.position}> "`
  const json = `> <${INDEX.json}> "`
  const text = `> <${INDEX.text}> "`
  const integerEnd = `"^^<${XSD.integer}> .\n`
  const jsonEnd = `"^^<${RDF.JSON}> .\n`
  return (record, out) => {
    const head = subject + record.id
    let lines =
      `${head}${position}${storedPosition(record.position)}${integerEnd}` +
      `${head}${json}${escapeJson(valuesJson(record.values))}${jsonEnd}`
    const words = searchWords(record.values, searched)
    if (words.size > 0) lines += `${head}${text}${searchText(words)}" .\n`
    if (told !== undefined) {
      for (const word of words) told.buckets.add(word, record.position)
      told.lists.addWords(words, record.position)
    }
    out.add(lines, words.size > 0 ? 3 : 2)
  }
}

/** Values as JSON; whole numbers of doubles that are as long as exact integers are told from these by their fraction. */
function valuesJson(values: readonly Value[]): string {
  if (!values.some(isLong)) return exactJson(values)
  return `[${values.map(value => (isLong(value) ? `${value}.0` : exactJson(value))).join(',')}]`
}

function isLong(value: Value): value is number {
  if (typeof value !== 'number' || !Number.isInteger(value) || Number.isSafeInteger(value)) return false
  // From here on JSON has an exponent.
  return Math.abs(value) < 1e21
}
