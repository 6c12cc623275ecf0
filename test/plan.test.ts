import t from 'tap'
import { FUNCTIONS } from '../src/language/odsql/vocabulary.ts'
import { type Field, type FieldType, fieldNamed } from '../src/model/field.ts'
import { findRecords } from '../src/query/execute/answer.ts'
import { Executor, Stopwatch } from '../src/query/execute/executor.ts'
import type { Condition, Constant, FunctionName, Ordering, RecordQuery, Scalar } from '../src/query/plan.ts'
import { servePortal } from './support/portal.ts'

/** What a plan can say, asked of the store without any language before it. */
const ROWS = [
  {
    key: 'a',
    text: ' Šárka & co ',
    n: 7,
    x: -2.5,
    yes: true,
    day: '2020-02-29',
    at: '1969-12-31T23:59:58.25Z',
  },
  {
    key: 'b',
    text: 'new york city',
    n: -7,
    x: 2.5,
    yes: false,
    day: '0001-01-01',
    at: '2024-03-01T06:07:08Z',
  },
  { key: 'c', text: null, n: null, x: null, yes: null, day: null, at: null },
]
const MORE = [
  { tags: ['red', 'green'], place: [2.35, 48.85] },
  { tags: ['new', 'york'], place: [-70.25, -33.5] },
  { tags: null, place: null },
]

const { app, get } = await servePortal(t, {
  portal: {
    'portal.yaml': 'title: Plans\n',
    data: {
      rows: {
        'rows.json': JSON.stringify(
          ROWS.map((row, index) => ({ ...row, ...MORE[index], place: MORE[index]?.place ?? null })),
        ),
        'dataset.yaml': `
source: { path: rows.json }
fields:
  - { name: key, type: text }
  - { name: text, type: text }
  - { name: n, type: int }
  - { name: x, type: double }
  - { name: yes, type: boolean }
  - { name: day, type: date }
  - { name: at, type: datetime }
  - { name: tags, type: text, annotations: { multivalued: [] } }
  - { name: place, type: geo_point_2d }
`,
      },
    },
  },
})
const { target } = app.catalog.dataset('rows')
const executor = () => new Executor(app.store, new Stopwatch(() => performance.now()))

const fieldOf = (name: string): Field => {
  const found = fieldNamed(target.dataset.fields, name)
  if (found === undefined) throw new Error(name)
  return found
}
const field = (name: string): Scalar => ({ type: 'field', field: fieldOf(name) })
const constant = (value: Constant, of: FieldType): Scalar => ({ type: 'constant', value, of })
const text = (value: string) => constant(value, 'text')
const int = (value: number) => constant(value, 'int')
const call = (name: FunctionName, of: FieldType, ...args: readonly Scalar[]): Scalar => ({
  type: 'function',
  name,
  arguments: args,
  of,
})
const over = (left: Scalar, right: Scalar): Scalar => ({ type: 'arithmetic', operator: '/', left, right })
const plan = (more: Partial<RecordQuery>): RecordQuery => ({
  type: 'records',
  select: [],
  filter: null,
  orderBy: [],
  timezone: 'UTC',
  limit: null,
  offset: 0,
  ...more,
})

t.test('functions of values, null where an argument is', async t => {
  const cases: readonly [string, Scalar, Constant | null, Constant | null][] = [
    ['concat', call('concat', 'text', field('text'), text('!')), ' Šárka & co !', 'new york city!'],
    ['upper', call('upper', 'text', field('text')), ' ŠÁRKA & CO ', 'NEW YORK CITY'],
    ['trim', call('trim', 'text', field('text')), 'Šárka & co', 'new york city'],
    [
      'replace',
      call('replace', 'text', field('text'), text('&'), text('$0')),
      ' Šárka $0 co ',
      'new york city',
    ],
    ['contains', call('contains', 'boolean', field('text'), text('york')), false, true],
    ['startsWith', call('startsWith', 'boolean', field('text'), text(' Š')), true, false],
    ['endsWith', call('endsWith', 'boolean', field('text'), text('city')), false, true],
    ['matches', call('matches', 'boolean', field('text'), text('^n.w')), false, true],
    ['indexOf', call('indexOf', 'int', field('text'), text('r')), 3, 6],
    ['indexOf of nothing', call('indexOf', 'int', field('text'), text('')), 0, 0],
    ['indexOf of what is absent', call('indexOf', 'int', field('text'), text('z')), -1, -1],
    ['substring', call('substring', 'text', field('text'), int(1)), 'Šárka & co ', 'ew york city'],
    ['substring of a length', call('substring', 'text', field('text'), int(1), int(3)), 'Šár', 'ew '],
    ['substring from the end', call('substring', 'text', field('text'), int(-4)), ' co ', 'city'],
    ['substring from before', call('substring', 'text', field('text'), int(-99), int(2)), ' Š', 'ne'],
    ['substring of a value', call('substring', 'text', field('text'), field('n')), '& co ', 'rk city'],
    ['floor', call('floor', 'double', field('x')), -3, 2],
    ['ceiling', call('ceiling', 'double', field('x')), -2, 3],
    ['round', call('round', 'double', field('x')), -3, 3],
    ['divide', call('divide', 'double', field('x'), constant(2, 'double')), -1.25, 1.25],
    ['division by a division', over(int(1), over(int(1), field('x'))), -2.5, 2.5],
    ['division by a division that is 0', over(int(1), over(int(0), field('x'))), null, null],
    ['quotient', call('quotient', 'int', field('n'), int(2)), 3, -3],
    ['quotient by 0', call('quotient', 'int', field('n'), int(0)), null, null],
    ['modulo', call('modulo', 'int', field('n'), int(4)), 3, -3],
    ['remainder', call('remainder', 'double', field('x'), constant(2, 'double')), -0.5, 0.5],
    ['day', call('day', 'date', field('at')), '1969-12-31', '2024-03-01'],
    ['secondOfDay', call('secondOfDay', 'double', field('at')), 86398.25, 22028],
    ['fraction', call('fraction', 'double', field('at')), 0.25, 0],
    ['epoch', call('epoch', 'double', field('at')), -1.75, 1709273228],
    ['epoch of a day', call('epoch', 'double', field('day')), 1582934400, -62135596800],
    ['text of an int', call('text', 'text', field('n')), '7', '-7'],
    ['text of a double', call('text', 'text', field('x')), '-2.5', '2.5'],
    ['text of a boolean', call('text', 'text', field('yes')), 'true', 'false'],
    ['int of a text', call('int', 'int', field('text')), null, null],
    ['int of a double', call('int', 'int', field('x')), -2, 2],
    ['double of a text', call('double', 'double', call('text', 'text', field('x'))), -2.5, 2.5],
    ['boolean of a text', call('boolean', 'boolean', call('text', 'text', field('yes'))), true, false],
    ['date of a moment', call('date', 'date', field('at')), '1969-12-31', '2024-03-01'],
    [
      'moment of a date',
      call('datetime', 'datetime', field('day')),
      '2020-02-29T00:00:00Z',
      '0001-01-01T00:00:00Z',
    ],
    ['longitude', { type: 'coordinate', axis: 'lon', field: fieldOf('place') }, 2.35, -70.25],
    ['latitude', { type: 'coordinate', axis: 'lat', field: fieldOf('place') }, 48.85, -33.5],
    [
      'truth',
      {
        type: 'truth',
        holds: { type: 'compare', field: fieldOf('n'), operator: '>', value: 0 },
        fails: { type: 'compare', field: fieldOf('n'), operator: '<=', value: 0 },
      },
      true,
      false,
    ],
  ]
  const select = cases.map(([key, value]) => ({ key, value }))
  const { rows } = await findRecords(plan({ select }), target, executor())
  for (const [index, [name, , first, second]] of cases.entries())
    t.same(
      rows.map(({ computed }) => computed[index]),
      [first, second, null],
      name,
    )
  const counts = plan({ select: [{ key: 'count', value: { type: 'valueCount', field: fieldOf('tags') } }] })
  const { rows: counted } = await findRecords(counts, target, executor())
  t.same(
    counted.map(({ computed }) => computed[0]),
    [2, 2, 0],
    'a record without values has none of them',
  )
})

t.test('conditions that only a plan can say', async t => {
  const element: Scalar = { type: 'element', number: 1, of: 'text' }
  const relation = (left: Scalar, operator: '=' | '<' | '>', right: Scalar): Condition => ({
    type: 'relation',
    left,
    operator,
    right,
  })
  const some = (condition: Condition): Condition => ({
    type: 'some',
    field: fieldOf('tags'),
    number: 1,
    condition,
  })
  const not = (operand: Condition): Condition => ({ type: 'not', operand })
  const startsWith = (value: string) =>
    relation(call('startsWith', 'boolean', element, text(value)), '=', constant(true, 'boolean'))
  const phrase = (value: string): Condition => ({ type: 'words', words: [{ text: value, mode: 'word' }] })
  const first = { type: 'compare', field: fieldOf('key'), operator: '=', value: 'a' } as const
  const cases: readonly [string, Condition, string][] = [
    ['one value of many', some(startsWith('r')), 'a'],
    [
      'one value that satisfies both',
      some({ type: 'and', operands: [startsWith('r'), startsWith('g')] }),
      '',
    ],
    ['one of two', some({ type: 'or', operands: [startsWith('r'), startsWith('n')] }), 'ab'],
    ['a value and the record', some({ type: 'and', operands: [startsWith('n'), first] }), ''],
    ['a value beside one of the record', some(relation(element, '<', field('text'))), 'b'],
    [
      'a value within one of the record',
      some(relation(call('contains', 'boolean', field('text'), element), '=', constant(true, 'boolean'))),
      'b',
    ],
    ['none', not(some(startsWith('r'))), 'bc'],
    ['either', { type: 'or', operands: [some(startsWith('r')), not(some(startsWith('')))] }, 'ac'],
    ['how many', relation({ type: 'valueCount', field: fieldOf('tags') }, '=', int(0)), 'c'],
    ['how many, negated', not(relation({ type: 'valueCount', field: fieldOf('tags') }, '=', int(0))), 'ab'],
    ['a phrase', phrase('new york'), 'b'],
    ['words in another order', phrase('york new'), ''],
    ['words of two values', phrase('red green'), ''],
    ['a phrase over punctuation', phrase('sarka co'), 'a'],
    ['not a phrase', not(phrase('new york')), 'ac'],
    ['constants', relation(text('Tes'), '<', text('Test')), 'abc'],
    [
      'infinity',
      relation(call('divide', 'double', field('x'), constant(0, 'double')), '>', constant(1, 'double')),
      'b',
    ],
  ]
  for (const [name, filter, expected] of cases) {
    const { rows, total } = await findRecords(plan({ filter }), target, executor())
    t.equal(rows.map(({ record }) => record.values[0]).join(''), expected, name)
    t.equal(total, expected.length, `${name}: counted`)
  }
})

t.test('null can be the lowest value, and pages of an order agree with the whole', async t => {
  const orders: readonly [string, readonly Ordering[], string][] = [
    ['ascending', [{ value: field('n'), descending: false, absent: 'lowest' }], 'cba'],
    ['descending', [{ value: field('n'), descending: true, absent: 'lowest' }], 'abc'],
    ['ascending, last', [{ value: field('n'), descending: false }], 'bac'],
    [
      'computed',
      [{ value: call('round', 'double', field('x')), descending: false, absent: 'lowest' }],
      'cab',
    ],
  ]
  for (const [name, orderBy, expected] of orders) {
    const { rows } = await findRecords(plan({ orderBy }), target, executor())
    t.equal(rows.map(({ record }) => record.values[0]).join(''), expected, name)
    let found = ''
    for (let offset = 0; offset < 3; offset++) {
      const page = await findRecords(plan({ orderBy, offset, limit: 1 }), target, executor())
      found += page.rows.map(({ record }) => record.values[0]).join('')
      t.equal(page.total, 3)
    }
    t.equal(found, expected, `${name}: page by page`)
  }
  const filter: Condition = { type: 'present', field: fieldOf('n') }
  const last = await findRecords(plan({ filter, offset: 1, limit: 5 }), target, executor())
  t.same(
    [last.total, last.rows.map(({ record }) => record.values[0])],
    [2, ['b']],
    'a filter in source order',
  )
})

t.test('every function of values and every aggregate of the vocabulary is answered', async t => {
  const samples = new Map(
    Object.entries({ text: 'text', date: 'at', number: 'x', value: 'n', other: 'n', geo: 'place' }),
  )
  samples.set('fallback', '"none"')
  const ofRecords = [...FUNCTIONS.values()].filter(({ kind }) => kind === 'scalar' || kind === 'aggregate')
  for (const { name, signature } of ofRecords) {
    const call = signature
      .replace('"pattern"', '"yyyy"')
      .replace(/[\w*]+(?=[,)])/g, part => samples.get(part) ?? part)
    const answer = await get(
      `/api/explore/v2.1/catalog/datasets/rows/records?${new URLSearchParams({ select: call })}`,
    )
    t.equal(answer.statusCode, 200, `${name}: ${call} ${answer.body.slice(0, 200)}`)
  }
})
