import t from 'tap'
import { parseWhere } from '../src/language/odsql/parse.ts'
import type { Dataset } from '../src/model/dataset.ts'
import { field } from '../src/model/field.ts'
import { EXPLORE_V20, EXPLORE_V21 } from '../src/query/dialect.ts'
import type { Condition } from '../src/query/plan.ts'
import { resolveWhere } from '../src/query/resolve/where.ts'
import { contextFor } from './support/context.ts'

/** What a where clause means for the fields of a dataset, and what it may not say. */
const dataset = {
  id: 'things',
  fields: [
    field('name', 'text'),
    field('other', 'text'),
    field('n', 'int'),
    field('x', 'double'),
    field('yes', 'boolean'),
    field('born', 'date'),
    field('seen', 'datetime'),
    field('place', 'geo_point_2d'),
  ],
} as unknown as Dataset

/** A condition in one line; scalars of relations are left out. */
function short(condition: Condition | null): string {
  if (condition === null) return 'all'
  switch (condition.type) {
    case 'always':
      return String(condition.value)
    case 'and':
    case 'or':
      return `(${condition.operands.map(short).join(` ${condition.type} `)})`
    case 'not':
      return `not ${short(condition.operand)}`
    case 'present':
      return `${condition.field.name}?`
    case 'compare':
      return `${condition.field.name} ${condition.operator} ${String(condition.value)}`
    case 'between': {
      const { field, lower, upper } = condition
      const [open, close] = [lower?.inclusive ? '[' : ']', upper?.inclusive ? ']' : '[']
      return `${field.name} in ${open}${String(lower?.value)}, ${String(upper?.value ?? '…')}${close}`
    }
    case 'relation':
      return `relation ${condition.operator}`
    case 'like':
      return `${condition.field.name} like ${condition.words.length}`
    default:
      return condition.type
  }
}

const MEANINGS: readonly (readonly [where: string, meaning: string])[] = [
  ['n = 1', 'n = 1'],
  ['1 < n', 'n > 1'],
  ['1 >= n', 'n <= 1'],
  ['1 != n', 'n != 1'],
  ['1 <= n', 'n >= 1'],
  ['1 > n', 'n < 1'],
  ['n = 1.5', 'false'],
  ['n != 1.5', 'n?'],
  ['n > 1.5', 'n > 1.5'],
  ['n = 9007199254740993', 'n = 9007199254740993'],
  ['n = -9007199254740993', 'n = -9007199254740993'],
  ['n < 9007199254740993.0', 'n < 9007199254740993'],
  ['n >= 9007199254740992.5', 'n > 9007199254740992'],
  ['n = -.5', 'false'],
  ['n > -9007199254740992.5', 'n > -9007199254740993'],
  ['n > -9223372036854775809', 'n > -9223372036854775809'],
  ['n = 2 + 3 * 4', 'n = 14'],
  ['x = -0.0', 'x = 0'],
  ['n = null', 'false'],
  ['n = 1 and name = "a"', '(n = 1 and name = a)'],
  ['n = 1 and n = 1', 'n = 1'],
  ['n = 1 and true', 'n = 1'],
  ['n = 1 and false', 'false'],
  ['true', 'all'],
  ['n = 1 or x = 2 or yes', '(n = 1 or x = 2 or yes = true)'],
  ['n = 1 or true', 'all'],
  ['not n = 1', 'not n = 1'],
  ['not not n = 1', 'n = 1'],
  ['yes', 'yes = true'],
  ['yes is false', 'yes = false'],
  ['yes is not true', 'not yes = true'],
  ['n is null', 'not n?'],
  ['n is not null', 'n?'],
  ['length(name) is not null', 'relation ='],
  ['length(name) is null', 'not relation ='],
  ['name like "one two"', 'name like 2'],
  ['name like ""', 'name?'],
  ['name = other', 'relation ='],
  ['n < x', 'relation <'],
  ['n in [1..3]', 'n in [1, 3]'],
  ['n in ]1..3[', 'n in ]1, 3['],
  ['length(name) in ]1..3]', '(relation > and relation <=)'],
  ["born = date'2020'", 'born in [2020-01-01, 2021-01-01['],
  ["born != date'2020'", '(born < 2020-01-01 or born >= 2021-01-01)'],
  ["born = date'9999'", 'born in [9999-01-01, …['],
  ["born != date'9999-12'", 'born < 9999-12-01'],
  ["seen = date'9999-12-31'", 'seen in [9999-12-31T00:00:00Z, …['],
  ["seen = date'9999-12-31T23:59:59Z'", 'seen = 9999-12-31T23:59:59Z'],
  ["born > date'2020'", 'born > 2020-01-01'],
  ["seen >= date'2020-02-03T04:05:06Z'", 'seen >= 2020-02-03T04:05:06Z'],
  ["born = date'2020-02-03T04:05:06Z'", 'false'],
  ["born != date'2020-02-03T04:05:06Z'", 'born?'],
  ["born < date'2020-02-03T04:05:06Z'", 'born <= 2020-02-03'],
  ["born >= date'2020-02-03T04:05:06Z'", 'born > 2020-02-03'],
  ["born in [date'2020'..date'2021']", 'born in [2020-01-01, 2021-01-01]'],
  ["born in [date'2020-02-03T04:05:06Z'..date'2020-02-04T04:05:06Z']", 'born in ]2020-02-03, 2020-02-04]'],
  ["ifnull(born, date'2000') = date'2020'", '(relation >= and relation <)'],
  ["date'2020' != ifnull(born, date'2000')", '(relation < or relation >=)'],
  ["ifnull(born, date'2000') != date'9999'", 'relation <'],
  ["ifnull(born, date'2000') > date'2020'", 'relation >'],
  ["ifnull(born, date'2000') = 2020", '(relation >= and relation <)'],
  ["ifnull(seen, date'2000') >= 2013/02/11", 'relation >='],
  ['ifnull(n, 0) = 2020', 'relation ='],
  ["ifnull(born, date'2000') = date'2020-02-03T04:05:06Z'", 'false'],
  ["ifnull(born, date'2000') != date'2020-02-03T04:05:06Z'", 'relation ='],
  ["ifnull(born, date'2000') >= date'2020-02-03T04:05:06Z'", 'relation >'],
  ["ifnull(seen, date'2000') = date'2020-02-03T04:05:06Z'", 'relation ='],
  ["ifnull(seen, date'2000') = date'2020-02-03'", '(relation >= and relation <)'],
  ['born = 2020', 'born in [2020-01-01, 2021-01-01['],
  ['born > 2020/02/03', 'born > 2020-02-03'],
  ['year(born) = "2020"', 'relation ='],
]

t.test('a where clause means a condition on fields', async t => {
  const context = contextFor(dataset, { dialect: EXPLORE_V20 })
  for (const [where, meaning] of MEANINGS)
    t.equal(short(resolveWhere(parseWhere(where), context)), meaning, where)
})

t.test('what a where clause may not say is a fault that names it', async t => {
  const rows: readonly (readonly [where: string, code: string, message: RegExp])[] = [
    ['nothing = 1', 'ODSQLError', /Unknown field: nothing/],
    ['1 = 2', 'ODSQLError', /needs a field on one of its sides/],
    ['now() = now()', 'ODSQLError', /needs a field on one of its sides/],
    ['n', 'ODSQLError', /Field n of type int is not a condition/],
    ['length(name)', 'ODSQLError', /condition/],
    ['3', 'ODSQLError', /is not a condition/],
    ['name = 3', 'IncompatibleTypesInComparisonFilter', /name/],
    ['n = "3"', 'IncompatibleTypesInComparisonFilter', /n/],
    ['yes > true', 'IncompatibleTypesInComparisonFilter', /yes/],
    ['name = n', 'IncompatibleTypesInComparisonFilter', /name/],
    ['place = place', 'IncompatibleTypesInComparisonFilter', /place/],
    ['length(name) = "a"', 'IncompatibleTypesInComparisonFilter', /length/],
    ['name in [1..2]', 'IncompatibleTypesInComparisonFilter', /range/],
    ['n is true', 'IncompatibleTypesInComparisonFilter', /n/],
    ['n like "a"', 'IncompatibleTypesInComparisonFilter', /like/],
  ]
  for (const [where, code, message] of rows)
    t.throws(() => resolveWhere(parseWhere(where), contextFor(dataset)), { code, message }, where)
})

t.test('bare dates are dates in the older generations alone', async t => {
  const meaning = (where: string) =>
    short(resolveWhere(parseWhere(where), contextFor(dataset, { dialect: EXPLORE_V21 })))
  t.throws(() => meaning('born = 2020'), { code: 'IncompatibleTypesInComparisonFilter' })
  t.equal(meaning("born = date'2020'"), 'born in [2020-01-01, 2021-01-01[')
})
