import { readFileSync } from 'node:fs'
import path from 'node:path'
import { buildParserFile } from '@lezer/generator'
import t from 'tap'
import { Fault } from '../src/errors/errors.ts'
import type {
  Expression,
  KeyPredicate,
  PathSegment,
  SearchExpression,
  Transformation,
} from '../src/language/odata/ast.ts'
import { decodeLiterally, decodeOption, decodeSearch } from '../src/language/odata/decode.ts'
import { durationSeconds } from '../src/language/odata/literals.ts'
import {
  parseApply,
  parseCompute,
  parseExpand,
  parseExpression,
  parseFilter,
  parseOrderBy,
  parseSearch,
  parseSelect,
} from '../src/language/odata/parse.ts'
import { parsePath } from '../src/language/odata/path.ts'

const room = path.resolve(import.meta.dirname, '../src/language/odata')

t.test('the generated parser is that of the grammar', async t => {
  const grammar = readFileSync(path.join(room, 'odata.grammar'), 'utf8')
  const { parser: text, terms } = buildParserFile(grammar, { fileName: 'odata.grammar', typeScript: true })
  const terminal = (source: string) => source.replaceAll(/"?\.\/parser\.terms(\.ts|\.js)?"?/g, '')
  t.equal(terminal(readFileSync(path.join(room, 'parser.ts'), 'utf8')).trim(), terminal(text).trim())
  t.equal(readFileSync(path.join(room, 'parser.terms.ts'), 'utf8').trim(), terms.trim())
})

/** An expression as one line: `(eq name "x")`. */
function shown(expression: Expression): string {
  const list = (...parts: readonly string[]) => `(${parts.join(' ')})`
  switch (expression.type) {
    case 'binary':
      return list(expression.operator, shown(expression.left), shown(expression.right))
    case 'not':
    case 'negate':
      return list(expression.type, shown(expression.operand))
    case 'in':
      return list('in', shown(expression.left), shown(expression.right))
    case 'literal':
      return expression.of === 'Edm.String'
        ? JSON.stringify(expression.value)
        : `${expression.of.slice(4)}:${expression.value}`
    case 'null':
      return 'null'
    case 'name':
    case 'alias':
      return expression.name
    case 'member':
      return `${shown(expression.of)}/${expression.name}`
    case 'lambda': {
      const { quantifier, of, variable, predicate } = expression
      return predicate === null
        ? list(quantifier, shown(of))
        : list(quantifier, shown(of), String(variable), shown(predicate))
    }
    case 'count': {
      const { of, filter, search } = expression
      const options = [filter === null ? [] : [shown(filter)], search === null ? [] : [shownSearch(search)]]
      return list('count', shown(of), ...options.flat())
    }
    case 'filtered':
      return list('filter', shown(expression.of), shown(expression.filter))
    case 'call':
      return list(`${expression.name}()`, ...expression.arguments.map(shown))
    case 'cast':
    case 'isof':
      return list(
        expression.type,
        expression.operand === null ? '-' : shown(expression.operand),
        expression.target,
      )
    case 'list':
      return `[${expression.items.map(shown).join(' ')}]`
    case 'object':
      return `{${expression.members.map(({ name, value }) => `${name}:${shown(value)}`).join(' ')}}`
    case 'case':
      return list('case', ...expression.branches.map(branch => `${shown(branch.when)}:${shown(branch.then)}`))
    default:
      return expression satisfies never
  }
}

function shownSearch(expression: SearchExpression): string {
  switch (expression.type) {
    case 'term':
      return expression.text
    case 'phrase':
      return JSON.stringify(expression.text)
    case 'not':
      return `(not ${shownSearch(expression.operand)})`
    default:
      return `(${expression.type} ${expression.operands.map(shownSearch).join(' ')})`
  }
}

function shownStep(step: Transformation): string {
  switch (step.type) {
    case 'filter':
      return `filter ${shown(step.expression)}`
    case 'search':
      return `search ${shownSearch(step.expression)}`
    case 'compute':
      return `compute ${step.items.map(({ name, expression }) => `${name}=${shown(expression)}`).join(' ')}`
    case 'aggregate':
      return `aggregate ${step.items
        .map(({ name, method, operand }) => `${name}=${method}:${operand === null ? '*' : shown(operand)}`)
        .join(' ')}`
    case 'groupby': {
      const keys = step.keys.map(key => key.join('/')).join(' ')
      return `groupby${step.rollup ? ' rollup' : ''} [${keys}] {${step.then.map(shownStep).join(' | ')}}`
    }
    case 'orderby':
      return `orderby ${step.items.map(item => shown(item.expression) + (item.descending ? ' desc' : '')).join(' ')}`
    case 'top':
    case 'skip':
      return `${step.type} ${step.count}`
    case 'concat':
      return `concat ${step.sequences.map(steps => `{${steps.map(shownStep).join(' | ')}}`).join(' ')}`
    case 'identity':
      return 'identity'
    case 'other':
      return `other ${step.name}`
    default:
      return `${step.type} ${shown(step.amount)} ${shown(step.by)}`
  }
}

const expressions: readonly (readonly [text: string, tree: string])[] = [
  // The table of precedence (URL Conventions 5.1.1.17).
  [`name eq 'x' or name eq 'y' and n gt 3`, '(or (eq name "x") (and (eq name "y") (gt n Int32:3)))'],
  ['(a or b) and c', '(and (or a b) c)'],
  ['not a and b', '(and (not a) b)'],
  ['not n ge 3', '(ge (not n) Int32:3)'],
  ['not (a eq 1)', '(not (eq a Int32:1))'],
  ['not(a)', '(not a)'],
  ['not not a', '(not (not a))'],
  [`not name in ('a')`, '(not (in name ["a"]))'],
  ['a add b mul c sub -d', '(sub (add a (mul b c)) (negate d))'],
  ['a div b divby c mod d', '(mod (divby (div a b) c) d)'],
  ['a gt b eq c lt d', '(eq (gt a b) (lt c d))'],
  ['a eq b eq c', '(eq (eq a b) c)'],
  ['a gt -2 add --3', '(gt a (add Int32:-2 (negate Int32:-3)))'],
  ['-(a add 1) lt - 5', '(lt (negate (add a Int32:1)) (negate Int32:5))'],
  ['A EQ 1 Or B nE 2', '(or (eq A Int32:1) (ne B Int32:2))'],
  ['a  eq \t 1', '(eq a Int32:1)'],
  ['a or b or c or d or e or f or g or h or i', '(or (or (or a b) (or c d)) (or (or e f) (or g (or h i))))'],
  // Literals.
  [`'it''s' ne ''`, '(ne "it\'s" "")'],
  ['true and FALSE', '(and Boolean:true Boolean:false)'],
  ['null eq NULL', '(eq null NULL)'],
  ['2147483647 eq 2147483648', '(eq Int32:2147483647 Int64:2147483648)'],
  ['9223372036854775807 eq +5', '(eq Int64:9223372036854776000 Int32:5)'],
  ['9223372036854775808 eq 1.250', '(eq Decimal:9223372036854776000 Decimal:1.25)'],
  ['1e+5 eq -1.5E-3', '(eq Double:100000 Double:-0.0015)'],
  ['INF eq -INF', '(eq Double:Infinity Double:-Infinity)'],
  ['NaN eq Infinity', '(eq Double:NaN Infinity)'],
  ['5L eq 0l', '(eq Int64:5 Int64:0)'],
  ['1.25m eq 2D', '(eq Decimal:1.25 Double:2)'],
  ['1f eq 1.5d', '(eq Double:1 Double:1.5)'],
  ['1999-01-10 gt -0044-03-15', '(gt Date:1999-01-10 Date:-0044-03-15)'],
  ['09:00 lt 23:59:60.5', '(lt TimeOfDay:09:00:00 TimeOfDay:23:59:60.5)'],
  [
    '2012-12-03T07:16Z eq 2012-12-03t07:16:23.5+01:00',
    '(eq DateTimeOffset:2012-12-03T07:16:00Z DateTimeOffset:2012-12-03T07:16:23.5+01:00)',
  ],
  [`duration'P1DT2H' eq duration'-PT0.5S'`, '(eq Duration:93600 Duration:-0.5)'],
  [
    '01234567-89ab-cdef-0123-456789abcdef eq a0123456-89ab-cdef-0123-456789abcdef',
    '(eq Guid:01234567-89ab-cdef-0123-456789abcdef Guid:a0123456-89ab-cdef-0123-456789abcdef)',
  ],
  [`binary'Zm9vYg==' eq X'0aFF'`, '(eq Binary:Zm9vYg== Binary:0aFF)'],
  [`n.Colour'Red,Blue' eq n.Colour'1'`, '(eq Enum:Red,Blue Enum:1)'],
  [
    `geography'SRID=4326;Point(7.68 45.07)' eq geometry'LineString(1 2,3 4)'`,
    '(eq Geography:Point(7.68 45.07) Geography:LineString(1 2,3 4))',
  ],
  [`geometry'SRID=0;Point(1 2)' eq a`, '(eq Geography:Point(1 2) a)'],
  [
    `datetime'2022-10-07T06:52:24.189' eq datetime'2022-10-07'`,
    '(eq DateTimeOffset:2022-10-07T06:52:24.189Z DateTimeOffset:2022-10-07T00:00:00Z)',
  ],
  [`datetimeoffset'2024-01-10T00:00:00+01:00' eq a`, '(eq DateTimeOffset:2024-01-10T00:00:00+01:00 a)'],
  [`time'PT9H30M' eq time'PT1M2.25S'`, '(eq TimeOfDay:09:30:00 TimeOfDay:00:01:02.25)'],
  [`guid'01234567-89ab-cdef-0123-456789abcdef' eq a`, '(eq Guid:01234567-89ab-cdef-0123-456789abcdef a)'],
  // Names, paths, lambda expressions.
  ['straße eq INFx', '(eq straße INFx)'],
  ['nothing and android and index', '(and (and nothing android) index)'],
  ['location/latitude gt $it/a', '(gt location/latitude $it/a)'],
  ['$root/Set(1)/Name eq @p/b', '(eq (set() $root Int32:1)/Name @p/b)'],
  ['@Measures.Currency eq a/@Core.Unit#q', '(eq @Measures.Currency a/@Core.Unit#q)'],
  [`tags/any(t:t eq 'a')`, '(any tags t (eq t "a"))'],
  ['x/any( lambda : true )', '(any x lambda Boolean:true)'],
  ['not tags/any() or tags/ALL(t:t ne null)', '(or (not (any tags)) (all tags t (ne t null)))'],
  ['tags/$count gt 1', '(gt (count tags) Int32:1)'],
  [
    `tags/$count($filter=$this gt 'a';$search=b OR "c)") gt 1`,
    '(gt (count tags (gt $this "a") (or b "c)")) Int32:1)',
  ],
  [
    `tags/$filter(length($this) gt 3)/$count lt 2`,
    '(lt (count (filter tags (gt (length() $this) Int32:3))) Int32:2)',
  ],
  ['Sales/aggregate(Amount with sum) gt 5', '(gt (aggregate() Sales) Int32:5)'],
  // Membership.
  [`name in ('a', 'b')`, '(in name ["a" "b"])'],
  ['a in ( 1 , -2,null,-INF )', '(in a [Int32:1 Int32:-2 null Double:-Infinity])'],
  ['a in ()', '(in a [])'],
  ['a in(1,2) and b IN( tags ) or c in()', '(or (and (in a [Int32:1 Int32:2]) (in b tags)) (in c []))'],
  ['in in(1)', '(in in [Int32:1])'],
  [`'a' in tags and a in (tags)`, '(and (in "a" tags) (in a tags))'],
  ['a in @p', '(in a @p)'],
  [`[a,b] in [["x","y"],['z',"\\u00e9"]]`, '(in [a b] [["x" "y"] ["z" "é"]])'],
  [`style has Sales.Pattern'Yellow' or x`, '(or (has style Enum:Yellow) x)'],
  [`a eq {"b":"c","d":[1,{}],"@e.f": null }`, '(eq a {b:"c" d:[Int32:1 {}] @e.f:null})'],
  // Calls.
  [`Contains(name, 'x')`, '(contains() name "x")'],
  ['now( ) gt mindatetime()', '(gt (now()) (mindatetime()))'],
  [
    `geo.distance(p,geography'SRID=4326;Point(1 2)') lt 3`,
    '(lt (geo.distance() p Geography:Point(1 2)) Int32:3)',
  ],
  ['cast(a,Edm.String) eq cast(Model.T)', '(eq (cast a Edm.String) (cast - Model.T))'],
  [
    `isof(a,'Edm.Int32') or isof(Collection(Edm.String))`,
    '(or (isof a Edm.Int32) (isof - Collection(Edm.String)))',
  ],
  [
    'case(x gt 0:1,x lt 0 : -1,true:0) eq 1',
    '(eq (case (gt x Int32:0):Int32:1 (lt x Int32:0):Int32:-1 Boolean:true:Int32:0) Int32:1)',
  ],
  [`Model.Near(Where=@w,Names=["a"])/Name eq 'x'`, '(eq (model.near() @w ["a"])/Name "x")'],
  [`substringof('a',name) eq true`, '(eq (substringof() "a" name) Boolean:true)'],
]

t.test('expressions are read by the table of precedence', async t => {
  for (const [text, tree] of expressions) {
    const expression = parseFilter(text)
    t.equal(shown(expression), tree, text)
    t.ok(expression.span.from <= 2 && expression.span.to >= text.length - 2, `the span of ${text}`)
  }
  t.match(parseExpression('1e3', '@a'), {
    of: 'Edm.Double',
    value: 1000,
    text: '1e3',
    span: { from: 0, to: 3 },
  })
  t.match(parseExpression('-5L', '@a'), { value: -5, text: '-5' })
  t.match(parseExpression(`n.T'a'`, '@a'), { value: 'a', text: `n.T'a'` })
  t.match(parseFilter('a eq -bc'), { right: { type: 'negate', span: { from: 5, to: 8 } } })
  t.equal(durationSeconds('P1DT'), 86_400)
  t.equal(durationSeconds('+P1D'), 86_400)
  t.equal(durationSeconds('P1Y'), undefined)
})

t.test('the other options of expressions', async t => {
  const orders = parseOrderBy(`a, b/c DESC,length(d) asc,e eq 1`)
  t.strictSame(
    orders.map(({ expression, descending }) => [shown(expression), descending]),
    [
      ['a', false],
      ['b/c', true],
      ['(length() d)', false],
      ['(eq e Int32:1)', false],
    ],
  )
  t.strictSame(orders[1]?.span, { from: 3, to: 11 })
  t.strictSame(
    parseCompute('a div 2 as half,b as c').map(({ expression, name }) => [shown(expression), name]),
    [
      ['(div a Int32:2)', 'half'],
      ['b', 'c'],
    ],
  )
  const selected = parseSelect(`a, b/c,*,M.*,@x.y,tags(@q=1;$filter=$this eq ')';top=1)`)
  t.strictSame(
    selected.map(item => item.path.join('/')),
    ['a', 'b/c', '*', 'M.*', '@x.y', 'tags'],
  )
  t.strictSame(
    selected.at(-1)?.options.map(({ clause, ...option }) => option),
    [
      { name: '@q', text: '1', span: { from: 26, to: 27 } },
      { name: '$filter', text: "$this eq ')'", span: { from: 36, to: 48 } },
      { name: 'top', text: '1', span: { from: 53, to: 54 } },
    ],
  )
  t.match(
    selected.at(-1)?.options.map(({ clause }) => clause),
    [null, { type: 'filter', expression: { type: 'binary', operator: 'eq' } }, { type: 'top', count: 1 }],
  )
  for (const wrong of ['a($top=-1)', 'a($count=1)', 'a($filter=b eq)', 'a($orderby=b up)'])
    t.throws(() => parseSelect(wrong), { code: 'ODataError' }, wrong)
  t.strictSame(
    parseExpand('*,a/b,*/$ref,c/$count($search=d),e($expand=f($top=1);$levels=max),$value').map(item => [
      item.path.join('/'),
      item.options.map(option => option.text).join('|'),
    ]),
    [
      ['*', ''],
      ['a/b', ''],
      ['*/$ref', ''],
      ['c/$count', 'd'],
      ['e', 'f($top=1)|max'],
      ['$value', ''],
    ],
  )
})

t.test('searches: NOT before AND before OR, and words that are no operators', async t => {
  const cases: readonly (readonly [text: string, tree: string])[] = [
    ['blue', 'blue'],
    [" Turin*  O'Neil ", "(and Turin* O'Neil)"],
    ['a AND b OR NOT c d', '(or (and a b) (and (not c) d))'],
    ['a OR b AND c', '(or a (and b c))'],
    ['(a OR b) (c "d e")', '(and (or a b) (and c "d e"))'],
    ['NOT (a b)', '(not (and a b))'],
    ['NOT NOT', '(not NOT)'],
    ['OR AND', '(and OR AND)'],
    ['AND OR NOT', '(or AND NOT)'],
    ['a and b', '(and a and b)'],
    ['a OR', '(and a OR)'],
    ['(NOT)', 'NOT'],
    ['"a\\"b\\\\" c', '(and "a\\"b\\\\" c)'],
    [`'"blue" "green'`, '"blue green"'],
    ['a;b', 'a;b'],
  ]
  for (const [text, tree] of cases) t.equal(shownSearch(parseSearch(text)), tree, text)
})

t.test('transformations', async t => {
  const cases: readonly (readonly [text: string, tree: string])[] = [
    ['aggregate($count as n)', 'aggregate n=count:*'],
    [
      'aggregate((a sub b) mul c with sum as t, d/e with CountDistinct as u,f with M.x as v)',
      'aggregate t=sum:(mul (sub a b) c) u=countdistinct:d/e v=M.x:f',
    ],
    ['aggregate(tags/$count as n)', 'aggregate n=count:(count tags)'],
    ['aggregate(a with sum from b,c with average as d)', 'other aggregate from'],
    ['groupby((a,b/c))', 'groupby [a b/c] {}'],
    [
      'groupby( ( rollup(a,b) , c ) , aggregate(d with max as e)/filter(e gt 1))',
      'groupby rollup [a b c] {aggregate e=max:d | filter (gt e Int32:1)}',
    ],
    [
      'filter(a eq 1)/search(b OR c)/compute(a mul 2 as d)',
      'filter (eq a Int32:1) | search (or b c) | compute d=(mul a Int32:2)',
    ],
    ['orderby(a desc,b)/skip(3)/top(5)', 'orderby a desc b | skip 3 | top 5'],
    ['topcount($these/$count div 10,a)', 'topcount (div (count $these) Int32:10) a'],
    ['concat(identity,bottomsum(15,a)/identity)', 'concat {identity} {bottomsum Int32:15 a | identity}'],
    [`ancestors($root/S,H,ID,filter(a eq ')'),keep start)/M.f(x=1)`, 'other ancestors | other m.f'],
  ]
  for (const [text, tree] of cases) t.equal(parseApply(text).map(shownStep).join(' | '), tree, text)
})

function shownKey(key: KeyPredicate | 'empty' | null): string {
  if (key === null || key === 'empty') return key ?? ''
  switch (key.type) {
    case 'value':
      return shown(key.literal)
    case 'raw':
      return `raw ${key.text}`
    case 'alias':
      return key.name
    case 'named':
      return key.parts.map(({ name, value }) => `${name}=${shown(value)}`).join(' ')
    default:
      return key satisfies never
  }
}

function shownSegment(segment: PathSegment): string {
  switch (segment.type) {
    case 'name':
      return segment.key === null ? segment.name : `${segment.name}[${shownKey(segment.key)}]`
    case '$filter':
      return `$filter ${shown(segment.expression)}`
    case '$crossjoin':
      return `$crossjoin ${segment.names.join(' ')}`
    default:
      return segment.type
  }
}

t.test('paths: split before they are decoded, keys in every form', async t => {
  const cases: readonly (readonly [raw: string, segments: string])[] = [
    ['', ''],
    ['/', ''],
    ['doc-a@b/', 'doc-a@b'],
    ['$metadata/', '$metadata'],
    ['cities/$count', 'cities $count'],
    [`cities('r1')/tags/$count`, 'cities["r1"] tags $count'],
    ['cities%28%27O%27%27Neil%27%29/name/$value', `cities["O'Neil"] name $value`],
    [`cities('a%2Fb%20)(')`, 'cities["a/b )("]'],
    [`cities('a=b,c')`, 'cities["a=b,c"]'],
    [`cities(recordid='r1')`, 'cities[recordid="r1"]'],
    [`cities( a='x,''' , b=@k)`, `cities[a="x,'" b=@k]`],
    ['cities(a=5)', 'cities[a=Int32:5]'],
    ['cities(@k)', 'cities[@k]'],
    ['cities(a09667-c8)', 'cities[raw a09667-c8]'],
    ['cities(23%3A59:59)', 'cities[raw 23:59:59]'],
    ['cities(1)', 'cities[raw 1]'],
    [`cities(duration'PT1S')`, 'cities[Duration:1]'],
    ['cities()', 'cities[empty]'],
    ['a//b', 'a  b'],
    [
      `cities/$filter(tags/any(t:t eq ')/(') and a/b%20gt 1)/$count`,
      'cities $filter (and (any tags t (eq t ")/(")) (gt a/b Int32:1)) $count',
    ],
    ['$crossjoin(a,b)', '$crossjoin a b'],
  ]
  for (const [raw, segments] of cases) t.equal(parsePath(raw).map(shownSegment).join(' '), segments, raw)
  t.strictSame(
    parsePath('a%20b/c').map(({ span }) => span),
    [
      { from: 0, to: 3 },
      { from: 4, to: 5 },
    ],
  )
})

t.test('a plus sign is a blank where it is no sign', async t => {
  const cases: readonly (readonly [raw: string, text: string])[] = [
    [`startswith(name,+'City+14')`, `startswith(name, 'City 14')`],
    ['a+add+5+gt+-2', 'a add 5 gt -2'],
    ['a+gt+1e+5', 'a gt 1e+5'],
    [`a+eq+'1e+5'`, `a eq '1e 5'`],
    ['a+eq++5', 'a eq +5'],
    ['a+in+(+5,+6)', 'a in (+5,+6)'],
    ['a+gt+2024-01-01T10:00+01:00', 'a gt 2024-01-01T10:00+01:00'],
    [
      `a+gt+datetimeoffset'2024-01-01T10%3A00:00.5+01:00'`,
      `a gt datetimeoffset'2024-01-01T10:00:00.5+01:00'`,
    ],
    ['application/atom+xml', 'application/atom+xml'],
    ['a%2Bb%E2%82%AC%F0%9F%98%80', 'a+b€😀'],
  ]
  for (const [raw, text] of cases) t.equal(decodeOption(raw), text, raw)
  t.equal(decodeLiterally('a+b%20c'), 'a+b c')
  t.equal(decodeSearch('a+%22b;c%22+d%3Be'), 'a "b;c" d;e')
})

type Reader = (text: string) => unknown

t.test('what cannot be read is told with its place', async t => {
  const cases: readonly (readonly [read: Reader, text: string, from: number, message: RegExp])[] = [
    [parseFilter, '', 0, /^\$filter, position 1: unexpected end, expected a value or a name\.$/],
    [parseFilter, 'name eq', 7, /position 8: unexpected end, expected a value or a name after eq/],
    [parseFilter, `name eq 'a')`, 11, /unexpected \), expected an operator/],
    [parseFilter, '(a eq 1', 7, /unexpected end, expected more, such as a closing parenthesis/],
    [parseFilter, `name eq 'a`, 8, /expected a quote that closes the string/],
    [parseFilter, 'name eq "a"', 8, /unexpected ", expected a string between single quotes/],
    [parseFilter, `name = 'a'`, 5, /unexpected =, expected an operator by its name, such as eq/],
    [parseFilter, 'a && b', 2, /unexpected &/],
    [parseFilter, `contains (a,'x')`, 9, /expected the parenthesis directly after the name/],
    [parseFilter, ' a', 0, /unexpected blank/],
    [parseFilter, 'a eq \u0001', 5, /unexpected control character/],
    [parseFilter, 'a eq1', 2, /unexpected eq1/],
    [parseFilter, 'a in (b,c)', 6, /a list between parentheses has literals only/],
    [parseFilter, 'a in(b,c)', 5, /a list between parentheses has literals only/],
    [parseFilter, 'tags/all()', 9, /unexpected \)/],
    [parseFilter, 'all(t:true)', 0, /unexpected all/],
    [parseFilter, 'a eq 2024-02-32', 5, /2024-02-32 is no date/],
    [parseFilter, 'a eq 2024-01-10T24:00:00Z', 5, /is no date with a time/],
    [parseFilter, 'a eq 24:00', 5, /is no time of day/],
    [parseFilter, `a eq x'0'`, 5, /is no binary value/],
    [parseFilter, `a eq foo'0'`, 5, /has a prefix that no type of literals has/],
    [parseFilter, `a eq duration'P1Y'`, 5, /is no duration/],
    [parseFilter, `a eq geography'Point(1)'`, 5, /is no geometry/],
    [parseFilter, `a eq geometry'SRID=3857;Point(1 2)'`, 5, /is no geometry of degrees/],
    [parseFilter, '1.5L eq a', 0, /is no whole number/],
    [parseFilter, '$foo eq 1', 0, /unexpected \$foo, expected \$it/],
    [parseFilter, 'a/$value eq 1', 2, /unexpected \$value/],
    [parseFilter, 'a/$count($filter=b;$filter=c) gt 1', 19, /was there before/],
    [parseFilter, 'cast(a,b,c)', 0, /cast takes a type/],
    [parseFilter, `a eq [ "\\x" ]`, 7, /that JSON does not have/],
    [parseFilter, `${'x'.repeat(129)} eq 1`, 0, /is no identifier/],
    [parseOrderBy, 'name sideways', 5, /\$orderby, position 6: unexpected sideways/],
    [parseCompute, 'a as b.c', 5, /unexpected b/],
    [parseSelect, '', 0, /expected a name/],
    [parseSelect, 'a(b)', 2, /no option, expected its name and =/],
    [parseExpand, 'a/$foo', 2, /expected \$ref or \$count/],
    [parseSearch, '', 0, /\$search, position 1: unexpected end, expected a word or a phrase/],
    [parseSearch, 'a AND (', 7, /unexpected end/],
    [parseSearch, 'a(b)', 1, /unexpected \(, expected white space/],
    [parseSearch, '"a', 0, /a phrase that is not closed/],
    [parseSearch, '""', 0, /a phrase without words/],
    [text => decodeSearch(text), 'a;b', 1, /expected %3B/],
    [parseApply, 'aggregate(a)', 10, /a figure needs a name/],
    [parseApply, 'aggregate($count with sum as n)', 22, /\$count goes without a method/],
    [parseApply, 'aggregate(a with up as b)', 17, /up is no method/],
    [parseApply, 'top(-1)', 4, /is no number of records/],
    [parseApply, 'foo(a)', 0, /foo is no transformation/],
    [parseApply, 'all', 0, /unexpected all, expected a transformation/],
    [parsePath, `cities('a/b')`, 0, /parentheses do not match/],
    [parsePath, 'cities(id=wrong)', 10, /wrong is no literal/],
    [parsePath, `cities('a'b)`, 3, /^key/],
    [parsePath, 'a=1/cities(a=1,a=2)', 11, /a was there before/],
    [parsePath, 'a%2', 1, /expected %25/],
    [parsePath, 'a%FF', 0, /not UTF-8/],
    [parseFilter, 'x'.repeat(20_001), 20_000, /20001 characters are too many, at most 20000 are read/],
    [parseFilter, `${'('.repeat(9000)}a${')'.repeat(9000)}`, 200, /nested deeper than 200 levels/],
    [parseFilter, `${'a add '.repeat(300)}a`, 0, /nested deeper than 200 levels/],
    [parseFilter, `a${'/a'.repeat(300)}`, 0, /nested deeper than 200 levels/],
    [parseFilter, `a${' in (1)'.repeat(300)}`, 0, /nested deeper than 200 levels/],
    [parseSearch, `${'NOT '.repeat(4000)}a`, 800, /nested deeper than 200 levels/],
    [parseApply, `${'concat(identity,'.repeat(300)}identity${')'.repeat(300)}`, 3207, /nested deeper/],
  ]
  for (const [read, text, from, message] of cases) {
    const fault = faultOf(() => read(text))
    t.match(fault, { code: 'ODataError', status: 400, message, place: { from } }, text.slice(0, 40))
  }
})

function faultOf(run: () => unknown): Fault | undefined {
  try {
    run()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  return undefined
}

t.test('hostile texts of the greatest length are answered at once', async t => {
  const pieces = [
    '(',
    'a or ',
    'not ',
    '-',
    '[',
    '{"a":',
    "'",
    '"',
    'f(',
    'tags/any(t:',
    'a/$count($search=',
    '\t',
    '1,',
  ]
  const readers: readonly Reader[] = [
    parseFilter,
    parseOrderBy,
    parseSelect,
    parseExpand,
    parseSearch,
    parseApply,
    parsePath,
  ]
  const began = performance.now()
  for (const piece of pieces)
    for (const read of readers) faultOf(() => read(piece.repeat(20_000 / piece.length)))
  faultOf(() => decodeOption('1e+'.repeat(40_000)))
  parseSearch(`a${' '.repeat(19_990)}b`)
  t.match(
    faultOf(() => parseSearch(`"${'\\'.repeat(1000)}`)),
    /a phrase that is not closed/,
    'a phrase of backslashes that does not end: each could be one alone or a half of two',
  )
  t.match(parseSearch('"a\\b \\"c\\" \\\\"'), { text: 'a\\b "c" \\' }, 'and those of one that ends')
  t.ok(performance.now() - began < 10_000)
  t.equal(shown(parseFilter(`${'a or '.repeat(3999)}a`)).length, 4000 + 3999 * 6)
})

/** Pseudo-random whole numbers below a bound, the same in every run. */
function generator(seed: number): (bound: number) => number {
  let state = seed
  return bound => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >>> 8) % bound
  }
}

const LEVELS = [
  ['or'],
  ['and'],
  ['eq', 'ne'],
  ['gt', 'ge', 'lt', 'le'],
  ['add', 'sub'],
  ['mul', 'div', 'mod'],
]
const LEAVES = [
  'a',
  'b/c',
  '5',
  `'it''s'`,
  'null',
  '2020-01-01',
  '@p',
  'tags/any(t:t eq 1)',
  'length(a)',
  '[1,"x"]',
]

t.test('random expressions are read as they were made', async t => {
  const below = generator(7)
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T
  const blank = () => pick([' ', ' ', '  ', '\t'])
  /** A text of a level of precedence or a higher one, and its tree. */
  const make = (level: number, depth: number): readonly [text: string, tree: string] => {
    const operators = LEVELS[level]
    if (depth === 0 || (operators === undefined && below(3) === 0)) {
      const leaf = pick(LEAVES)
      return [leaf, shown(parseExpression(leaf, 'leaf'))]
    }
    if (operators === undefined) {
      const [text, tree] = make(0, depth - 1)
      if (below(2) === 0) return [`(${text})`, tree]
      return [`not${blank()}(${text})`, `(not ${tree})`]
    }
    if (below(3) > 0) return make(level + 1, depth)
    const operator = pick(operators)
    const [left, right] = [make(level, depth - 1), make(level + 1, depth - 1)]
    return [`${left[0]}${blank()}${operator}${blank()}${right[0]}`, `(${operator} ${left[1]} ${right[1]})`]
  }
  for (let round = 0; round < 500; round++) {
    const [text, tree] = make(0, 5)
    if (shown(parseFilter(text)) !== tree) t.equal(shown(parseFilter(text)), tree, text)
  }
  t.pass('500 expressions')
})
