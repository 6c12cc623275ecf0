import { Parser } from 'n3'
import oxigraph from 'oxigraph'
import t from 'tap'
import { jsonldText } from '../src/formats/jsonld-forms.ts'
import { turtle, turtleText } from '../src/formats/turtle.ts'
import { numberText } from '../src/model/number.ts'
import { tokens } from '../src/model/search.ts'
import { parseWkt } from '../src/model/wkt.ts'
import { iriSafe, isIri, normaliseEscapes } from '../src/rdf/iri-syntax.ts'
import { isLanguageTag } from '../src/rdf/literals.ts'
import { iriText, literalText, termText } from '../src/rdf/ntriples.ts'
import { parseTerm, parseTriples } from '../src/rdf/ntriples-reader.ts'
import { XSD } from '../src/rdf/vocab.ts'

const NTRIPLES = 'application/n-triples'

/** What the store gives back for one object. */
function stored(object: string): string {
  const store = new oxigraph.Store()
  store.load(`<http://s> <http://p> ${object} .\n`, { format: NTRIPLES })
  const text = store.query('CONSTRUCT WHERE { ?s ?p ?o }', { results_format: NTRIPLES }) as string
  return text.replace(/^<http:\/\/s> <http:\/\/p> /, '').replace(/ \.\n$/, '')
}

function isAccepted(line: string): boolean {
  try {
    new oxigraph.Store().load(line, { format: NTRIPLES })
    return true
  } catch {
    return false
  }
}

const CONTROLS = String.fromCharCode(...Array.from({ length: 0x20 }, (_, code) => code), 0x7f)
const TEXTS: Readonly<Record<string, string>> = {
  empty: '',
  plain: 'Qarqīn',
  controls: CONTROLS,
  'quotes and backslashes': '"a\\"b\\\\',
  'line ends': 'a\r\nb\tc',
  'what looks like an escape': '\\u0022 \\n \\',
  noncharacters: '\ufffe\uffff\ufeff',
  emoji: '😀 \u{10ffff}',
  separators: '\u0085\u2028\u2029',
}

t.test('a text comes back from the store, and from other readers, as it went in', async t => {
  for (const [name, text] of Object.entries(TEXTS)) {
    const literal = literalText(text)
    t.equal(stored(literal), literal, `${name}: the store`)
    t.strictSame(
      parseTerm(literal),
      { type: 'literal', value: text, datatype: XSD.string, language: '' },
      name,
    )
    const [row] = new oxigraph.Store().query(`SELECT (${literal} AS ?x) {}`) as Map<
      string,
      { value: string }
    >[]
    t.equal(row?.get('x')?.value, text, `${name}: in SPARQL`)
    const [quad] = new Parser({ format: NTRIPLES }).parse(`<http://s> <http://p> ${literal} .`)
    t.equal(quad?.object.value, text, `${name}: N3`)
  }
  t.equal(literalText('a\ud800b\udc00'), '"a\ufffdb\ufffd"', 'a lone surrogate becomes U+FFFD')
})

t.test('a double is written in the form in which the store keeps it', async t => {
  const written: readonly (readonly [number, string])[] = [
    [1e21, '1000000000000000000000'],
    [1e-7, '0.0000001'],
    [-1.5e-7, '-0.00000015'],
    [48.8566, '48.8566'],
    [0.1 + 0.2, '0.30000000000000004'],
    [5e-324, `0.${'0'.repeat(323)}5`],
    [1.7976931348623157e308, `17976931348623157${'0'.repeat(292)}`],
    [0, '0'],
    [-42, '-42'],
  ]
  for (const [value, text] of written) t.equal(numberText(value), text)
  // Half-way between two shortest forms: the store rounds up where ECMAScript takes the even digit.
  const ties = [
    2 ** -15 + 123,
    2039745560710264.2,
    -616824060162968.2,
    2 ** -20 + 2 ** -23,
    1.5 * 2 ** -20 + 2 ** -23,
  ]
  let seed = 1
  const random = () => {
    seed = (seed * 48271) % 2147483647
    return seed / 2147483647
  }
  const values = [...written.map(([value]) => value), ...ties]
  for (let i = 0; i < 3000; i++) {
    values.push((random() - 0.5) * 10 ** Math.floor(random() * 40 - 20))
    values.push(Math.fround((random() - 0.5) * 1000))
    values.push((Math.floor(random() * 2 ** 20) * 2 + 1) * 2 ** Math.floor(random() * 120 - 70))
    values.push(1 + Math.floor(random() * 16) + 2 ** -Math.floor(random() * 50))
  }
  const lines = values.map(value => `<http://s> <http://p> ${literalText(numberText(value), XSD.double)} .`)
  const store = new oxigraph.Store()
  store.load(lines.join('\n'), { format: NTRIPLES })
  const back = new Set(
    (store.query('CONSTRUCT WHERE { ?s ?p ?o }', { results_format: NTRIPLES }) as string).split('\n'),
  )
  t.strictSame(
    lines.filter(line => !back.has(line)),
    [],
    `${lines.length} doubles come back equal`,
  )
  t.ok(
    values.every(value => Number(numberText(value)) === value),
    'each reads as the number that it was',
  )
})

t.test('an IRI is what the store takes for one', async t => {
  const pieces = [
    'a',
    'é',
    '/',
    '//',
    '?',
    '#',
    '%41',
    '%zz',
    '@',
    ':',
    '[::1]',
    '[',
    '80',
    '|',
    '{',
    '\u{e000}',
    '\u{fffe}',
    '~',
    "'",
  ]
  const heads = ['http://a', 'urn:x:', 'http:', 'a', 'x:', 'http://a/']
  const texts: string[] = [
    'http://a/é?q#f',
    'mailto:a@b.c',
    'http://a b',
    'http://a/"',
    '',
    'a',
    '1a:b',
    'http://[1:2::3]/',
  ]
  for (const head of heads)
    for (const one of pieces) for (const two of pieces) texts.push(head + one + two, `${head}${one}/${two}`)
  const wrong = texts.filter(text => isIri(text) !== isAccepted(`<${text}> <http://p> "x" .`))
  t.strictSame(wrong, [], `${texts.length} texts`)
  t.throws(() => iriText('http://a> <b'), RangeError)
})

t.test('a language tag is what the store takes for one', async t => {
  const parts = [
    'en',
    'GB',
    'Latn',
    'x',
    'a',
    '1',
    '419',
    '1a2b',
    'abcde',
    'abcdefghi',
    'i',
    'klingon',
    'zh',
    'min',
    '_',
    '',
  ]
  const tags = parts.flatMap(one => [
    one,
    ...parts.flatMap(two => parts.map(three => `${one}-${two}-${three}`)),
  ])
  const wrong = tags.filter(tag => isLanguageTag(tag) !== isAccepted(`<http://s> <http://p> "x"@${tag} .`))
  t.strictSame(wrong, [], `${tags.length} tags`)
})

t.test('templates are IRI-safe and requests have one spelling', async t => {
  const safe: Readonly<Record<string, string>> = {
    'Hello World!': 'Hello%20World%21',
    'Zoë Krüger': 'Zoë%20Krüger',
    '2011-08-23T22:17:00Z': '2011-08-23T22%3A17%3A00Z',
    'a/b': 'a%2Fb',
    '\ud800': '%EF%BF%BD',
  }
  for (const [text, expected] of Object.entries(safe)) {
    t.equal(iriSafe(text), expected)
    t.equal(
      normaliseEscapes(encodeURIComponent(iriSafe(text).replace(/%../g, ''))),
      iriSafe(text).replace(/%../g, ''),
    )
  }
  t.equal(normaliseEscapes('http://a/%C3%A9%e9%2f%41%20%E2%82%AC%f0%9f%98%80'), 'http://a/é%E9%2FA%20€😀')
  t.equal(normaliseEscapes('http://a/%ED%A0%80%C0%AF'), 'http://a/%ED%A0%80%C0%AF', 'what is no UTF-8 stays')
})

t.test('what is no N-Triples is refused', async t => {
  const lines = [
    '<http://s> <http://p> "x"',
    '<http://s> "p" "x" .',
    '"s" <http://p> "x" .',
    '<http://s> <http://p> "x .',
    '<a b> <http://p> "x" .',
    '<http://s> <http://p> "x"@ .',
    '<http://s> <http://p> "\\x" .',
    '<http://s> <http://p> "x" . <http://s>',
  ]
  for (const line of lines) t.throws(() => [...parseTriples(line)], SyntaxError, line)
  t.equal(
    [...parseTriples('# a\r\n\r\n<http://s>\t<http://p> _:b1.\r\n')].length,
    1,
    'comments, blanks and CRLF are read',
  )
  for (const label of ['0', 'a.b', '\u00e9', '\u{1f600}a', 'a\u203fb\u20acc'])
    t.equal([...parseTriples(`_:${label} <http://p> _:${label} .`)][0]?.object.value, label)
  const long = `<http://s> <http://p> ${literalText('\\"'.repeat(500_000))} .\n`
  t.equal([...parseTriples(long)][0]?.object.value.length, 1_000_000, 'a long literal')
})

const BASE = 'http://localhost:8080'
const PREFIXES = {
  f: `${BASE}/ld/ontologies/x/`,
  r: `${BASE}/ld/resources/x/records/`,
  xsd: 'http://www.w3.org/2001/XMLSchema#',
}
const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const SAMPLE = [
  ...Object.values(TEXTS).map(
    text => `<${BASE}/ld/resources/x/records/1> <${BASE}/ld/ontologies/x/name> ${literalText(text)} .`,
  ),
  `<${BASE}/ld/resources/x/records/1> <${RDF_TYPE}> <http://x/Class> .`,
  `<${BASE}/ld/resources/x/records/1> <${BASE}/ld/ontologies/x/_2020> ${literalText('42', XSD.integer)} .`,
  `<${BASE}/ld/resources/x/records/1> <${BASE}/ld/ontologies/x/_2020> ${literalText('-7', XSD.integer)} .`,
  `<${BASE}/ld/resources/x/records/1> <${BASE}/ld/ontologies/x/b> ${literalText('true', XSD.boolean)} .`,
  `<${BASE}/ld/resources/x/records/1> <${BASE}/ld/ontologies/x/d> ${literalText('48.8566', XSD.double)} .`,
  `<${BASE}/ld/resources/x/records/2> <${BASE}/ld/ontologies/x/a.b> ${literalText('1.5', XSD.decimal)} .`,
  `<${BASE}/ld/resources/x/records/2> <${BASE}/ld/ontologies/x/a%20b> ${literalText('"^^<x', XSD.string)} .`,
  `<${BASE}/ld/resources/x/records/2> <${BASE}/ld/ontologies/x/l> ${literalText('chat', XSD.string, 'fr-be')} .`,
  `<${BASE}/ld/resources/x/records/2> <${BASE}/ld/ontologies/x/> <${BASE}/ld/ontologies/x/-a> .`,
  `<${BASE}/ld/resources/x/records/2> <${BASE}/ld/ontologies/x/o> <http://other/é~'()> .`,
  `<urn:x:y> <http://p> ${literalText('"^^<http://trap>')} .`,
].map(line => `${line}\n`)

const canonical = (text: string, format: string) =>
  new Parser({ format })
    .parse(text)
    .map(({ subject, predicate, object }) => {
      const literal = object as { datatype?: { value: string }; language?: string }
      return JSON.stringify([
        subject.value,
        predicate.value,
        object.termType,
        object.value,
        literal.datatype?.value,
        literal.language,
      ])
    })
    .sort()

t.test('Turtle says what the N-Triples said', async t => {
  const triples = SAMPLE.join('')
  const whole = turtleText(triples, PREFIXES)
  t.strictSame(canonical(whole, 'text/turtle'), canonical(triples, NTRIPLES))
  t.match(whole, 'r:1 f:name ')
  t.match(whole, ' a <http://x/Class> ;')
  t.match(whole, 'f:_2020 42, -7 ;')
  t.match(whole, 'f:d "48.8566"^^xsd:double')
  const read = new oxigraph.Store()
  read.load(whole, { format: 'text/turtle' })
  t.equal(read.size, SAMPLE.length, 'the store reads it too')
  let streamed = ''
  for await (const text of turtle(
    (async function* () {
      yield* SAMPLE
    })(),
    PREFIXES,
  ))
    streamed += text
  t.equal(streamed, whole, 'the same in pieces of one triple')
})

t.test('JSON-LD says what the N-Triples said', async t => {
  const triples = SAMPLE.join('')
  const store = new oxigraph.Store()
  store.load(jsonldText(triples, PREFIXES.f), { format: 'application/ld+json' })
  const back = store.query('CONSTRUCT WHERE { ?s ?p ?o }', { results_format: NTRIPLES }) as string
  t.strictSame(canonical(back, NTRIPLES), canonical(triples, NTRIPLES))
})

t.test('terms are read as they are written', async t => {
  for (const { object } of parseTriples(SAMPLE.join(''))) t.strictSame(parseTerm(termText(object)), object)
})

t.test('words of full-text search', async t => {
  const words: readonly (readonly [string, readonly string[]])[] = [
    ["L'Été à Nîmes", ['l', 'ete', 'a', 'nimes']],
    ['e\u0301té', ['ete']],
    ['ŒUVRE İstanbul ΟΔΟΣ ﬁn', ['oeuvre', 'istanbul', 'οδοσ', 'fin']],
    [
      "L'Œuvre STRAẞE Łódź Søren Ægir Þór ǽ",
      ['l', 'oeuvre', 'strasse', 'lodz', 'soren', 'aegir', 'thor', 'ae'],
    ],
    ['foo_bar-12.5', ['foo', 'bar', '12', '5']],
    ['東京 2020年', ['東京', '京', '2020', '年']],
    ['京都市', ['京都', '都市', '市']],
    ['ハリ パリ ﾊﾟﾘ', ['ハリ', 'リ', 'パリ', 'リ', 'パリ', 'リ']],
    ['서울시 ไทย', ['서울', '울시', '시', 'ไท', 'ทย', 'ย']],
    ['مَكْتَبَة हिन्दी', ['مكتبة', 'हनद']],
    ['  ', []],
  ]
  for (const [text, expected] of words) t.strictSame(tokens(text), expected, text)
})

t.test('shapes in the form of publishing are read as the parser reads others', async t => {
  const ring = '0 0, 4.5 0, 4.5 -4.25, 0 0'
  const hole = '1 -0.5, 2 -0.30000000000000004, 2 -1, 1 -0.5'
  // A blank before the closing parenthesis is left to the parser.
  for (const text of [
    'LINESTRING(1 2, 3.50 -0.000001)',
    'MULTILINESTRING((1 2, 3 4), (5 6, 7 8, 123456789012345678 0))',
    `POLYGON((${ring}))`,
    `POLYGON ((${ring}), (${hole}))`,
    `MULTIPOLYGON(((${ring}), (${hole})), ((${ring})))`,
    'MULTIPOLYGON(((0 0, 1 1)))',
    'LINESTRING(1 2)',
    'LINESTRING(1 2, 3)',
    'LINESTRING(1 2, 3 4',
    'LINESTRING(1 2, 3 4) 5',
    'LINESTRING(1 2, 3 4 5)',
    'LINESTRING(1e3 2, 3 4)',
    'LINESTRING(1.2.3 2, 3 4)',
    'LINESTRING(1. 2, - 3)',
    'POLYGON EMPTY',
    `POLYGON((${ring}`,
    `POLYGON(${ring})`,
    `POLYGON(((${ring})))`,
    `MULTIPOLYGON((${ring}))`,
  ])
    t.same(parseWkt(text), parseWkt(text.replaceAll(')', ' )')), text)
  t.same(parseWkt(`POLYGON((${ring}))`), {
    type: 'Polygon',
    coordinates: [
      [
        [0, 0],
        [4.5, 0],
        [4.5, -4.25],
        [0, 0],
      ],
    ],
  })
  const ends = Array.from({ length: 5000 }, (_, at) => `${at} ${at % 90}`)
  const long = parseWkt(`LINESTRING(${ends.join(', ')})`)
  t.equal(long !== undefined && 'coordinates' in long && long.coordinates.length, 5000)
})
