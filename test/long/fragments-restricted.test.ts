import { QueryEngine } from '@comunica/query-sparql'
import type { Quad } from 'n3'
import t from 'tap'
import { parseBindings } from '../../src/api/fragments/bindings.ts'
import { Fault } from '../../src/errors/errors.ts'
import { termText } from '../../src/rdf/ntriples.ts'
import { HYDRA, XSD } from '../../src/rdf/vocab.ts'
import { EX, isData, key, objects, parse, quads, servePeople } from '../support/fragment-server.ts'

/** Bindings-restricted fragments, pages for people, what clients add to addresses, and the list of all datasets. */
const person = (i: number) => `<${EX}person/${i}>`
const name = `predicate=${encodeURIComponent(`${EX}name`)}`
const knows = `predicate=${encodeURIComponent(`${EX}knows`)}`

t.test('the bindings of a request are read, or refused with their place', async t => {
  const good: readonly (readonly [string, string, readonly string[]])[] = [
    ['(?s) { (<http://a>) }', 's', ['<http://a>']],
    ['(?s ?o) { (<http://a> "x"@en) (UNDEF "y") }', 's o', ['<http://a> "x"@en', '- "y"']],
    [' ( $a ) {\n( "a\\n\\"\\u00e9" )\t(\'it"s\')} ', 'a', ['"a\\n\\"é"', '"it\\"s"']],
    ['(?a){(5)(-1.5)(1e3)(.5)(true)}', 'a', integerForms()],
    ['?a { <http://a> UNDEF "x" }', 'a', ['<http://a>', '-', '"x"']],
    [`(?a) { ("1"^^<${XSD.integer}>) ("x"^^<${XSD.string}>) }`, 'a', [`"1"^^<${XSD.integer}>`, '"x"']],
    ['(?a) { (_:b0) }', 'a', ['_:b0']],
    ['(?a ?b) { (<ex:comunica:unknown>) }', 'a b', []],
    ['(?a ?g) { (<http://a>  ) }', 'a g', ['- -']],
    ['(?a ?b ?c ?d) { (1 2 3 4) }', 'a b c d', [[1, 2, 3, 4].map(n => `"${n}"^^<${XSD.integer}>`).join(' ')]],
    ['() { () }', '', ['']],
    ['(?été) {}', 'été', []],
    ['(?a) { ("x"@ar--rtl) }', 'a', ['"x"@ar--rtl']],
    ['(?a) { ("x"@en-GB) }', 'a', ['"x"@en-gb']],
    ['(?a ?b) { ("""a "b"\n\\t"""@en \'\'\'it\'s\'\'\') }', 'a b', ['"a \\"b\\"\\n\\t"@en "it\'s"']],
    [`(?a) { ("""""") ("""1\r"""^^<${XSD.date}>) ("") }`, 'a', ['""', `"1\\r"^^<${XSD.date}>`, '""']],
  ]
  for (const [text, variables, rows] of good) {
    const read = parseBindings(text)
    t.equal(read.variables.join(' '), variables, text)
    const written = read.rows.map(row =>
      row.map(term => (term === undefined ? '-' : termText(term))).join(' '),
    )
    t.strictSame(written, rows, text)
  }
  const many = (count: number) => `(?a) { ${'(<http://a>) '.repeat(count)}}`
  t.equal(parseBindings(many(500)).rows.length, 500)
  const bad: readonly (readonly [string, RegExp])[] = [
    ['nonsense', /nonsense was found at character 1 but \( or a variable/],
    ['(s) { }', /character 2 but a variable or \)/],
    [`(${'?a '.repeat(65)}) { }`, /at most 64 variables/],
    ['(?a) ', /the end was found at character 6 but \{/],
    ['(?a) { (<a>) }', /character 9 but an absolute IRI/],
    ['(?a) { ("x"^^<int>) }', /character 9 but an absolute IRI/],
    ['(?a) { (ex:a) }', /ex:a\) } was found at character 9 but a term/],
    ['(?a) { ("\\q") }', /character 9 but a term with known escapes/],
    ['(?a) { ("\\UFFFFFFFF") }', /known escapes/],
    ['(?a) { (<http://a> <http://b>) }', /\) after 1 terms/],
    ['(?a) { (<http://a>) } x', /x was found at character 23 but the end/],
    ['(?a) { (<http://a>)', /the end was found/],
    ['(?a) { ("x) }', /character 9/],
    ['(?a) { ("""x"") }', /character 11 but/],
    [many(501), /at most 500 rows/],
    ['(?a) { (<http://a>) } ; DROP ALL', /but the end is expected/],
  ]
  for (const [text, message] of bad) {
    try {
      parseBindings(text)
      t.fail(`${text} is read`)
    } catch (error) {
      t.match(error instanceof Fault ? [error.code, error.message] : error, ['BadRequest', message], text)
    }
  }
  const begun = performance.now()
  for (const text of [
    `(?a) { ("${'\\"'.repeat(60_000)}`,
    `(?a) { ("""${'""x'.repeat(40_000)}`,
    `(?a) {${' '.repeat(120_000)}`,
    `(?${'a'.repeat(120_000)}`,
  ])
    t.throws(() => parseBindings(text), { code: 'BadRequest' })
  t.ok(performance.now() - begun < 20_000, 'long nonsense takes no long time')
})

function integerForms(): readonly string[] {
  return [
    `"5"^^<${XSD.integer}>`,
    `"-1.5"^^<${XSD.decimal}>`,
    `"1e3"^^<${XSD.double}>`,
    `".5"^^<${XSD.decimal}>`,
    `"true"^^<${XSD.boolean}>`,
  ]
}

t.test('a restricted fragment has the triples that agree with a row, each once', async t => {
  const { http } = await servePeople(t)
  const subjects = (...required: readonly number[]) => required.map(i => `${EX}person/${i}`)
  const is =
    (place: 'subject' | 'object', ...values: readonly string[]) =>
    (quad: Quad) =>
      values.includes(quad[place].value)
  const named = (quad: Quad) => quad.predicate.value === `${EX}name`
  const known = (quad: Quad) => quad.predicate.value === `${EX}knows`
  const everyone = Array.from({ length: 30 }, (_, i) => `(${person(i)})`).join(' ')
  const cases: readonly (readonly [string, string, (quad: Quad) => boolean])[] = [
    [
      `subject=?s&${name}&object=?o`,
      `(?s) { (${person(1)}) (${person(2)}) }`,
      quad => named(quad) && is('subject', ...subjects(1, 2))(quad),
    ],
    [`subject=?s&${name}&object=?o`, `(?s) { ${everyone} }`, named],
    [
      `subject=?s&${name}&object=?o`,
      `(?s) { (${person(1)}) (${person(1)}) }`,
      quad => named(quad) && is('subject', ...subjects(1))(quad),
    ],
    [
      'subject=?s&predicate=?p&object=?o',
      `(?s ?o) { (${person(1)} UNDEF) (UNDEF ${person(2)}) (${person(1)} ${person(2)}) }`,
      quad => is('subject', ...subjects(1))(quad) || is('object', ...subjects(2))(quad),
    ],
    ['subject=?s&predicate=?p&object=?o', `(?s) { (${person(1)}) (UNDEF) }`, () => true],
    [
      `subject=?s&${knows}&object=?o`,
      `(?o ?x) { (${person(2)} "any") }`,
      quad => known(quad) && is('object', ...subjects(2))(quad),
    ],
    [`subject=?s&${knows}&object=?o`, '(?x) { (<http://a>) }', known],
    [`subject=?s&${knows}&object=?o`, '(?x) { }', () => false],
    [
      `subject=?x&${knows}&object=?x`,
      `(?x) { (${person(0)}) (${person(1)}) (${person(10)}) }`,
      quad => known(quad) && quad.subject.equals(quad.object) && is('subject', ...subjects(0, 1, 10))(quad),
    ],
    ['subject=?s&predicate=?p&object=?o', '(?o) { ("n0"@en) ("22") }', quad => quad.object.value === 'n0'],
    ['subject=?s&predicate=?p&object=?o', '(?o) { ("n0"@EN) }', quad => quad.object.value === 'n0'],
    [
      'subject=?s&predicate=?p&object=?o',
      '(?o) { (22) ("022"^^<http://www.w3.org/2001/XMLSchema#integer>) }',
      is('object', '22'),
    ],
    [
      'subject=?s&predicate=?p&object=?o',
      '(?o) { ("022"^^<http://www.w3.org/2001/XMLSchema#integer>) }',
      () => false,
    ],
    ['subject=?s&predicate=?p&object=?o', '(?s) { ("text") (_:b) }', () => false],
    [`subject=?s&${name}&object=?o`, '(?s ?o) { (<ex:comunica:unknown>) }', () => false],
    [
      `subject=${encodeURIComponent(`${EX}person/1`)}&predicate=?p&object=?o`,
      '(?p) { (<http://example.org/name>) (<http://example.org/age>) }',
      quad => is('subject', ...subjects(1))(quad) && /name|age/.test(quad.predicate.value),
    ],
    [`${name}&subject=&object=`, `(?s) { (${person(1)}) }`, named],
    // Names that are no variables of SPARQL, and two that begin alike.
    [
      `subject=?${encodeURIComponent('élan')}&${name}&object=?o`,
      `(?élan) { (${person(4)}) }`,
      quad => named(quad) && is('subject', ...subjects(4))(quad),
    ],
    [`subject=?${'a'.repeat(99)}b&${knows}&object=?${'a'.repeat(99)}c`, `(?x) { }`, () => false],
  ]
  for (const [query, values, matches] of cases) {
    let target = `/api/tpf/people?${query}&values=${encodeURIComponent(values)}`
    const expected = quads.filter(matches).map(key).sort()
    const found: string[] = []
    for (let page = 1; page < 30; page++) {
      const { body, statusCode } = await http.inject(target)
      if (!t.equal(statusCode, 200, target)) return
      const all = parse(body, 'application/trig')
      found.push(...all.filter(isData).map(key))
      t.strictSame(objects(all, HYDRA.totalItems), [String(expected.length)], `count of ${values}`)
      t.strictSame(objects(all, HYDRA.template), [
        'http://127.0.0.1/api/tpf/people{?subject,predicate,object}',
      ])
      const next = all.find(quad => quad.predicate.value === HYDRA.next)?.object.value
      if (next === undefined) break
      t.match(next, 'values=', 'links keep the bindings')
      target = next.replace('http://127.0.0.1', '')
    }
    t.strictSame(found.sort(), expected, `${query} ${values}`)
  }
  for (const query of ['values=x', 'values=(?a)&values=(?b)']) {
    const { statusCode } = await http.inject(`/api/tpf/people?${query}`)
    t.equal(statusCode, 400, query)
  }
})

t.test('a page for people has its terms as links, and nothing in it can leave its place', async t => {
  const { http } = await servePeople(t)
  const get = async (query: string) =>
    http.inject({ url: `/api/tpf/people?${query}`, headers: { accept: 'text/html' } })
  const page = await get(`${name}&apikey=K%20%22%3Cx&page=2`)
  t.equal(page.statusCode, 200)
  t.match(page.headers['content-security-policy'], "default-src 'none'")
  for (const part of [
    '11 to 20 of 30 triples',
    `<input name="predicate" value="${EX}name"`,
    '<input type="hidden" name="apikey" value="K &quot;&lt;x">',
    'action="/api/tpf/people"',
    'apikey=K%20%22%3Cx&amp;page=1">Previous page',
    'apikey=K%20%22%3Cx&amp;page=3">Next page',
    'apikey=K%20%22%3Cx&amp;subject=http%3A%2F%2Fexample.org%2Fperson%2F',
    `href="${EX}person/`,
    'say &quot;hi&quot;',
  ])
    t.ok(page.body.includes(part), part)
  t.equal(page.body.match(/<tr>/g)?.length, 11)
  t.equal(page.body.match(/<script type="application\/ld\+json"/g)?.length, 1)
  for (const [, link = ''] of page.body.matchAll(/<td><a href="([^"]*)"/g)) {
    const target = link.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replace('http://127.0.0.1', '')
    const { body } = await http.inject(target)
    t.not(objects(parse(body, 'application/trig'), HYDRA.totalItems)[0], '0', `${link} leads to triples`)
  }
  const attack = await get(`object=${encodeURIComponent('"</script><script>alert(1)</script>"')}`)
  t.notMatch(attack.body, '<script>alert')
  t.match(attack.body, 'No triples match')
  t.match((await get('page=999')).body, 'past the last')
})

t.test('what a client adds to the address of the start stays in all addresses', async t => {
  const { http } = await servePeople(t)
  const requested = async (query: string, headers = {}) => {
    const answer = await http.inject({ url: `/api/tpf/people?${query}`, headers })
    const all = parse(answer.body, 'application/trig')
    return { control: answer.headers['cache-control'], template: objects(all, HYDRA.template)[0] }
  }
  const form = 'http://127.0.0.1/api/tpf/people'
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['', '{?subject,predicate,object}', /^public/],
    ['page=2&subject=', '{?subject,predicate,object}', /^public/],
    ['apikey=K', '?apikey=K{&subject,predicate,object}', /^private/],
    ['apikey=K%2b%20x&page=2&a', '?apikey=K%2b%20x&a{&subject,predicate,object}', /^private/],
    ['access_token=%7Bx%7D', '?access_token=%7Bx%7D{&subject,predicate,object}', /^private/],
    ['x=[1]', '?x=%5B1%5D{&subject,predicate,object}', /^public/],
    ['x={}', '?x=%7B%7D{&subject,predicate,object}', /^public/],
    ['%73ubject=?s&p%61ge=2&x=1', '?x=1{&subject,predicate,object}', /^public/],
  ]
  for (const [query, rest, control] of cases) {
    const { template, control: described } = await requested(query)
    t.equal(template, form + rest, query)
    t.match(described, control, query)
  }
  t.match((await requested('', { authorization: 'Apikey K' })).control, /^private/)
})

t.test('the list of all datasets', async t => {
  const { http } = await servePeople(t)
  const { body, headers } = await http.inject('/api/tpf')
  const all = parse(body, 'application/trig')
  t.strictSame(objects(all, HYDRA.member), ['http://127.0.0.1/api/tpf/people#dataset'])
  t.equal((await http.inject({ url: '/api/tpf/', headers: { 'if-none-match': 'x' } })).statusCode, 200)
  const again = await http.inject({ url: '/api/tpf', headers: { 'if-none-match': String(headers.etag) } })
  t.equal(again.statusCode, 304)
  const page = await http.inject({ url: '/api/tpf', headers: { accept: 'text/html' } })
  t.match(page.body, '<a href="http://127.0.0.1/api/tpf/people">People &quot;of&quot; é</a>')
  t.equal((await http.inject({ url: '/api/tpf', headers: { accept: 'image/png' } })).statusCode, 406)
})

t.test('Comunica finds the same with bindings, in HTML alone, and with a key in the address', async t => {
  const { address } = await servePeople(t, true)
  const requested: string[] = []
  const fetching = (accept: string | null) => (input: RequestInfo | URL, init?: RequestInit) => {
    requested.push(String(input))
    const headers = new Headers(init?.headers)
    if (accept !== null) headers.set('accept', accept)
    return fetch(input, { ...init, headers })
  }
  const queries = [
    'SELECT * { ?s ?p ?o }',
    `SELECT * { ?a <${EX}knows> ?b . ?b <${EX}name> ?n . ?a <${EX}age> 22 }`,
    `SELECT * { ?a <${EX}age> ?g . ?a <${EX}label> ?l . ?a <${EX}height> ?h }`,
    `SELECT * { ?a <${EX}knows> ?a ; <${EX}name> ?n }`,
  ]
  const sources = [
    { kind: 'plain', source: `${address}/api/tpf/people`, accept: null },
    { kind: 'brtpf', source: { type: 'brtpf', value: `${address}/api/tpf/people` }, accept: null },
    { kind: 'html', source: `${address}/api/tpf/people`, accept: 'text/html' },
    { kind: 'key', source: `${address}/api/tpf/people?apikey=K%20x`, accept: null },
  ] as const
  for (const query of queries) {
    const answers: string[] = []
    for (const { kind, source, accept } of sources) {
      requested.length = 0
      const stream = await new QueryEngine().queryBindings(query, {
        sources: [source],
        fetch: fetching(accept),
      })
      const rows = (await stream.toArray()).map(row =>
        [...row]
          .map(([{ value }, term]) => `${value} ${term.value}`)
          .sort()
          .join('\n'),
      )
      answers.push(rows.sort().join('\n\n'))
      if (kind === 'key')
        t.ok(
          requested.every(url => url.includes('apikey=K%20x')),
          'every request has the key',
        )
      if (kind === 'brtpf' && query.includes('22')) t.ok(requested.some(url => url.includes('values=')))
      t.equal(answers.at(-1), answers[0], `${kind}: ${query}, ${rows.length} rows`)
    }
  }
})
