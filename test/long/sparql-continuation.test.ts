import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import t, { type Test } from 'tap'
import { followContinuations } from '../../src/sparql/follow.ts'
import { parseQuery } from '../../src/sparql/parse.ts'
import { type DatasetView, Evaluation } from '../../src/store/columns/evaluate/evaluation.ts'
import { EvaluationStopped } from '../../src/store/columns/evaluate/evaluation-limits.ts'
import { ContinuationRefused } from '../../src/store/columns/evaluate/patterns/outermost-scan.ts'
import { jobText } from '../../src/store/columns/threads/answer-text.ts'
import { PieceBytes } from '../../src/store/columns/threads/piece-bytes.ts'
import { columnsOfText } from '../support/columns.ts'
import { servePortal } from '../support/portal.ts'
import { between, chance, startFrom } from '../support/random.ts'
import { seedOf } from '../support/seed.ts'

/** Answers that are stopped at their limit of time, and go on where they were stopped. */
const seed = seedOf()
const SUBJECTS = 9000

/** Graphs that share subjects, and one that shares none. */
function makeDataset(): DatasetView {
  const [first, second, third]: [string[], string[], string[]] = [[], [], []]
  for (let at = 0; at < SUBJECTS; at++) {
    const subject = `<urn:s${at}>`
    const place = at % 5 === 0 && at > 6000 ? third : first
    const other = place === first && at % 3 === 0 ? second : place
    place.push(
      `${subject} <urn:type> <urn:${at % 7 === 0 ? 'A' : 'B'}> .\n`,
      `${subject} <urn:nr> "${at}" .\n`,
    )
    for (let tag = 0; tag < at % 4; tag++) other.push(`${subject} <urn:tag> "t${(at * tag) % 11}" .\n`)
    if (chance(0.3)) other.push(`${subject} <urn:label> "label ${at % 100}" .\n`)
    if (chance(0.5)) place.push(`${subject} <urn:near> <urn:s${between(0, SUBJECTS - 1)}> .\n`)
  }
  const graphs = [first, second, third].map(lines => columnsOfText(lines.join('')))
  return { defaultGraphs: graphs, namedGraphs: new Map(graphs.map((graph, at) => [`urn:g${at}`, [graph]])) }
}

const QUERIES = [
  '?s <urn:nr> ?nr',
  '?s ?p ?o',
  '?s <urn:type> <urn:A> ; <urn:tag> ?tag',
  '?s <urn:nr> ?nr ; <urn:tag> ?tag ; <urn:near> ?o . ?o <urn:tag> ?other FILTER(?tag != ?other)',
  '?s <urn:nr> ?nr . OPTIONAL { ?s <urn:label> ?label ; <urn:tag> ?tag }',
  '?s <urn:nr> ?nr . OPTIONAL { ?s <urn:near> ?o . ?o <urn:label> ?label } BIND(CONCAT(?nr, "!") AS ?x)',
  'BIND("!" AS ?mark) ?s <urn:nr> ?nr BIND(CONCAT(?nr, ?mark) AS ?x)',
  '?s <urn:tag> ?tag MINUS { ?s <urn:type> <urn:A> }',
  '?s <urn:near> ?o FILTER NOT EXISTS { ?o <urn:label> ?label }',
  'GRAPH <urn:g0> { ?s <urn:near> ?o . ?o <urn:nr> ?nr } { ?s <urn:type> <urn:A> } UNION { ?s <urn:type> <urn:B> }',
] as const

const REST = { prefix: 'x.', address: null } as const

/**
 * Rows as texts, of an answer that is stopped again and again; how often it was, and how often it looked at the clock.
 *
 * @param looks after how many looks it is stopped
 */
function continued(text: string, dataset: DatasetView, looks: () => number) {
  const { query } = parseQuery(text, 'urn:base')
  const rows: string[] = []
  let place: string | null = null
  let looked = 0
  for (let stops = 0; ; stops++) {
    const limit = looks()
    let left = limit
    const clock = {
      get deadline() {
        looked += 1
        return left-- > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
      },
      get used() {
        return Number.isFinite(limit) ? 1 - left / limit : 0
      },
    }
    const piece = new PieceBytes()
    const job = jobText(query, new Evaluation(dataset, { clock }), 'tsv', piece, { ...REST, place })
    let answer = ''
    for (;;) {
      const { value, done } = job.next()
      answer += Buffer.from(piece.take()).toString()
      if (done !== true) continue
      rows.push(...answer.split('\n').slice(1, -1))
      if (value === null) return { rows, stops, looked }
      place = value.slice(2)
      break
    }
  }
}

/**
 * An answer that is stopped after a third to a half of the looks of a whole one, or after more of them where the first
 * share of the subjects, which cannot be stopped in its midst, takes more.
 */
function continuedWith(text: string, dataset: DatasetView, looked: number) {
  for (let least = Math.ceil(looked / 3); ; least += Math.ceil(looked / 12)) {
    try {
      return continued(text, dataset, () => between(least, Math.ceil(least * 1.5)))
    } catch (error) {
      if (!(error instanceof EvaluationStopped) || least > looked) throw error
    }
  }
}

t.test('what is stopped at any moment goes on without a row too few or too many', async t => {
  startFrom(seed)
  const dataset = makeDataset()
  const never = () => Number.POSITIVE_INFINITY
  for (const pattern of QUERIES) {
    const { rows: found, looked } = continued(`SELECT * { ${pattern} }`, dataset, never)
    const whole = found.sort()
    t.ok(whole.length > 1000, `${pattern}: ${whole.length} rows`)
    // Patterns have no solution twice, so that DISTINCT leaves nothing out; of BIND, which may bind nothing, that is not known.
    const distinct = /UNION|^BIND/.test(pattern) ? '' : 'DISTINCT'
    for (let run = 0; run < 3; run++) {
      const { rows, stops } = continuedWith(
        `SELECT ${run === 0 ? distinct : ''} * { ${pattern} }`,
        dataset,
        looked,
      )
      t.ok(rows.sort().join() === whole.join(), `${rows.length} rows of ${whole.length}, ${stops} stops`)
      t.ok(stops > 0)
    }
    const [offset, limit] = [between(0, whole.length - 1), between(1, whole.length)]
    const sliced = `SELECT * { ${pattern} } OFFSET ${offset} LIMIT ${limit}`
    const { rows } = continuedWith(sliced, dataset, looked)
    t.equal(rows.length, Math.min(limit, whole.length - offset), sliced)
    const known = new Set(whole)
    t.ok(rows.every(row => known.has(row)))
  }
})

t.test('a share that takes longer than an answer may is divided', async t => {
  startFrom(seed)
  const dataset = makeDataset()
  const pairs = '?s <urn:type> <urn:A> ; <urn:nr> ?nr . ?o <urn:label> ?label'
  const text = `SELECT * { ${pairs} FILTER(STRENDS(?label, CONCAT(" ", ?nr))) }`
  const { rows: whole, looked } = continued(text, dataset, () => Number.POSITIVE_INFINITY)
  // The first share has nearly all of the subjects.
  const { rows, stops } = continued(text, dataset, () => Math.ceil(looked / 6))
  t.ok(rows.sort().join() === whole.sort().join(), `${rows.length} rows of ${whole.length}`)
  t.ok(stops > 5 && whole.length > 100, `${looked} looks, ${stops} stops`)
})

t.test('a share whose rows were partly sent is not computed again and again', async t => {
  const lines = Array.from({ length: 100 }, (_, at) => `<urn:s${at}> <urn:p> "${at}" .\n`)
  const dataset: DatasetView = { defaultGraphs: [columnsOfText(lines.join(''))], namedGraphs: new Map() }
  const text = 'SELECT * { ?a ?p ?o . ?b ?q ?y . ?c ?z ?d FILTER(STRLEN(CONCAT(?o, ?y, ?d)) = 4) }'
  const { rows: whole, looked } = continued(text, dataset, () => Number.POSITIVE_INFINITY)
  const { rows, stops } = continued(text, dataset, () => Math.ceil(looked / 6))
  t.ok(rows.sort().join() === whole.sort().join(), `${rows.length} rows of ${whole.length}`)
  t.ok(stops > 3 && whole.length > 1000, `${looked} looks, ${stops} stops`)
})

t.test('what cannot go on is whole or none', async t => {
  const dataset = makeDataset()
  for (const text of [
    'SELECT * { ?s <urn:nr> ?nr } ORDER BY ?nr',
    'SELECT DISTINCT ?tag { ?s <urn:tag> ?tag }',
    'SELECT (COUNT(*) AS ?n) { ?s <urn:tag> ?tag }',
    'SELECT * { { ?s <urn:tag> ?tag } UNION { ?s <urn:label> ?tag } }',
    'SELECT * { ?s <urn:near>+ ?o }',
  ])
    t.throws(() => continued(text, dataset, () => 1), new EvaluationStopped('deadline'), text)
})

t.test('a place of another query, or none, is refused', async t => {
  const dataset = makeDataset()
  const { query } = parseQuery('SELECT * { ?s <urn:nr> ?nr }', 'urn:base')
  for (const place of ['', '0', 'abcdef01-0-0-0-0-0-0', '00000000-0-0-9-1-0-0', '0-0-0-0-0-0-0-0', '-1'])
    t.throws(
      () => [...jobText(query, new Evaluation(dataset), 'tsv', new PieceBytes(), { ...REST, place })],
      new ContinuationRefused(),
      place,
    )
})

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly trailers: NodeJS.Dict<string>
  readonly body: string
}

function ask(url: string, accept: string, form: string | null = null): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      accept,
      ...(form === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    }
    const sent = httpRequest(url, { method: form === null ? 'GET' : 'POST', headers }, response => {
      let body = ''
      response.setEncoding('utf8').on('data', piece => {
        body += piece
      })
      response.on('error', reject).on('end', () => {
        const { statusCode: status = 0, headers, trailers } = response
        resolve({ status, headers, trailers, body })
      })
    })
    sent.on('error', reject).end(form ?? undefined)
  })
}

const JSON_RESULTS = 'application/sparql-results+json'
const ROWS = 90_000

async function serveNumbers(t: Test) {
  const lines = Array.from({ length: ROWS }, (_, at) => `${at},name ${at},${at % 97},note ${at % 1013}\n`)
  const numbers = {
    'dataset.yaml': 'source: { path: numbers.csv }\nid: [nr]\n',
    'numbers.csv': `nr,name,part,note\n${lines.join('')}`,
  }
  const { base, port } = await servePortal(t, {
    portal: { 'portal.yaml': 'title: Continued\n', data: { numbers } },
    base: 'http://localhost:3000',
    port: 0,
    config: { deadline: 0.05 },
  })
  return { base, address: `http://127.0.0.1:${port}` }
}

/** Asks again where nothing was found within the limit: on a busy machine its 50 ms may pass before the first row. */
async function askUntilFound<Found extends { readonly status: number }>(
  send: () => Promise<Found>,
): Promise<Found> {
  for (let tries = 1; ; tries++) {
    const answer = await send()
    if (answer.status !== 503 || tries === 20) return answer
  }
}

/** The address of the rest, as a client reads it; null where there is none. */
function nextOf({ headers, trailers }: Answer): string | null {
  const link = /<([^>]*)>; rel="next"/.exec(trailers.link ?? String(headers.link ?? ''))
  return link?.[1] ?? null
}

t.test('the endpoint tells where an answer goes on', async t => {
  const { base, address } = await serveNumbers(t)
  const query = 'SELECT ?s ?p ?o { ?s ?p ?o }'
  const here = (url: string) => url.replace(base, address)
  const first = `${address}/api/sparql/numbers?query=${encodeURIComponent(query)}&apikey=none`.replace(
    '&apikey=none',
    '',
  )

  await t.test('JSON: a member of the body, and a header or a trailer', async t => {
    const seen = new Set<string>()
    let [url, answers, rows]: [string | null, number, number] = [first, 0, 0]
    while (url !== null) {
      const place = url
      const answer: Answer = await askUntilFound(() => ask(place, JSON_RESULTS))
      t.equal(answer.status, 200)
      const { results, continuation } = JSON.parse(answer.body)
      for (const row of results.bindings) seen.add(JSON.stringify(row))
      rows += results.bindings.length
      answers += 1
      t.equal(nextOf(answer), continuation?.next ?? null, 'the link is that of the body')
      if (continuation !== undefined)
        t.match(continuation.next, new RegExp(`^${base}/api/sparql/numbers\\?query=.*&cursor=`))
      url = continuation === undefined ? null : here(continuation.next)
    }
    t.ok(answers > 1, `${answers} answers`)
    t.equal(rows, seen.size, 'no row comes twice')
    t.ok(rows >= ROWS * 4, `${rows} rows`)
  })

  await t.test('CSV: the link alone; a form is asked again with the cursor', async t => {
    const cut = await ask(first, 'text/csv').catch(() => null)
    t.ok(cut === null || cut.status === 503, 'who does not know of cursors gets no part for the whole')
    let [url, rows]: [string | null, number] = [`${first}&cursor=`, 0]
    while (url !== null) {
      const place = url
      const answer: Answer = await askUntilFound(() => ask(place, 'text/csv'))
      rows += answer.body.trimEnd().split('\r\n').length - 1
      const next = nextOf(answer)
      url = next === null ? null : here(next)
    }
    t.ok(rows >= ROWS * 4)
    const form = `query=${encodeURIComponent(query)}`
    const endpoint = `${address}/api/sparql/numbers`
    const { results, continuation } = JSON.parse(
      (await askUntilFound(() => ask(endpoint, JSON_RESULTS, form))).body,
    )
    t.ok(results.bindings.length > 0)
    const again = await askUntilFound(() =>
      ask(endpoint, JSON_RESULTS, `${form}&cursor=${continuation.cursor}`),
    )
    t.notSame(JSON.parse(again.body).results.bindings[0], results.bindings[0])
  })

  await t.test('who follows gets one answer', async t => {
    const asking = followContinuations((input, init) => askUntilFound(() => fetch(here(String(input)), init)))
    const url = first.replace(address, base)
    const answer = await asking(url, { headers: { accept: JSON_RESULTS } })
    const { head, results, continuation } = await answer.json()
    t.same(head, { vars: ['s', 'p', 'o'] })
    t.equal(continuation, undefined)
    const rows = new Set(results.bindings.map((row: unknown) => JSON.stringify(row)))
    t.equal(rows.size, ROWS * 4)
    t.equal(results.bindings.length, ROWS * 4)
    const elsewhere = followContinuations(async () => {
      const body =
        '{"head":{"vars":["s"]},\n"results":{"bindings":[\n]},\n"continuation":{"cursor":"x","next":"http://other.test/"}}\n'
      return new Response(body, { headers: { 'content-type': JSON_RESULTS } })
    })
    const leading = await elsewhere(url)
    await t.rejects(leading.text(), {
      message: /goes on at http:\/\/other\.test, which is not where it began/,
    })
    const foreign = followContinuations(
      async () => new Response('{"head":\n {}}', { headers: { 'content-type': JSON_RESULTS } }),
    )
    t.equal(await (await foreign(url)).text(), '{"head":\n {}}', 'results of others stay as they are')
  })

  await t.test('an answer on one line is read in linear time', async t => {
    const [piece, count] = [new TextEncoder().encode('x'.repeat(1000)), 20_000]
    const asking = followContinuations(async () => {
      let sent = 0
      const body = new ReadableStream({
        pull: controller => (++sent > count ? controller.close() : controller.enqueue(piece)),
      })
      return new Response(body, { headers: { 'content-type': JSON_RESULTS } })
    })
    const begun = process.cpuUsage()
    t.equal((await (await asking(first)).text()).length, count * piece.length)
    const { user } = process.cpuUsage(begun)
    t.ok(user < 5e6, `${user} µs`)
  })

  await t.test('a page has a link to the rest', async t => {
    const long = 'SELECT ?s ?p ?o { ?s ?p ?o FILTER(CONTAINS(MD5(STR(?s)), "ab")) }'
    let body = ''
    // Where the machine is busy, the time is over before the first row.
    for (let tries = 0; tries < 10 && !body.includes('cursor='); tries++)
      body = (await ask(`${address}/api/sparql/numbers?query=${encodeURIComponent(long)}`, 'text/html')).body
    t.match(body, /<a href="\/api\/sparql\/numbers\?query=[^"]*cursor=[^"]*" rel="next">/)
  })

  await t.test('cursors of something else are refused', async t => {
    const { continuation } = JSON.parse((await ask(first, JSON_RESULTS)).body)
    const asked = (text: string, cursor: string) =>
      ask(`${address}/api/sparql/numbers?query=${encodeURIComponent(text)}&cursor=${cursor}`, JSON_RESULTS)
    for (const [text, cursor, expected] of [
      [`${query} LIMIT 5`, continuation.cursor, /another query, or to data that have changed/],
      [query, 'x', /another query, or to data that have changed/],
      [query, `${continuation.cursor}0-`, /does not belong to this query/],
      ['SELECT ?s (RAND() AS ?x) { ?s ?p ?o }', continuation.cursor, /whole or none/],
      ['ASK { ?s ?p ?o }', continuation.cursor, /whole or none/],
    ] as const) {
      const { status, body } = await asked(text, cursor)
      t.equal(status, 400)
      t.match(JSON.parse(body).detail, expected, text)
    }
  })
})
