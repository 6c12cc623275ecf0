import { XSD } from '../../../rdf/vocab.ts'
import type { DictionaryPart } from '../file-layout.ts'
import {
  dayForm,
  isExact,
  isWithinBounds,
  momentForm,
  momentOfLexical,
  numberForm,
  numberOfLiteral,
  numericKind,
} from '../lexical.ts'
import { sortedNumbers } from '../sort-numbers.ts'
import type { LiteralEnding } from './literal-table.ts'
import { plainDay, plainMoment, plainNumber } from './plain-forms.ts'
import type { SectionSink } from './section-writer.ts'
import type { ValueLog } from './value-log.ts'

/** Parses the form of a value as a number; NaN where the form is not the one in which the number is written. */
type FormReader = (bytes: Uint8Array, start: number, end: number) => number

/** A column whose values are all of one datatype and in canonical form. */
export interface TypedColumn {
  readonly subjects: Uint32Array
  readonly codes: Uint32Array
  readonly part: DictionaryPart
}

/**
 * Builds the single part of a dictionary of values that numbers represent: they are sorted as numbers, and their texts are not
 * stored. Null for a column that has other values.
 */
export function typedColumn(
  log: ValueLog,
  endings: readonly LiteralEnding[],
  sink: SectionSink,
): TypedColumn | null {
  const reader = log.reader()
  if (!reader.next() || reader.ending === 0) return null
  const { ending } = reader
  const { datatype } = endings[ending] as LiteralEnding
  const read = formReader(datatype)
  if (read === null) return null
  const subjects = new Uint32Array(log.entries)
  const values = new Float64Array(log.entries)
  let at = 0
  do {
    if (reader.ending !== ending) return null
    const value = read(reader.bytes, reader.start, reader.end)
    if (Number.isNaN(value)) return null
    subjects[at] = reader.subject
    values[at++] = value
  } while (reader.next())
  const { codes, distinct } = numbered(values)
  const part: DictionaryPart =
    datatype === XSD.boolean
      ? { kind: 'boolean', count: distinct.length, values: sink.add(Uint8Array.from(distinct)), forms: null }
      : {
          kind: datatype === XSD.date || datatype === XSD.dateTime ? 'moment' : 'number',
          count: distinct.length,
          values: sink.add(distinct),
          datatypes: [datatype],
          types: null,
          forms: null,
          exact: true,
          min: distinct[0] as number,
          max: distinct[distinct.length - 1] as number,
        }
  return { subjects, codes, part }
}

/** The distinct values in order, and for each value its rank among them, from 1. */
function numbered(values: Float64Array) {
  const order = sortedNumbers(values)
  const codes = new Uint32Array(values.length)
  let count = 0
  let last = Number.NaN
  for (let at = 0; at < order.length; at++) {
    const place = order[at] as number
    const value = values[place] as number
    if (!Object.is(value, last)) count += 1
    last = value
    codes[place] = count
  }
  const distinct = new Float64Array(count)
  for (let at = 0; at < values.length; at++) distinct[(codes[at] as number) - 1] = values[at] as number
  return { codes, distinct }
}

function formReader(datatype: string): FormReader | null {
  switch (datatype) {
    case XSD.boolean:
      return readBoolean
    case XSD.date:
      return readDay
    case XSD.dateTime:
      return readMoment
    default: {
      const kind = numericKind(datatype)
      if (kind === null) return null
      return (bytes, start, end) => {
        const plain = plainNumber(bytes, start, end)
        if (kind === 'integer' ? Number.isInteger(plain) : !Number.isNaN(plain))
          return isWithinBounds('', plain, datatype) ? plain : Number.NaN
        const form = textOf(bytes, start, end)
        const value = numberOfLiteral(form, datatype)
        const isOwn = value !== null && numberForm(value) === form && isExact(form, value, kind)
        return isOwn && Number.isFinite(value) ? value : Number.NaN
      }
    }
  }
}

function readBoolean(bytes: Uint8Array, start: number, end: number): number {
  if (isText(bytes, start, end, TRUE)) return 1
  return isText(bytes, start, end, FALSE) ? 0 : Number.NaN
}

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')

function isText(bytes: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  if (end - start !== text.length) return false
  for (let at = 0; at < text.length; at++) if (bytes[start + at] !== text[at]) return false
  return true
}

const DAY_LENGTH = 'YYYY-MM-DD'.length
/** Seconds of the beginning of a day without a zone. */
function readDay(bytes: Uint8Array, start: number, end: number): number {
  const plain = end - start === DAY_LENGTH ? 86_400 * plainDay(bytes, start) : Number.NaN
  if (!Number.isNaN(plain)) return plain
  const form = textOf(bytes, start, end)
  const moment = momentOfLexical(form, true)
  return moment !== null && dayForm(Math.floor(moment.seconds / 86_400)) === form
    ? moment.seconds
    : Number.NaN
}

/** Seconds of a moment in UTC. */
function readMoment(bytes: Uint8Array, start: number, end: number): number {
  const plain = plainMoment(bytes, start, end)
  if (!Number.isNaN(plain)) return plain
  const form = textOf(bytes, start, end)
  const moment = momentOfLexical(form, false)
  return moment !== null && momentForm(moment.seconds, 'Z') === form ? moment.seconds : Number.NaN
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
}
