/** Random questions of OData about random records: trees of well-typed expressions and the options that ask them. */
import type {
  ArithmeticOperator,
  Expression,
  ODataComparison,
  ODataLiteral,
  OrderItem,
  SearchExpression,
} from '../../src/language/odata/ast.ts'
import type { Question } from './odata-evaluator.ts'
import { between, CODES, chance, decimal, pick, type TYPES, times, two, WORDS } from './odata-records.ts'
import {
  alias,
  binary,
  call,
  castTo,
  countOf,
  lambda,
  list,
  literal,
  member,
  NULL,
  name,
  negate,
  not,
  number,
  type Style,
  searchNode,
  text,
  truth,
  within,
  written,
  writtenSearch,
} from './odata-tree.ts'
import { metres, type Point, type Source } from './odata-values.ts'
import { tokens } from './odsql-evaluator.ts'

/** A question, the options that ask it, and what its aliases stand for. */
export interface Asked extends Question {
  readonly options: Readonly<Record<string, string>>
  readonly aliases: ReadonlyMap<string, Expression>
  readonly computed: ReadonlyMap<string, Expression>
}

type NumberField = 'k' | 'n' | 'm' | 'x' | 'y' | 'big'
type ManyField = 'tags' | 'codes'
type Make = () => Expression

let records: readonly Source[] = []
/** Says which records questions are about. */
export function askAbout(made: readonly Source[]): void {
  records = made
}

const EQUALITY: readonly ODataComparison[] = ['eq', 'ne']
const COMPARISONS: readonly ODataComparison[] = ['eq', 'ne', 'gt', 'ge', 'lt', 'le']
const NUMBERS: readonly NumberField[] = ['n', 'n', 'm', 'x', 'x', 'y', 'k']
const compare = (left: Expression, right: Expression, operators = COMPARISONS): Expression => {
  const [a, b] = chance(0.04) ? [left, NULL] : [left, right]
  return chance(0.15) ? binary(pick(operators), b, a) : binary(pick(operators), a, b)
}

/** A value that some record has, or another one of its kind. */
function someValue(field: keyof typeof TYPES): unknown {
  const values = records.flatMap(record => record[field]).filter(value => value !== null)
  return pick(values)
}
const dateLiteral = (day: string): ODataLiteral => literal('Edm.Date', day, day)
function momentLiteral(at: string): ODataLiteral {
  if (at.includes('.') || chance(0.5)) return literal('Edm.DateTimeOffset', at, at)
  const shifted = `${new Date(Date.parse(at) + 7_200_000).toISOString().slice(0, 19)}+02:00`
  return literal('Edm.DateTimeOffset', shifted, shifted)
}
function durationLiteral(seconds: number): ODataLiteral {
  const [days, hours, rest] = [
    Math.floor(seconds / 86_400),
    Math.floor((seconds % 86_400) / 3600),
    seconds % 3600,
  ]
  const time = `${hours > 0 ? `${hours}H` : ''}${rest > 0 || seconds === 0 ? `${rest}S` : ''}`
  return literal('Edm.Duration', seconds, `duration'P${days > 0 ? `${days}D` : ''}${time && `T${time}`}'`)
}
const someSeconds = () => pick([0, 1, 90, 3600, 86_400, 86_400 * 30, between(0, 100) * 7200, 86_400 * 400])
const pointLiteral = ({ lon, lat }: Point): ODataLiteral =>
  literal('Edm.Geography', `Point(${lon} ${lat})`, `geography'SRID=4326;Point(${lon} ${lat})'`)
const constant = () => number(pick([0, 1, 2, 3, between(-5, 20), between(-40, 40) / 4]))

/** Numbers as deep as told, none of them infinite. */
function numeric(depth: number): Expression {
  if (depth === 0 || chance(0.3))
    return pick<Make>([
      () => name(pick(NUMBERS)),
      () => name(pick(NUMBERS)),
      () => name(pick(NUMBERS)),
      () => call('length', textual(1)),
      () => call('indexof', textual(0), text(pick(['a', 'o', ' ', 'é', pick(WORDS)]))),
      () => call(pick(['year', 'month', 'day']), name(pick(['on', 'at', 'seen']))),
      () => call(pick(['hour', 'minute', 'second']), name(pick(['at', 'seen']))),
      () => countOf(name(pick(['tags', 'codes']))),
      () => member(name('place'), pick(['latitude', 'longitude'])),
      () => castTo(name('word'), pick(['Edm.Int64', 'Edm.Double'])),
      () => castTo(name('n'), 'Edm.Double'),
      ofLiterals,
    ])()
  const inner = () => numeric(depth - 1)
  return pick<Make>([
    () => binary(pick<ArithmeticOperator>(['add', 'sub']), inner(), chance(0.6) ? constant() : inner()),
    () => binary(pick<ArithmeticOperator>(['add', 'sub']), constant(), inner()),
    () => binary('mul', inner(), number(pick([2, 3, -1, 0.5, 0]))),
    () => binary('div', inner(), number(pick([2, 3, 7, -2, 0.5, 4]))),
    () => binary('divby', inner(), number(pick([2, 4, -8]))),
    () => binary(pick<ArithmeticOperator>(['div', 'mod']), name(pick(['n', 'k'])), name(pick(['m', 'n']))),
    () => binary('mod', inner(), number(pick([2, 3, -3, 7]))),
    () => call(pick(['round', 'floor', 'ceiling']), inner()),
    () => negate(inner()),
    () => (chance(0.3) ? binary('add', inner(), NULL) : inner()),
  ])()
}

/** Numbers without a property in them. */
const ofLiterals = (): Expression =>
  pick<Make>([
    () => binary(pick<ArithmeticOperator>(['add', 'sub', 'mul']), constant(), constant()),
    () => binary(pick<ArithmeticOperator>(['div', 'mod']), number(between(-9, 9)), number(pick([2, -3, 4]))),
    () => call(pick(['round', 'floor', 'ceiling']), pick([constant(), number(2.5), number(-2.5)])),
    () => call('length', pick([someText(), NULL, call('concat', someText(), text('b'))])),
    () => call('indexof', someText(), text(pick(['a', 'o', 'é']))),
    () => call(pick(['year', 'month', 'day']), dateLiteral(String(someValue('on')))),
    () => castTo(text(pick(['7', '-3', 'seven'])), 'Edm.Int64'),
  ])()

/** Texts as deep as told. */
function textual(depth: number): Expression {
  if (depth === 0 || chance(0.35)) return name(pick(['title', 'word', 'word']))
  const inner = () => textual(depth - 1)
  return pick<Make>([
    () => call(pick(['tolower', 'toupper', 'trim']), inner()),
    () => call('concat', inner(), chance(0.5) ? inner() : text(pick(WORDS))),
    () => call('concat', text(pick(['', '~', '日'])), inner()),
    () => call('substring', inner(), number(pick([0, 1, 2, 5]))),
    () => call('substring', inner(), number(pick([0, 1, 3])), number(pick([0, 1, 2, 4]))),
    () => call('substring', call('concat', inner(), text('tail')), number(pick([-1, -3]))),
    () => castTo(name(pick(['n', 'flag', 'on', 'word'])), 'Edm.String'),
    () => call(pick(['tolower', 'toupper', 'trim']), someText()),
    () => call('concat', inner(), castTo(name('n'), 'Edm.String')),
  ])()
}
const someText = () =>
  text(String(pick([someValue('word'), someValue('title'), someValue('tags'), pick(WORDS)])))
const part = (whole: string) => {
  const letters = [...whole]
  const from = between(0, Math.max(0, letters.length - 1))
  return letters.slice(from, from + between(1, 4)).join('')
}
const somePart = () => text(part(String(pick([someValue('word'), someValue('title'), pick(WORDS)]))))

/** Moments: fields and sums. */
const moment = (): Expression =>
  chance(0.7)
    ? name(pick(['at', 'seen']))
    : binary(
        pick<ArithmeticOperator>(['add', 'sub']),
        name(pick(['at', 'seen'])),
        durationLiteral(someSeconds()),
      )
const wide = () => momentLiteral(`${between(2019, 2022)}-${two(between(1, 12))}-15T10:11:12Z`)

/** A distance from a place, and a limit that no record is near. */
function distance(): Expression {
  const centre = { lon: decimal(-12, 25), lat: decimal(38, 62) }
  const limit = pick([300_000, 700_000, 1_500_000])
  const near = (record: Source) =>
    record.place !== null && Math.abs(metres(record.place as Point, centre) / limit - 1) < 0.005
  if (records.some(near)) return distance()
  const args = [name('place'), pointLiteral(centre)]
  const measured = call('geo.distance', ...(chance(0.3) ? args.reverse() : args))
  return binary(pick<ODataComparison>(['lt', 'le', 'gt', 'ge']), measured, number(limit))
}

/** A polygon with corners where no record has a coordinate. */
function polygon(): ODataLiteral {
  const [lon, lat] = [decimal(-8, 20), decimal(42, 58)]
  const count = between(3, 6)
  const corners = times(count, index => {
    const [angle, reach] = [((index + between(0, 80) / 100) / count) * 2 * Math.PI, decimal(2, 11)]
    return `${(lon + Math.cos(angle) * reach * 1.5 + 0.00137).toFixed(5)} ${(lat + Math.sin(angle) * reach + 0.00173).toFixed(5)}`
  })
  const shape = `Polygon((${[...corners, ...corners.slice(0, 1)].join(',')}))`
  return literal('Edm.Geography', shape, `geography'SRID=4326;${shape}'`)
}

/** A condition on one element of a collection. */
function element(variable: string, depth = 1): Expression {
  const item = name(variable)
  return pick<Make>([
    () => compare(item, text(pick([...CODES, pick(WORDS)]))),
    () => compare(item, text(pick([...CODES, pick(WORDS)])), EQUALITY),
    () => call(pick(['contains', 'startswith', 'endswith']), item, somePart()),
    () => compare(call('length', item), number(between(1, 6))),
    () => call('contains', name('title'), item),
    () => compare(item, name('word')),
    () => binary('and', element(variable, 0), element(variable, 0)),
    () => binary('or', element(variable, 0), compare(name('n'), number(5))),
    () => not(element(variable, 0)),
    () => within(item, list(times(between(1, 3), () => text(pick(CODES))))),
    () =>
      depth === 0
        ? binary('eq', item, text('a1'))
        : lambda('any', name('codes'), 'c', binary(pick(EQUALITY), name('c'), item)),
  ])()
}
const many = (): ManyField => pick(['tags', 'codes'])

/** Conditions that ODSQL can say too. */
const PLAIN: readonly Make[] = [
  () => compare(name(pick(NUMBERS)), constant()),
  () =>
    binary(
      pick(COMPARISONS),
      name(pick(['n', 'm', 'big', 'x'])),
      number(Number(someValue(pick(['n', 'm', 'big', 'x'])))),
    ),
  () => binary(pick(EQUALITY), name('word'), someText()),
  () => binary(pick(COMPARISONS), name(pick(['title', 'word'])), someText()),
  () => binary(pick(COMPARISONS), name('on'), dateLiteral(String(someValue('on')))),
  () => binary(pick(COMPARISONS), name(pick(['at', 'seen'])), momentLiteral(String(someValue('at')))),
  () => binary(pick(EQUALITY), name(pick(['n', 'x', 'word', 'flag', 'on', 'at'])), NULL),
  () => binary(pick(EQUALITY), name('flag'), truth(chance(0.5))),
  () => within(name(pick(['n', 'm', 'x'])), list(times(between(1, 4), constant))),
  () => within(name('word'), list(times(between(1, 4), someText))),
  () =>
    call(
      'startswith',
      name(pick(['word', 'title'])),
      text([...String(someValue('word'))].slice(0, 2).join('')),
    ),
  () => lambda('any', name('codes'), 'c', binary('eq', name('c'), text(pick(CODES)))),
  () => lambda('any', name(many()), null, null),
  () => binary(pick(COMPARISONS), call('year', name('at')), number(between(2019, 2022))),
]

/** One kind of condition each. */
const CONDITIONS: readonly Make[] = [
  ...PLAIN,
  () => compare(numeric(2), chance(0.5) ? constant() : numeric(1)),
  () => compare(numeric(1), constant()),
  () => binary(pick(COMPARISONS), name(pick(['x', 'y'])), number(Number(someValue('x')))),
  () =>
    binary(
      pick(COMPARISONS),
      binary('div', name('x'), chance(0.5) ? name('y') : number(0)),
      pick([constant(), literal('Edm.Double', Infinity, 'INF')]),
    ),
  () =>
    binary(
      pick(COMPARISONS),
      name(pick(['x', 'n'])),
      pick([
        literal('Edm.Double', Infinity, 'INF'),
        literal('Edm.Double', -Infinity, '-INF'),
        literal('Edm.Double', Number.NaN, 'NaN'),
      ]),
    ),
  () => compare(textual(2), chance(0.6) ? someText() : textual(1)),
  () => compare(textual(1), textual(1), EQUALITY),
  () => call(pick(['contains', 'startswith', 'endswith']), textual(1), somePart()),
  () =>
    call(pick(['contains', 'startswith', 'endswith']), name('title'), pick([name('word'), NULL, somePart()])),
  () => call('contains', name('title'), somePart()),
  () =>
    call(
      'matchespattern',
      textual(1),
      text(pick(['^[A-Z]', 'a.*o', '^\\d+$', '(x|y)', 'é', 'z$', '[^a-z]o'])),
    ),
  () => name('flag'),
  () => compare(name('flag'), truth(chance(0.5)), EQUALITY),
  () => binary(pick(EQUALITY), binary('gt', name('n'), number(5)), name('flag')),
  () =>
    binary(
      pick(EQUALITY),
      call('contains', name('word'), somePart()),
      pick([name('flag'), truth(false), NULL]),
    ),
  () => binary(pick(EQUALITY), NULL, pick([name('n'), name('title'), NULL, number(1)])),
  () => binary(pick(COMPARISONS), pick([name('n'), name('word')]), NULL),
  () => binary(pick(EQUALITY), name('place'), NULL),
  () => compare(name('n'), name(pick(['m', 'x']))),
  () => compare(name('word'), name('title'), EQUALITY),
  () => compare(name('on'), dateLiteral(`${between(1995, 2025)}-06-15`)),
  () =>
    compare(
      call('date', name(pick(['at', 'seen']))),
      pick([name('on'), dateLiteral(String(someValue('at')).slice(0, 10))]),
    ),
  () =>
    compare(
      call('time', name('at')),
      pick([
        literal('Edm.TimeOfDay', '09:30:00', '09:30:00'),
        literal('Edm.TimeOfDay', '12:00:00', '12:00'),
        call('time', name('seen')),
      ]),
    ),
  () => compare(name('at'), pick([name('seen'), wide(), call('now')])),
  () => compare(moment(), wide(), ['gt', 'ge', 'lt', 'le']),
  () => compare(moment(), name(pick(['at', 'seen'])), ['gt', 'lt']),
  () => binary(pick(COMPARISONS), name('at'), call(pick(['mindatetime', 'maxdatetime']))),
  () => binary(pick(['gt', 'ge', 'lt', 'le']), name('at'), dateLiteral(`${between(2019, 2022)}-06-15`)),
  () =>
    compare(binary('sub', name('at'), name('seen')), durationLiteral(someSeconds()), [
      'gt',
      'ge',
      'lt',
      'le',
    ]),
  () =>
    compare(binary('sub', name('on'), dateLiteral('2010-05-06')), durationLiteral(86_400 * between(0, 4000))),
  () =>
    compare(
      binary(pick<ArithmeticOperator>(['add', 'sub']), name('on'), durationLiteral(86_400 * between(1, 400))),
      dateLiteral(String(someValue('on'))),
    ),
  () =>
    compare(call('totalseconds', binary('sub', name('at'), name('seen'))), number(someSeconds()), [
      'gt',
      'lt',
    ]),
  () =>
    compare(call('fractionalseconds', name('at')), number(pick([0, 0.5, 0.25])), ['eq', 'ne', 'gt', 'ge']),
  () => compare(call('totaloffsetminutes', name('at')), number(0)),
  () => within(name(pick(['n', 'k'])), list(times(between(0, 4), constant))),
  () => within(textual(1), list(times(between(1, 4), someText))),
  () => within(name('on'), list(times(between(1, 3), () => dateLiteral(String(someValue('on')))))),
  () => within(text(pick(CODES)), name('codes')),
  () => lambda(pick(['any', 'all']), name(many()), 't', element('t')),
  () =>
    lambda(pick(['any', 'all']), name(many()), pick(['x', 'tag']), binary('ne', name('word'), text('zoe'))),
  () => lambda(pick(['any', 'all']), name(many()), 'lambda', element('lambda')),
  () => compare(countOf(name(many())), number(between(0, 4))),
  () => compare(member(name('place'), pick(['latitude', 'longitude'])), number(decimal(-12, 60))),
  distance,
  () => call('geo.intersects', name('place'), polygon()),
  () => binary(pick(COMPARISONS), name('flag'), truth(chance(0.5))),
  () => binary(pick(EQUALITY), name('flag'), not(name('flag'))),
  () => binary(pick(['and', 'or']), pick(PLAIN)(), NULL),
  () =>
    binary(
      pick(EQUALITY),
      binary(pick(['and', 'or']), name('flag'), pick(PLAIN)()),
      pick([NULL, truth(true)]),
    ),
  () => within(name(pick(['n', 'flag'])), list([NULL])),
  () => within(name('n'), list([...times(between(1, 3), constant), NULL])),
  () => within(name('at'), list(times(between(1, 3), () => momentLiteral(String(someValue('at')))))),
  () => within(numeric(1), list(times(between(1, 4), constant))),
  () => compare(name(pick(['n', 'x'])), literal('Edm.Double', 10, '1e1')),
  () => binary(pick(COMPARISONS), name(pick(['n', 'big'])), number(pick([99_999_999_999, 2.5, -2.5]))),
  () => compare(name(pick(['n', 'x', 'm'])), ofLiterals()),
  () =>
    compare(
      binary('sub', name('at'), name('seen')),
      binary('mul', durationLiteral(someSeconds()), number(2)),
      ['gt', 'lt'],
    ),
  () =>
    compare(binary('sub', name('at'), name('seen')), negate(durationLiteral(someSeconds())), ['ge', 'lt']),
  () =>
    compare(
      binary('add', call('date', name('at')), durationLiteral(86_400 * between(1, 90))),
      dateLiteral(`${between(2019, 2022)}-06-15`),
    ),
  () => binary(pick(EQUALITY), lambda('any', name('codes'), 'c', element('c')), name('flag')),
  () =>
    lambda(
      'any',
      name('tags'),
      't',
      binary(
        'or',
        binary('eq', name('t'), text('a')),
        lambda('all', name('codes'), 'c', binary('ne', name('c'), name('t'))),
      ),
    ),
  () => compare(call('concat', call('concat', name('word'), text(', ')), name('title')), someText()),
  () => compare(member(name('$it'), 'n'), constant()),
  () => binary(pick(['ge', 'gt', 'lt', 'le']), not(name(pick(['n', 'm', 'x']))), constant()),
]

/** Conditions, joined as deep as told. */
export function condition(depth: number, kinds: readonly Make[] = CONDITIONS): Expression {
  if (depth === 0 || chance(0.25)) return chance(0.2) ? not(pick(kinds)()) : pick(kinds)()
  if (chance(0.2)) return not(condition(depth - 1, kinds))
  const [left, right] = [condition(depth - 1, kinds), condition(depth - 1, kinds)]
  return binary(pick(['and', 'or']), left, right)
}

/** Words of records to search for, joined as deep as told. */
function searched(depth: number): SearchExpression {
  if (depth > 0 && chance(0.6))
    return searchNode.join(
      pick(['and', 'or']),
      times(between(2, 3), () => searched(depth - 1)),
    )
  const texts = records
    .flatMap(record => [record.title, record.word, record.tags].flat())
    .filter(each => each !== null)
  const words = tokens(String(pick(texts)))
  const [first = 'zoe'] = words
  const from = between(0, Math.max(0, words.length - 2))
  const one =
    words.length > 1 && chance(0.35)
      ? searchNode.word('phrase', words.slice(from, from + 2).join(' '))
      : searchNode.word('term', chance(0.3) ? pick(['Zoë', 'ÉLAN', 'Straße', '123']) : first)
  return chance(0.2) ? searchNode.not(one) : one
}

/** Keys to sort by, no two the same. */
function ordering(computed: boolean): readonly OrderItem[] {
  const keys = times(between(1, 3), () =>
    pick<Make>([
      ...(computed ? [() => name('c1'), () => name('c1')] : []),
      () => name(pick(['title', 'word', 'flag', 'on', 'at', ...NUMBERS])),
      () => name(pick(['n', 'm', 'word', 'flag'])),
      () => numeric(1),
      () => textual(1),
      () => binary(pick(COMPARISONS), name('n'), constant()),
      () => call('contains', name('title'), somePart()),
      () => call('date', name('at')),
      () => call('geo.distance', name('place'), pointLiteral({ lon: 2.35, lat: 48.85 })),
      () => not(name('flag')),
    ])(),
  )
  const apart = keys.filter(
    (key, index) => keys.findIndex(other => JSON.stringify(other) === JSON.stringify(key)) === index,
  )
  const span = { from: 0, to: 0 }
  return apart.map(expression => ({ expression, descending: chance(0.5), span }))
}

/** Takes a literal out of an expression and gives it a name. */
function withAlias(expression: Expression): readonly [Expression, ReadonlyMap<string, Expression>] {
  if (expression.type !== 'binary' || expression.right.type !== 'literal' || chance(0.8))
    return [expression, new Map()]
  return [{ ...expression, right: alias('@p1') }, new Map([['@p1', expression.right]])]
}

/** The next question; `plain` asks only what ODSQL can say too. */
export function ask(plain = false): Asked {
  const kinds = plain ? PLAIN : CONDITIONS
  const made = !plain && chance(0.12) ? null : condition(chance(0.5) ? 0 : between(1, 3), kinds)
  const computed = new Map(plain || chance(0.92) ? [] : [['c1', chance(0.7) ? numeric(1) : textual(1)]])
  const using = computed.size > 0 && chance(0.5) ? binary('ne', name('c1'), NULL) : null
  const joined = using !== null && made !== null ? binary('and', using, made) : (using ?? made)
  const [filter, aliases] = joined === null ? [null, new Map<string, Expression>()] : withAlias(joined)
  const search = plain || (made !== null && chance(0.85)) ? null : searched(between(0, 2))
  const orderBy = plain || chance(0.4) ? [] : ordering(computed.size > 0)
  const options: Record<string, string> = {}
  for (const [key, value] of computed) options.$compute = `${written(value, STYLE)} as ${key}`
  if (filter !== null) options.$filter = written(filter, STYLE)
  if (search !== null) options.$search = writtenSearch(search, STYLE.blank)
  if (orderBy.length > 0)
    options.$orderby = orderBy
      .map(
        ({ expression, descending }) =>
          written(expression, STYLE) + (descending ? ' desc' : pick(['', ' asc'])),
      )
      .join(pick([',', ', ']))
  for (const [key, value] of aliases) options[key] = written(value, STYLE)
  return { filter, search, orderBy, options, aliases, computed }
}

/** How questions are written: mostly plainly. */
export const STYLE: Style = {
  blank: () => (chance(0.05) ? '  ' : ' '),
  gap: () => (chance(0.1) ? ' ' : ''),
  cased: word => (chance(0.05) ? word.toUpperCase() : word),
  superfluous: () => chance(0.04),
}
