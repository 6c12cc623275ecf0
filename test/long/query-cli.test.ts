import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { JsonLdParser } from 'jsonld-streaming-parser'
import { Parser } from 'n3'
import t from 'tap'
import { type ComunicaAnswer, type QueryFormat, writeQueryAnswer } from '../../src/cli/query/answer.ts'
import { querySources } from '../../src/cli/query/sources.ts'
import { comunicaFault, querySyntaxFault } from '../../src/cli/query.ts'
import type { RdfJsTerm } from '../../src/rdf/rdfjs.ts'
import { temporaryFolder } from '../support/folder.ts'
import { servePortal } from '../support/portal.ts'
import { freePort } from '../support/serving.ts'

/** `lodestone query`: sources, forms of answers, and the command as a process beside a portal that is served. */
const BINARY = path.resolve(import.meta.dirname, '../../bin/lodestone.js')
const XSD = 'http://www.w3.org/2001/XMLSchema#'

const iri = (value: string): RdfJsTerm => ({ termType: 'NamedNode', value })
const literal = (value: string, datatype = `${XSD}string`, language = ''): RdfJsTerm => ({
  termType: 'Literal',
  value,
  language,
  datatype: { value: datatype },
})

async function* each<Item>(items: readonly Item[]) {
  yield* items
}

function rowsAnswer(
  variables: readonly string[],
  rows: readonly (readonly (RdfJsTerm | undefined)[])[],
): ComunicaAnswer {
  const given = rows.map(row => ({ get: (name: string) => row[variables.indexOf(name)] }))
  return { type: 'rows', variables, rows: each(given) }
}

async function written(answer: ComunicaAnswer, format: QueryFormat | null, prefixes = {}): Promise<string> {
  let all = ''
  for await (const piece of writeQueryAnswer(answer, format, 'csv', prefixes)) all += piece
  return all
}

const KINDS = [
  [iri('http://x/1'), literal('a "b", c\n'), literal('12', `${XSD}integer`)],
  [{ termType: 'BlankNode', value: 'b0' }, literal('chat', undefined, 'fr'), undefined],
  [undefined, literal('日本'), literal('1.5E1', `${XSD}double`)],
] as const

t.test('SELECT results are written as CSV, TSV, JSON, XML and a table', async t => {
  const kinds = () => rowsAnswer(['s', 'text', 'n'], KINDS)
  const csv = 's,text,n\r\nhttp://x/1,"a ""b"", c\n",12\r\n_:b0,chat,\r\n,日本,1.5E1\r\n'
  t.equal(await written(kinds(), 'csv'), csv)
  t.equal(await written(kinds(), null), csv, 'the usual form')
  t.equal(
    await written(kinds(), 'tsv'),
    `?s\t?text\t?n\n<http://x/1>\t"a \\"b\\", c\\n"\t"12"^^<${XSD}integer>\n_:b0\t"chat"@fr\t\n\t"日本"\t"1.5E1"^^<${XSD}double>\n`,
  )
  t.strictSame(JSON.parse(await written(kinds(), 'json')), {
    head: { vars: ['s', 'text', 'n'] },
    results: {
      bindings: [
        {
          s: { type: 'uri', value: 'http://x/1' },
          text: { type: 'literal', value: 'a "b", c\n' },
          n: { type: 'literal', value: '12', datatype: `${XSD}integer` },
        },
        { s: { type: 'bnode', value: 'b0' }, text: { type: 'literal', value: 'chat', 'xml:lang': 'fr' } },
        {
          text: { type: 'literal', value: '日本' },
          n: { type: 'literal', value: '1.5E1', datatype: `${XSD}double` },
        },
      ],
    },
  })
  t.equal(
    await written(kinds(), 'table'),
    [
      's           text        n',
      '──────────  ─────────  ──',
      'http://x/1  a "b", c   12',
      '_:b0        chat',
      '            日本       15',
      '',
    ].join('\n'),
  )
  for (const format of ['table', 'csv', 'tsv'] as const)
    t.match(await written(rowsAnswer(['a'], []), format), /^\??a/, `${format} without rows`)
  t.strictSame(JSON.parse(await written(rowsAnswer(['a'], []), 'json')).results.bindings, [])
})

t.test('a table begins after a hundred rows and goes on as they come', async t => {
  const rows = Array.from({ length: 150 }, (_, at) => [
    literal(at === 120 ? 'x'.repeat(30) : 'abc'),
    literal('d'),
  ])
  const pieces: string[] = []
  for await (const piece of writeQueryAnswer(rowsAnswer(['one', 'two'], rows), 'table', 'csv', {}))
    pieces.push(piece)
  const described = pieces.filter(piece => piece !== '')
  t.equal(described.length, 51)
  t.equal(described[0]?.split('\n').length, 103)
  t.equal(described[1], 'abc  d\n')
  t.equal(described[21], `${'x'.repeat(30)}  d\n`)
  const long = await written(rowsAnswer(['a'], [[literal('y'.repeat(200))]]), 'table')
  t.ok(long.endsWith(`${'y'.repeat(59)}…\n`), 'long texts are cut')
})

const TRIPLES = [
  { subject: iri('http://x/1'), predicate: iri('http://x/ns#p'), object: literal('a "b"', undefined, 'en') },
  { subject: iri('http://x/1'), predicate: iri('http://x/ns#q'), object: iri('http://x/2') },
]

t.test('CONSTRUCT, DESCRIBE and ASK results are written in their formats', async t => {
  const triples = (): ComunicaAnswer => ({ type: 'triples', triples: each(TRIPLES) })
  const turtle = await written(triples(), null, { ns: 'http://x/ns#' })
  t.match(turtle, 'ns:p "a \\"b\\""@en ;\n  ns:q <http://x/2> .')
  t.equal(new Parser().parse(turtle).length, 2)
  t.equal(
    await written(triples(), 'ntriples'),
    '<http://x/1> <http://x/ns#p> "a \\"b\\""@en .\n<http://x/1> <http://x/ns#q> <http://x/2> .\n',
  )
  const parser = new JsonLdParser()
  parser.end(await written(triples(), 'json'))
  let quads = 0
  for await (const _ of parser) quads += 1
  t.equal(quads, 2)
  for (const format of ['csv', 'tsv', 'table'] as const)
    await t.rejects(async () => written(triples(), format), { code: 'Usage' })
  for (const format of ['turtle', 'ntriples'] as const)
    await t.rejects(async () => written(rowsAnswer([], []), format), { code: 'Usage' })
  t.equal(await written({ type: 'truth', value: true }, null), 'true\n')
  t.equal(await written({ type: 'truth', value: false }, 'json'), '{"head":{},"boolean":false}\n')
})

t.test('triple terms', async t => {
  const quad = (object: RdfJsTerm): RdfJsTerm => ({
    termType: 'Quad',
    value: '',
    subject: iri('http://x/s'),
    predicate: iri('http://x/p'),
    object,
  })
  const term = quad(quad(literal('a "b"')))
  const text = '<<( <http://x/s> <http://x/p> <<( <http://x/s> <http://x/p> "a \\"b\\"" )>> )>>'
  const rows = () => rowsAnswer(['t'], [[term]])
  t.equal(await written(rows(), 'tsv'), `?t\n${text}\n`)
  t.equal(await written(rows(), 'csv'), 't\r\n"http://x/s http://x/p http://x/s http://x/p a ""b"""\r\n')
  t.match(await written(rows(), 'table'), 'http://x/s http://x/p http://x/s http://x/p a "b"')
  const json = JSON.parse(await written(rows(), 'json'))
  t.strictSame(json.results.bindings[0].t.value.object.value.object, { type: 'literal', value: 'a "b"' })
  const triples = (): ComunicaAnswer => ({
    type: 'triples',
    triples: each([{ subject: iri('http://x/s'), predicate: iri('http://x/p'), object: term }]),
  })
  t.equal(await written(triples(), 'ntriples'), `<http://x/s> <http://x/p> ${text} .\n`)
  t.match(await written(triples(), 'turtle'), text)
  await t.rejects(written(triples(), 'json'), {
    code: 'Usage',
    message: /JSON-LD cannot hold the triple term/,
  })
})

t.test('sources of a command line', async t => {
  const base = 'http://portal.example'
  const at = (named: readonly string[], foreign: readonly string[] = [], protocol = 'fragments' as const) =>
    querySources(named, foreign, { base, protocol })
  const fragments = (id: string) => ({ type: 'qpf', value: `${base}/api/tpf/${id}` })
  t.strictSame(at(['a,b', 'c,a']), ['a', 'b', 'c'].map(fragments))
  t.strictSame(at(['http://x/a,b']), ['http://x/a,b'])
  t.strictSame(at(['a'], ['http://x/f.ttl', 'sparql@http://x/s', 'http://me@x/']), [
    fragments('a'),
    'http://x/f.ttl',
    { type: 'sparql', value: 'http://x/s' },
    'http://me@x/',
  ])
  t.strictSame(querySources(['a'], [], { base, protocol: 'brtpf' }), [
    { type: 'brtpf', value: `${base}/api/tpf/a` },
  ])
  t.strictSame(querySources(['a'], [], { base, protocol: 'sparql' }), [`${base}/api/sparql/a`])
  t.throws(() => at([',']), { code: 'Usage' })
})

t.test('failures in one line', async t => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [new Error('Could not\n  do\n it'), /failed: Could not do it$/],
    [new Error('fetch failed', { cause: new Error('refused') }), /failed: fetch failed: refused$/],
    [new Error(`http://x/${'y'.repeat(9000)} (status 400)`), /failed: http:\/\/x\/y{111}… \(status 400\)$/],
    ['text', /failed: text$/],
  ]
  for (const [error, message] of cases) {
    const fault = comunicaFault(error)
    t.equal(fault.code, 'BadGateway')
    t.match(fault.message, message)
  }
  const fault = await querySyntaxFault(new Error('unexpected character: ->x<- at offset: 9'), 'SELECT\n  x')
  t.equal(fault.code, 'Usage')
  t.match(fault.message, 'cannot be read: line 2, column 3: x was found but *, a variable or ( is expected')
  for (const [query, described] of [
    [
      'SELECT * {\n ?s ex:p ?o }',
      'line 2, column 5: the prefix ex: is not declared: PREFIX ex: <…> is expected',
    ],
    [
      'SELECT * { ?s ?p ?o',
      'line 1, column 20: the query ends but a full stop, a semicolon, a comma, another',
    ],
    [
      'SELECT * { ?s ?p ?o } LIMT 1',
      'line 1, column 23: LIMT was found but GROUP BY, HAVING, ORDER BY, LIMIT,',
    ],
  ] as const) {
    const { message } = await querySyntaxFault(new Error('Parse error\nExpecting: <[Var1]>'), query)
    t.match(message, described)
  }
})

/** A portal of two datasets, and a file of another server. */
async function servers() {
  const plants = Array.from({ length: 700 }, (_, i) => `${i},plant ${i},${i % 3}`)
  const portal = temporaryFolder(t, {
    'portal.yaml': 'title: Small\n',
    data: {
      plants: {
        'rows.csv': `id,name,stone\n${plants.join('\n')}\n`,
        'dataset.yaml':
          'source: { path: rows.csv }\nfields: [{ name: id, type: int }, { name: name, type: text }, { name: stone, type: int }]\n',
      },
      stones: {
        'rows.csv': 'id,word\n0,flint\n1,slate\n',
        'dataset.yaml':
          'source: { path: rows.csv }\nfields: [{ name: id, type: int }, { name: word, type: text }]\n',
      },
    },
  })
  const foreign = createServer((_, response) => {
    response.setHeader('content-type', 'text/turtle')
    response.end('<http://x/flint> <http://x/word> "flint" ; <http://x/hard> 7 .')
  }).listen(0)
  await once(foreign, 'listening')
  t.teardown(() => foreign.close())
  const port = await freePort()
  const base = `http://localhost:${port}`
  await servePortal(t, { portal, base, port })
  return { portal, base, file: `http://localhost:${(foreign.address() as AddressInfo).port}/stones.ttl` }
}

t.test('lodestone query as a process: exit codes, streams, signals', async t => {
  const { portal, base, file } = await servers()
  const run = async (args: readonly string[], input?: string) => {
    const child = spawn(process.execPath, [BINARY, 'query', ...args, '--base', base, '--portal', portal])
    child.stdin.end(input ?? '')
    const ended = once(child, 'close')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { code: (await ended)[0] as number, stdout, stderr }
  }
  const alone = spawn(process.execPath, [BINARY, 'query', `${base}/api/tpf/stones`, 'ASK { ?s ?p ?o }'], {
    cwd: path.join(portal, 'data'),
  })
  t.equal(await text(alone.stdout), 'true\n', 'addresses need no portal')
  const at = `PREFIX plants: <${base}/ld/ontologies/plants/> PREFIX stones: <${base}/ld/ontologies/stones/>`
  const words = `${at} SELECT ?word (COUNT(?plant) AS ?n) { ?plant plants:stone ?id . ?stone stones:id ?id ; stones:word ?word } GROUP BY ?word ORDER BY ?word`
  writeFileSync(
    path.join(portal, 'all.rq'),
    '# All\nPREFIX p: <{base}/ld/ontologies/plants/>\nCONSTRUCT { ?s p:name ?n } WHERE { ?s p:id 5 ; p:name ?n }\n',
  )
  const hard = `${at} SELECT ?word ?hard { ?stone stones:word ?word . ?other <http://x/word> ?word ; <http://x/hard> ?hard }`
  // Functions that the endpoint has, and Comunica has not.
  const near = `${at} PREFIX geo: <http://www.opengis.net/ont/geosparql#> SELECT ?here ?s ?o { BIND("POINT(1 2)"^^geo:wktLiteral AS ?here) ?s ?p "5"^^<${XSD}integer> ; plants:name ?o FILTER(<http://www.opengis.net/def/function/geosparql/distance>(?here, "POINT(1 2)"^^geo:wktLiteral, <http://www.opengis.net/def/uom/OGC/1.0/metre>) < 1) }`
  const none = /^$/
  const cases: readonly (readonly [readonly string[], string | undefined, number, RegExp, RegExp])[] = [
    [['plants,stones', words], undefined, 0, /^word,n\r\nflint,234\r\nslate,233\r\n$/, none],
    [
      ['plants', 'stones', '-', '--via', 'brtpf', '--format', 'table'],
      words,
      0,
      /\nflint +234\nslate +233\n$/,
      none,
    ],
    [
      ['stones', '--source', file, hard, '--format', 'tsv'],
      undefined,
      0,
      /^\?word\t\?hard\n"flint"\t"7"\^\^/,
      none,
    ],
    [[`${base}/api/tpf/stones`, 'ASK { ?s ?p "slate" }'], undefined, 0, /^true\n$/, none],
    [['plants', '--via', 'sparql', near], undefined, 0, /^here,s,o\r\n.+,plant 5\r\n$/, none],
    [
      ['plants', `@${path.join(portal, 'all.rq')}`],
      undefined,
      0,
      /@prefix p: [\s\S]+ p:name "plant 5" \.\n$/,
      none,
    ],
    [['plants', 'SELECT * { ?s ?p ?o } LIMIT 1', '--json'], undefined, 0, /^\{"head":\{"vars":\[/, none],
    [
      ['plants', 'SELEC'],
      undefined,
      2,
      none,
      /^lodestone: the query cannot be read: line 1, column 1: [^\n]+\n$/,
    ],
    [['plants', 'DELETE WHERE { ?s ?p ?o }'], undefined, 2, none, /^lodestone: [^\n]+\n$/],
    [['plants', '@nowhere.rq'], undefined, 2, none, /^lodestone: nowhere\.rq: there is no such file\.\n$/],
    [['plants', 'ASK {}', '--format', 'xml'], undefined, 2, none, /--format/],
    [['plants', 'ASK {}', '--via', 'mail'], undefined, 2, none, /--via/],
    [
      ['nothing', 'ASK {}'],
      undefined,
      1,
      none,
      /^lodestone: The requested dataset nothing does not exist\.\n {2}There are: plants, stones\.\n$/,
    ],
    [
      ['--source', 'http://localhost:9/x', 'ASK { ?s ?p ?o }'],
      undefined,
      1,
      none,
      /^lodestone: the query failed: [^\n]+\n$/,
    ],
    [['SELECT * {}'], undefined, 2, none, /missing required argument/],
  ]
  const pending = [...cases]
  const next = async (): Promise<void> => {
    const row = pending.shift()
    if (row === undefined) return
    const [args, input, code, stdout, stderr] = row
    const ended = await run(args, input)
    const name = args.join(' ').slice(0, 60)
    t.equal(ended.code, code, `${name}: ${ended.stderr}`)
    t.match(ended.stdout, stdout, name)
    t.match(ended.stderr, stderr, name)
    return next()
  }
  await Promise.all([next(), next(), next()])

  const child = spawn(process.execPath, [BINARY, 'query', 'plants', 'SELECT * { ?s ?p ?o }', '--base', base])
  const ended = once(child, 'close')
  const stderr = text(child.stderr)
  await once(child.stdout, 'data')
  child.stdout.destroy()
  t.strictSame([(await ended)[0], await stderr], [0, ''], 'who has read enough is not scolded')
})
