import t from 'tap'
import { LODESTONE } from '../src/rdf/vocab.ts'
import type { AlgebraExpression } from '../src/sparql/algebra.ts'
import { withConstants } from '../src/store/columns/evaluate/expressions/conditions.ts'
import { vectorOf } from '../src/store/columns/evaluate/expressions/expression-vector.ts'
import { effectiveBoolean } from '../src/store/columns/evaluate/expressions/truths.ts'
import { vectorValueAt } from '../src/store/columns/evaluate/vectors/vector.ts'
import { columnsOfText } from './support/columns.ts'
import { isLong } from './support/effort.ts'
import { expressionOf, short, solutionsOf, triplesOf } from './support/expressions.ts'

/** Dates of every kind and their parts over columns, together and one by one: a long run has more of the conditions. */
const MOMENTS: Readonly<Record<string, readonly string[]>> = {
  days: ['2020-02-29', '1999-12-31', '0001-01-01', '2020-01-01'].map(form => `"${form}"^^xsd:date`),
  zonedDays: ['2020-02-29+05:00', '2020-01-01Z', '2019-12-31-08:00'].map(form => `"${form}"^^xsd:date`),
  utc: [
    '2020-01-01T00:00:00Z',
    '2019-12-31T23:59:59Z',
    '1969-07-20T20:17:40Z',
    '2020-01-01T05:06:07Z',
    '2019-12-31T00:00:00Z',
    '1969-07-20T00:00:00Z',
  ].map(form => `"${form}"^^xsd:dateTime`),
  fine: ['2020-01-01T00:00:00.0000000001Z', '2020-01-01T00:00:00Z'].map(form => `"${form}"^^xsd:dateTime`),
  late: [
    '2023-12-31T23:59:59.9999999Z',
    '2023-12-31T23:59:59.0009999999Z',
    '2023-12-31T23:59:59.999999999999999999Z',
    '1969-12-31T23:59:59.99999999999999999Z',
    '0099-01-01T07:30:59.999999Z',
    '9999-12-31T23:59:59.999999Z',
    '2024-01-01T00:00:00Z',
  ].map(form => `"${form}"^^xsd:dateTime`),
  local: ['2020-01-01T00:30:00', '2019-12-31T23:59:59.5'].map(form => `"${form}"^^xsd:dateTime`),
  zoned: [
    '2020-01-01T00:30:00+05:30',
    '2019-12-31T23:30:00-01:00',
    '2020-06-01T12:00:00Z',
    '2020-06-01T12:00:00',
  ].map(form => `"${form}"^^xsd:dateTime`),
  many: Array.from({ length: 60 }, (_, at) => {
    const form = new Date(Date.UTC(2020, 1, 28) + at * 0.37 * 86_400_000).toISOString().slice(0, 19)
    return `"${form}${at % 3 === 0 ? '.1230' : ''}Z"^^xsd:dateTime`
  }),
  mixed: ['"2020-01-01"^^xsd:date', '"2020-01-01T00:00:00Z"^^xsd:dateTime', '"2020"^^xsd:gYear', '"x"', '5'],
}

/** Dates as text by some letters of a pattern, on the clocks of several places. */
function dateFormats(letters: string): readonly string[] {
  const parts = letters.split(' ').map(letter => ({ type: 'symbol', letter, count: 2 }))
  const pattern = JSON.stringify(JSON.stringify(parts))
  const zones = ['UTC', 'America/New_York', 'Asia/Kolkata', 'Nowhere/There']
  return zones.map(zone => `<${DATE_FORMAT}>(?v, ${pattern}, "en", "${zone}")`)
}

/** Stand for functions that queries from outside cannot call. */
const DATE_FORMAT = 'urn:test:dateFormat'
const INTERVAL_START = 'urn:test:intervalStart'

function withInternal(expression: AlgebraExpression): AlgebraExpression {
  return JSON.parse(JSON.stringify(expression).replaceAll('urn:test:', 'urn:lodestone:'))
}

/** A part of a date, and its intervals, on the clocks of several places. */
function dateParts(part: string): readonly string[] {
  return ['UTC', 'America/New_York', 'Asia/Kolkata'].flatMap(zone => [
    `<${LODESTONE.datePart}>(?v, "${part}", "${zone}")`,
    `<${LODESTONE.interval}>(?v, 3, "${part}", "${zone}")`,
    `<${INTERVAL_START}>(?v, 25, "${part}", "${zone}")`,
  ])
}

t.test('fields of dates over a column are what they are value by value', async t => {
  let conditions = 0
  for (const [name, values] of Object.entries(MOMENTS)) {
    const graph = columnsOfText(await triplesOf(values))
    const { evaluation, scalars, filter, scope, batch } = solutionsOf('?s :t ?v', graph)
    const vectors = new Map([['v', batch.get('v') as never]])
    const all = Array.from({ length: batch.size }, (_, row) => row)
    for (const field of [
      'YEAR(?v)',
      'MONTH(?v)',
      'DAY(?v)',
      'HOURS(?v)',
      'MINUTES(?v)',
      'YEAR(?v) * 12 + MONTH(?v)',
      'SUBSTR(STR(?v), 1, 4)',
      'SUBSTR(STR(?v), 1, 7)',
      'CONCAT(STR(YEAR(?v)), SUBSTR(STR(?v), 1, 4))',
      'CONCAT(STR(MONTH(?v)), SUBSTR(STR(?v), 1, 4))',
      'SUBSTR(STR(?v), 1, 12)',
      'xsd:date(?v)',
      'STR(xsd:date(?v))',
      'CONCAT(STR(YEAR(?v)), "-", STR(DAY(?v)))',
      ...['y M', 'y', 'M', 'x w', 'E', 'y H', 'd', 'G C', 'z'].flatMap(dateFormats),
      ...['E H', 'h a', 'm', 'H m s', 'D k', 'w E', 'd E M', 'y s', 's S'].flatMap(dateFormats),
      ...['year', 'quarter', 'month', 'week', 'day', 'hour', 'millisecond'].flatMap(dateParts),
    ]) {
      const expression = withInternal(expressionOf(field))
      const scalar = scalars.over(expression, vectors, batch.size)
      const vector = vectorOf(expression, batch, scope, evaluation)
      t.same(
        all.map(row => short(vectorValueAt(vector, row))),
        all.map(row => short(scalar(row))),
        `${name}: ${field}`,
      )
      for (const operator of ['<', '<=', '=', '!=', '>', '>='])
        for (const constant of ['2020', '2019.5', '1', '30', '"2020"', '0', '1e9']) {
          // A field has 42 conditions: those that are left out are others with the next field.
          if (conditions++ % (isLong ? 4 : 17) !== 0) continue
          const condition = withInternal(expressionOf(`${field} ${operator} ${constant}`))
          for (const tested of [condition, { type: 'not', operand: condition } as const]) {
            const truth = scalars.over(tested, vectors, batch.size)
            const expected = all.filter(row => effectiveBoolean(truth(row)) === true)
            const found = Array.from(filter.select(tested, batch))
            if (String(found) !== String(expected))
              t.same(found, expected, `${name}: ${tested.type} ${field} ${operator} ${constant}`)
          }
        }
    }
    for (const moment of ['2020-01-01T00:00:00.0000000001Z', '2020-01-01T00:00:00Z', '2019-12-31T23:59:59.5'])
      for (const operator of ['<', '<=', '=', '!=', '>', '>=']) {
        const compared = expressionOf(`?v ${operator} "${moment}"^^xsd:dateTime`)
        const truth = scalars.over(compared, vectors, batch.size)
        t.same(
          Array.from(filter.select(compared, batch)),
          all.filter(row => effectiveBoolean(truth(row)) === true),
          `${name}: ${operator} ${moment}`,
        )
      }
    const condition = '?v < NOW() && YEAR(NOW()) > 1 + 1 || ?v = xsd:date("2020-01-01")'
    const folded = withConstants(expressionOf(condition), scalars)
    t.notOk(JSON.stringify(folded).includes('NOW'))
    const truth = scalars.over(expressionOf(condition), vectors, batch.size)
    t.same(
      Array.from(filter.select(folded, batch)),
      all.filter(row => effectiveBoolean(truth(row)) === true),
      name,
    )
  }
})
