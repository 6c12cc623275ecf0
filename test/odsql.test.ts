import { readFileSync } from 'node:fs'
import path from 'node:path'
import { buildParserFile } from '@lezer/generator'
import { fileTests } from '@lezer/generator/test'
import t from 'tap'
import { Fault } from '../src/errors/errors.ts'
import type { ClauseName } from '../src/language/odsql/ast.ts'
import { completions, OFFERED_KEYWORDS } from '../src/language/odsql/completion.ts'
import { parseGroupBy, parseOrderBy, parseSelect, parseWhere } from '../src/language/odsql/parse.ts'
import { parser } from '../src/language/odsql/parser.ts'
import { FUNCTIONS, OPEN_WORDS, RESERVED_WORDS } from '../src/language/odsql/vocabulary.ts'
import { parseV1 } from '../src/language/search-v1/parse.ts'
import { field } from '../src/model/field.ts'
import { parseDate } from '../src/query/date-literals.ts'
import { seedOf } from './support/seed.ts'

const scalarNames = [...FUNCTIONS.values()].filter(({ kind }) => kind === 'scalar').map(({ name }) => name)
const groupedScalarNames = scalarNames.filter(name => FUNCTIONS.get(name)?.uses.includes('group_by'))
const room = path.resolve(import.meta.dirname, '../src/language/odsql')

t.test('the grammar reads each case as its tree says', async t => {
  for (const name of ['where.txt', 'clauses.txt']) {
    const file = path.join(import.meta.dirname, 'grammar', name)
    for (const { name: title, run } of fileTests(readFileSync(file, 'utf8'), name))
      t.doesNotThrow(() => run(parser), `${name}: ${title}`)
  }
})

t.test('the generated parser is that of the grammar', async t => {
  const grammar = readFileSync(path.join(room, 'odsql.grammar'), 'utf8')
  const { parser: text, terms } = buildParserFile(grammar, { fileName: 'odsql.grammar', typeScript: true })
  const terminal = (source: string) => source.replaceAll(/"?\.\/parser\.terms(\.ts|\.js)?"?/g, '')
  t.equal(terminal(readFileSync(path.join(room, 'parser.ts'), 'utf8')).trim(), terminal(text).trim())
  t.equal(readFileSync(path.join(room, 'parser.terms.ts'), 'utf8').trim(), terms.trim())
})

t.test('what cannot be read is told with the character', async t => {
  const cases: readonly (readonly [text: string, from: number, to: number, message: RegExp])[] = [
    ['', 0, 0, /end of line \(the clause is empty\)/],
    ['a =', 3, 3, /unexpected end of line/],
    ['a = 1)', 5, 6, /unexpected \) at position 5/],
    ['a == 1', 3, 4, /unexpected = at position 3 in a == 1 \(write = to compare\)/],
    ['a = "x', 4, 5, /a string that is not closed/],
    ['1_uai = 3', 1, 5, /unexpected _uai at position 1.*back-quotes/],
    ['f not in (1)', 2, 5, /write not before the whole comparison/],
    ['year > 3', 0, 4, /unexpected year at position 0, a reserved word.*`year`/],
    ['a = 1 b', 6, 7, /unexpected b at position 6/],
    ['(a = 1', 6, 6, /unexpected end of line/],
    ['a in [1..2', 10, 10, /unexpected end of line/],
    ['a # b', 2, 3, /unexpected #/],
    ['x'.repeat(20_001), 20_000, 20_001, /20001 characters, at most 20000/],
  ]
  for (const [text, from, to, message] of cases) {
    const fault = faultOf(() => parseWhere(text))
    t.match(fault, { code: 'ODSQLError', status: 400, message, place: { from, to } }, text.slice(0, 40))
    t.match(fault?.message, /Clause\(s\) containing the error\(s\): where\.$/)
    t.ok((fault?.message.length ?? 0) < 900)
  }
  t.match(
    faultOf(() => parseSelect('a b')),
    { message: /: select\.$/ },
  )
  t.match(
    faultOf(() => parseGroupBy('a,')),
    { message: /: group_by\.$/ },
  )
  t.match(
    faultOf(() => parseOrderBy('a up')),
    { message: /: order_by\.$/ },
  )
})

t.test('long chains are read, deep nesting is refused', async t => {
  const chain = Array.from({ length: 2000 }, (_, i) => `a=${i}`).join(' or ')
  t.equal(parseWhere(chain).type, 'or')
  const deep = ['not '.repeat(500), 'not '.repeat(4000), '('.repeat(9000), `a${'+1'.repeat(1200)}>`]
  for (const text of deep) {
    const fault = faultOf(() => parseWhere(`${text}a`))
    t.match(fault, { message: /nested deeper than 400/ }, text.slice(0, 8))
  }
  t.match(
    faultOf(() => parseWhere(`${chain} or`)),
    { message: /unexpected end/ },
  )
})

t.test('whatever is written is read or refused, never anything else', async t => {
  const seeds = [
    'a > 1 and not (b in [1..2[ or "x*")',
    "d >= date'2017-01' and g is not null",
    'a in ("x", \'y\') or f(z=1, 2 km)',
  ]
  const pieces = [
    '(',
    ')',
    '"',
    "'",
    '`',
    ' and ',
    ' or ',
    'not ',
    '[',
    ']',
    '..',
    ' to ',
    '*',
    ',',
    '=',
    ':',
    '\\',
    '\u0000',
    'é',
    '😀',
    '1e9',
    "date'",
    ' in ',
    ' is ',
    'null',
    '.',
  ]
  let state = seedOf()
  t.comment(`SEED=${state}`)
  const random = (below: number) => {
    state = (state * 1103515245 + 12345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
  let [read, refused] = [0, 0]
  for (let tried = 0; tried < 3000; tried++) {
    let text = seeds[random(seeds.length)] ?? ''
    for (let changes = random(4); changes >= 0; changes--) {
      const at = random(text.length + 1)
      text = text.slice(0, at) + (pieces[random(pieces.length)] ?? '') + text.slice(at + random(3))
    }
    try {
      parseWhere(text)
      read += 1
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'ODSQLError')
        t.fail(`${JSON.stringify(text)}: ${String(error)}`)
      refused += 1
    }
  }
  t.ok(read > 0 && refused > 0, `${read} read, ${refused} refused`)
})

t.test('ranges of the Search API v1 are read in linear time', async t => {
  const cases: readonly (readonly [text: string, value: unknown])[] = [
    ['n:[1950 TO 2000]', { lower: '1950', upper: '2000' }],
    ['n:[  a b  to  c ', { lower: 'a b', upper: 'c' }],
    ['n:[ TO 2]', { lower: '', upper: '2' }],
    ['n:[1 TO]', '[1 TO]'],
  ]
  for (const [text, value] of cases) t.match(parseV1(text), { type: 'comparison', value }, text)
  const began = performance.now()
  parseV1(`n:[${' '.repeat(15_000)}]`)
  parseV1(`n:[${' TO'.repeat(5000)}]`)
  t.ok(performance.now() - began < 1000)
})

t.test('blanks at the end of a query of the Search API v1 are no words', async t => {
  for (const text of ['paris OR ', 'paris AND NOT ', 'paris  ', ' paris OR\n'])
    t.match(parseV1(text), { text: 'paris' })
  t.equal(parseV1(' \t '), null)
})

t.test('date literals of every form', async t => {
  const cases: readonly (readonly [string, string | null])[] = [
    ['2017', 'year'],
    ['2017-06', 'month'],
    ['2017/06', 'month'],
    ['2017/06/30', 'day'],
    ['2017-06-30T12', 'hour'],
    ['2017-06-30T12+02:00', 'hour'],
    ['2017-06-30T12:30', 'minute'],
    ['2017-06-30 12:30:15.250Z', 'second'],
    ['2017-06-30T12:30:15+02:00', 'second'],
    ['2017-02-29', null],
    ['2017-13', null],
    ['2017-06/30', null],
    ['2017-06-30T25:00', null],
    ['2017-06-30T12:00:00+23:59', 'second'],
    ['2017-06-30T12:00:00+24:00', null],
    ['2017-06-30T12:00:00-01:60', null],
    ['2017-06-30T12:00:00.123456789012Z', 'second'],
    ['soon', null],
  ]
  for (const [text, precision] of cases) t.equal(parseDate(text)?.precision ?? null, precision, text)
})

t.test('completion offers what fits the word before the cursor', async t => {
  const fields = [
    field('name', 'text', { label: 'Name', description: 'Common name' }),
    field('group', 'text'),
    field('2019_area', 'double'),
    field('area', 'double'),
    field('day_seen', 'date'),
    field('position', 'geo_point_2d'),
    field('shape', 'geo_shape'),
    field('landlocked', 'boolean'),
    field('default.title', 'text'),
  ]
  const cases: readonly (readonly [clause: ClauseName, text: string, labels: readonly string[]])[] = [
    ['where', 'na|', ['name']],
    ['where', 'NA|', ['name']],
    ['where', 'area > 1 and na| = "x"', ['name']],
    ['where', 'gro|', ['`group`']],
    ['where', '20|', ['`2019_area`']],
    ['where', 'default.t|', ['default.title']],
    ['where', 'default.|', ['default.title']],
    ['select', 'da|', ['day_seen', 'day', 'date_format']],
    ['order_by', 'ra|', ['random']],
    ['group_by', 'ra|', ['range']],
    ['select', 'inc|, area', ['include']],
    ['where', 'su|', ['suggest']],
    ['select', 'su|', ['sum']],
    // In quotes and back-quotes.
    ['where', 'name = "na|"', []],
    ['where', "name = 'na|", []],
    ['where', "name = 'it\\'s na|", []],
    ['where', "day_seen > date'20|'", []],
    ['where', "distance(position, geom'PO|", []],
    ['where', '"na" and na|', ['name']],
    ['select', '`na|', ['`name`']],
    ['select', '`na|`', ['`name`']],
    ['select', '`2019|', ['`2019_area`']],
    ['select', '`su|', []],
    // Keywords.
    ['where', 'area > 1 |', ['and', 'or', 'in', 'is', 'like']],
    ['where', '(landlocked o|', ['or']],
    ['where', 'landlocked is |', ['not', 'null', 'true', 'false']],
    ['where', 'landlocked is not |', ['null', 'true', 'false']],
    ['where', 'area in [1 |', ['to']],
    ['where', "day_seen: ]date'2014' t|", ['to']],
    ['where', 'area in [1 to 2] a|', ['and']],
    ['where', 'n|', ['name', 'now', 'not']],
    ['where', 'area = n|', ['name', 'now']],
    ['where', 'area = t|', []],
    ['select', 'area |', ['as']],
    ['select', 'area as n|', []],
    ['select', '(area |', []],
    ['select', 'sum(area) a|', ['as']],
    ['group_by', 'area a|', ['as']],
    ['order_by', 'area |', ['asc', 'desc']],
    ['select', 'count(d|', ['day_seen', 'default.title', 'day', 'date_format', 'distinct']],
    ['select', 'count(distinct na|', ['name']],
    // Arguments: fields of their type, and the words that belong to them.
    ['select', 'year(|', ['day_seen', ...scalarNames]],
    ['select', 'sum(a|', ['area']],
    ['where', 'distance(|', ['position', 'shape']],
    ['group_by', 'geo_cluster(|', ['position', ...groupedScalarNames]],
    ['where', 'search(name, |', ['name', '`group`', 'default.title']],
    [
      'select',
      'exclude(name, |',
      fields.map(({ name }) => (/^(?:group|2)/.test(name) ? `\`${name}\`` : name)),
    ],
    ['group_by', 'range(area, e|', ['equi']],
    ['select', 'ifnull(name, na|', ['name']],
    ['select', 'nothing(na|', []],
    ['where', "geometry(shape, geom'POINT(1 1)', |", ['intersect', 'intersects', 'disjoint', 'within']],
    ['where', 'area > now(mo|', ['month', 'months', 'mondays']],
    // Units.
    ['where', "distance(position, geom'POINT(1 1)', 10k|", ['km']],
    ['where', "within_distance(position, geom'POINT(1 1)', 1.5 m|", ['mm', 'm', 'mi']],
    ['where', "distance(position, geom'POINT(1 1)', 10|", ['mm', 'cm', 'm', 'km', 'ft', 'yd', 'mi']],
    ['group_by', 'range(day_seen, 1 da|', ['day', 'days']],
    ['group_by', 'range(day_seen, 1q|', ['q', 'quarter', 'quarters']],
    ['where', 'area > 10|', []],
    ['where', 'area > 10k|', []],
  ]
  for (const [clause, marked, labels] of cases) {
    const offset = marked.indexOf('|')
    const text = marked.replace('|', '')
    const found = completions(clause, text, offset, fields)
    t.strictSame(
      found.map(({ label }) => label),
      labels,
      `${clause}: ${marked}`,
    )
    for (const { from, to } of found) t.ok(from <= offset && to >= offset && to <= text.length)
  }
  t.strictSame(completions('where', 'x or 1na', 8, fields), [])
  t.strictSame(completions('where', 'na', 2, fields), [
    { label: 'name', kind: 'field', detail: 'text', says: 'Common name', from: 0, to: 2 },
  ])
  t.match(completions('select', 'a, `na`', 6, fields), [{ from: 3, to: 7 }])
  t.match(completions('where', 'a or len', 8, fields), [
    {
      label: 'length',
      kind: 'function',
      detail: 'length(text)',
      says: 'number of characters',
      from: 5,
      to: 8,
    },
  ])
  t.match(completions('where', "distance(position, geom'POINT(1 1)', 10km", 41, fields), [
    { label: 'km', kind: 'unit', detail: '1000 m', from: 39, to: 41 },
  ])
  for (const word of OFFERED_KEYWORDS)
    t.ok(RESERVED_WORDS.has(word) || (OPEN_WORDS as readonly string[]).includes(word), word)
})

t.test('every completion of a whole value can be read where it is put', async t => {
  const fields = [...RESERVED_WORDS, ...OPEN_WORDS, '1st', 'a b', 'plain', 'a.b'].map(name =>
    field(name, 'text'),
  )
  for (const { label, kind } of completions('select', '', 0, fields))
    if (kind === 'field') t.doesNotThrow(() => parseSelect(label), label)
})

function faultOf(work: () => unknown): Fault | undefined {
  try {
    work()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  return undefined
}
