import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import path from 'node:path'
import t, { type Test } from 'tap'
import type { CallCounts } from '../../src/accounts/accounts.ts'
import { openAccounts } from '../../src/accounts/open.ts'
import type { Config } from '../../src/config/config.ts'
import { addressSubject, clientAddress } from '../../src/http/client-address.ts'
import { type Allowance, Quotas, type QuotasOptions, quotaLimits } from '../../src/http/daily-quota.ts'
import { quotaBody } from '../../src/http/observe.ts'
import { ANONYMOUS, type Principal } from '../../src/model/principal.ts'
import { temporaryFolder } from '../support/folder.ts'
import { publishPortal, servePortal } from '../support/portal.ts'

/** Quotas: whose calls are counted together, exactly, from midnight to midnight UTC, also over restarts. */
const DAY = 86_400_000
const NOON = Date.UTC(2026, 6, 27, 12)

function user(id: number, quota: number | null = null): Principal {
  return { type: 'user', id, name: `user${id}`, grants: new Set(), quota, by: 'key' }
}

/** Counts as the database keeps them. */
class MemoryCounts implements CallCounts {
  readonly days = new Map<string, Map<string, number>>()
  readonly written: ReadonlyMap<string, number>[] = []
  isBroken = false

  async read(day: string): Promise<ReadonlyMap<string, number>> {
    return new Map(this.days.get(day))
  }

  async add(day: string, calls: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
    if (this.isBroken) throw new Error('the disk is full')
    this.written.push(calls)
    for (const earlier of this.days.keys()) if (earlier < day) this.days.delete(earlier)
    const before = this.days.get(day) ?? new Map<string, number>()
    const sums = [...calls].map(([name, more]) => [name, (before.get(name) ?? 0) + more] as const)
    this.days.set(day, new Map([...before, ...sums]))
    return new Map(sums)
  }
}

function quotas(limits: Parameters<typeof quotaLimits>[0], more: Partial<QuotasOptions> = {}): Quotas {
  const secret = Buffer.alloc(32, 7)
  return new Quotas({ limits: quotaLimits(limits), now: () => NOON, counts: null, secret, ...more })
}

/** What is told of a call, in short: the limit, what is left of it, or that it is one too many. */
function described({ kind, limit, remaining, isExceeded }: Allowance): string {
  return `${kind} ${isExceeded ? 'exceeded' : remaining} of ${limit}`
}

t.test('the limit nearest to its end is told, and refused calls are not counted', async t => {
  const A = '192.0.2.1'
  const B = '192.0.2.2'
  const nobody = ANONYMOUS
  const cases: readonly (readonly [
    string,
    Parameters<typeof quotaLimits>[0],
    readonly (readonly [Principal, string, string])[],
  ])[] = [
    [
      'nothing is said',
      {},
      [
        [nobody, A, 'domain 9999999 of 10000000'],
        [user(1), A, 'domain 9999998 of 10000000'],
      ],
    ],
    [
      'the domain is of everybody',
      { domain: 3 },
      [
        [nobody, A, 'domain 2 of 3'],
        [user(1), A, 'domain 1 of 3'],
        [user(2, 100), B, 'domain 0 of 3'],
        [user(2, 100), B, 'domain exceeded of 3'],
        [nobody, B, 'domain exceeded of 3'],
      ],
    ],
    [
      'each address for itself, users not at all',
      { domain: 6, anonymous: 2 },
      [
        [nobody, A, 'anonymous 1 of 2'],
        [nobody, A, 'anonymous 0 of 2'],
        [nobody, A, 'anonymous exceeded of 2'],
        [nobody, A, 'anonymous exceeded of 2'],
        [user(1), A, 'domain 3 of 6'],
        [nobody, B, 'anonymous 1 of 2'],
        [user(1), B, 'domain 1 of 6'],
        [nobody, B, 'domain 0 of 6'],
        [nobody, B, 'domain exceeded of 6'],
        [nobody, A, 'domain exceeded of 6'],
      ],
    ],
    [
      'each user for himself, wherever he calls from',
      { user: 2 },
      [
        [user(1), A, 'user 1 of 2'],
        [user(1), B, 'user 0 of 2'],
        [user(1), A, 'user exceeded of 2'],
        [user(2), A, 'user 1 of 2'],
        [nobody, A, 'domain 9999996 of 10000000'],
      ],
    ],
    [
      'a quota of his own, that may change at any time',
      { user: 1 },
      [
        [user(1, 3), A, 'user 2 of 3'],
        [user(1, 3), A, 'user 1 of 3'],
        [user(1), A, 'user exceeded of 1'],
        [user(1, 4), A, 'user 1 of 4'],
        [user(1, 0), A, 'user exceeded of 0'],
      ],
    ],
    [
      'none at all',
      { anonymous: 0 },
      [
        [nobody, A, 'anonymous exceeded of 0'],
        [user(1), A, 'domain 9999999 of 10000000'],
      ],
    ],
  ]
  for (const [name, limits, calls] of cases) {
    const counted = quotas(limits)
    for (const [principal, address, expected] of calls)
      t.equal(described(counted.take(principal, address)), expected, name)
  }
})

t.test('the body of 429 is as documented', async t => {
  const reset = Date.UTC(2026, 6, 28)
  const shape = {
    errorcode: 10002,
    reset_time: '2026-07-28T00:00:00Z',
    limit_time_unit: 'day',
    call_limit: 0,
  }
  for (const [limits, principal, error] of [
    [{ domain: 0 }, ANONYMOUS, 'Too many requests on the domain. Please contact the domain administrator.'],
    [{ anonymous: 0 }, ANONYMOUS, /^Too many anonymous requests from your address\. Please /],
    [{ user: 0 }, user(1), /^Too many requests of your account\. Please contact the domain administrator\.$/],
  ] as const) {
    const allowance = quotas(limits).take(principal, '')
    t.match(allowance, { reset, wait: DAY / 2000, isExceeded: true })
    const body = quotaBody(allowance) as Record<string, unknown>
    t.match(body, { ...shape, error })
    t.same(Object.keys(body), [...Object.keys(shape), 'error'])
  }
})

t.test('days begin at midnight UTC, and a clock that is put back does not begin one', async t => {
  let now = Date.UTC(2026, 6, 27, 23, 59, 59, 500)
  const counts = new MemoryCounts()
  const counted = quotas({ domain: 100 }, { now: () => now, counts })
  const take = () => counted.take(ANONYMOUS, '')
  const midnight = Date.UTC(2026, 6, 28)
  t.match(take(), { remaining: 99, reset: midnight, wait: 1 })
  await counted.flush()
  const steps: readonly (readonly [string, number, number, number])[] = [
    ['the last moment', midnight - 1, 98, midnight],
    ['midnight', midnight, 99, midnight + DAY],
    ['back by a second', midnight - 1000, 98, midnight + DAY],
    ['back by most of a day', midnight - DAY + 1, 97, midnight + DAY],
    ['later', midnight + 5, 96, midnight + DAY],
    ['far ahead', midnight + 400 * DAY, 99, midnight + 401 * DAY],
    ['right again', midnight + 10, 99, midnight + DAY],
  ]
  for (const [name, moment, remaining, reset] of steps) {
    now = moment
    t.match(take(), { remaining, reset }, name)
  }
  await counted.flush()
  t.same([...counts.days], [['2026-07-28', new Map([['domain', 1]])]])
  now = midnight + DAY
  t.equal(take().remaining, 99)
  await counted.close()
  t.same([...counts.days.keys()], ['2026-07-29'])
})

t.test('a restart goes on where it was, a crash loses what was not written yet', async t => {
  const counts = new MemoryCounts()
  const begin = async () => {
    const begun = quotas({ domain: 1000, anonymous: 10, user: 10 }, { counts })
    await begun.begin()
    return begun
  }
  const callers = [
    [ANONYMOUS, '192.0.2.1'],
    [ANONYMOUS, '2001:db8::1'],
    [user(1), ''],
  ] as const
  const take = (counted: Quotas) =>
    callers.map(([principal, address]) => counted.take(principal, address).remaining)
  const first = await begin()
  t.same(take(first), [9, 9, 9])
  await first.close()
  const second = await begin()
  t.same(take(second), [8, 8, 8])
  await second.flush()
  t.same(take(second), [7, 7, 7])
  // The process is gone, with what it did not write.
  const third = await begin()
  t.same(take(third), [7, 7, 7])
  await third.close()
  t.equal(counts.days.get('2026-07-27')?.get('domain'), 9)
})

t.test('what changed is written soon, and nothing else', async t => {
  const counts = new MemoryCounts()
  const failures: unknown[] = []
  const counted = quotas({ anonymous: 10 }, { counts, onFailure: error => failures.push(error) })
  t.teardown(() => counted.close())
  for (let time = 0; time < 5; time++) counted.take(ANONYMOUS, '192.0.2.1')
  counted.take(user(4), '')
  t.equal(counts.written.length, 0)
  const begun = performance.now()
  while (counts.written.length === 0) await new Promise(resolve => setTimeout(resolve, 5))
  t.ok(performance.now() - begun < 20_000)
  t.same([...(counts.written[0]?.values() ?? [])], [6, 5, 1])
  t.same(
    [...(counts.written[0]?.keys() ?? [])].map(name => name.replace(/:[\w-]{22}$/, ':…')),
    ['domain', 'address:…', 'user:4'],
  )
  counted.take(user(4), '')
  await counted.flush()
  t.same(
    counts.written[1],
    new Map([
      ['domain', 1],
      ['user:4', 1],
    ]),
  )
  await counted.flush()
  t.equal(counts.written.length, 2, 'nothing changed, nothing is written')
  counts.isBroken = true
  t.equal(counted.take(user(4), '').isExceeded, false)
  await counted.flush()
  t.match(failures, [/the disk is full/])
  counts.isBroken = false
  await counted.close()
  t.equal(counts.days.get('2026-07-27')?.get('domain'), 8, 'what could not be written is written later')
})

t.test('addresses are kept as names that only this portal can make, others on each day', async t => {
  const nameOf = async (address: string, secret: number, now = NOON) => {
    const counts = new MemoryCounts()
    const counted = quotas({ anonymous: 1 }, { counts, secret: Buffer.alloc(32, secret), now: () => now })
    counted.take(ANONYMOUS, address)
    await counted.close()
    const [, name = ''] = counts.written[0]?.keys() ?? []
    t.match(name, /^address:[\w-]{22}$/)
    return name
  }
  const name = await nameOf('192.0.2.1', 1)
  t.equal(await nameOf('192.0.2.1', 1), name)
  t.equal(await nameOf('2001:db8::1', 1), await nameOf('2001:db8::2', 1))
  for (const other of [nameOf('192.0.2.2', 1), nameOf('192.0.2.1', 2), nameOf('192.0.2.1', 1, NOON + DAY)])
    t.not(await other, name)
})

t.test('so many addresses are told apart, later ones share a count', async t => {
  const counts = new MemoryCounts()
  const begin = async () => {
    const begun = quotas({ anonymous: 5 }, { counts, maxAddresses: 3 })
    await begun.begin()
    return begun
  }
  const counted = await begin()
  const take = (last: number, by = counted) => by.take(ANONYMOUS, `192.0.2.${last}`).remaining
  t.same(
    [1, 2, 3, 4, 5, 6].map(last => take(last)),
    [4, 4, 4, 4, 3, 2],
  )
  t.same(
    [1, 2, 7].map(last => take(last)),
    [3, 3, 1],
  )
  t.equal(counted.take(user(1), '').isExceeded, false)
  await counted.close()
  t.equal(counts.days.get('2026-07-27')?.size, 6)
  const again = await begin()
  t.same(
    [1, 3, 8, 9].map(last => take(last, again)),
    [2, 3, 0, 0],
  )
  await again.close()
})

t.test('the address of the client is what the outermost proxy saw', async t => {
  const DIRECT = '198.51.100.9'
  const cases: readonly (readonly [forwarded: string | undefined, proxies: number, expected: string])[] = [
    ['192.0.2.1', 0, DIRECT],
    [undefined, 1, DIRECT],
    ['192.0.2.1', 1, '192.0.2.1'],
    ['203.0.113.5, 192.0.2.1', 1, '192.0.2.1'],
    ['203.0.113.5, 192.0.2.1', 2, '203.0.113.5'],
    ['203.0.113.5,192.0.2.1 ,10.0.0.1', 2, '192.0.2.1'],
    ['192.0.2.1', 2, DIRECT],
    ['', 1, DIRECT],
    [',', 2, DIRECT],
    [',,,192.0.2.1', 1, '192.0.2.1'],
    ['unknown', 1, DIRECT],
    ['192.0.2.1, unknown', 1, DIRECT],
    ['192.0.2.1.5', 1, DIRECT],
    ['192.0.2.256', 1, DIRECT],
    ['<b>', 1, DIRECT],
    ['192.0.2.1:4711', 1, '192.0.2.1'],
    ['[2001:DB8::1]:4711', 1, '2001:db8::1'],
    ['[2001:db8::1]', 1, '2001:db8::1'],
    ['2001:db8::1', 1, '2001:db8::1'],
    ['fe80::1%eth0', 1, 'fe80::1'],
    ['::ffff:192.0.2.1', 1, '192.0.2.1'],
    ['::FFFF:c000:201', 1, '192.0.2.1'],
    ['0:0:0:0:0:ffff:c000:0201', 1, '192.0.2.1'],
    ['64:ff9b::ffff:192.0.2.1', 1, '64:ff9b::ffff:192.0.2.1'],
    ['x'.repeat(100_000), 1, DIRECT],
    [','.repeat(100_000), 10, DIRECT],
    [`${'203.0.113.5, '.repeat(5000)}192.0.2.1`, 1, '192.0.2.1'],
  ]
  const message = (forwarded: string | undefined, remoteAddress?: string) =>
    ({ headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress } }) as unknown as IncomingMessage
  for (const [forwarded, proxies, expected] of cases)
    t.equal(
      clientAddress(message(forwarded, DIRECT), proxies),
      expected,
      `${forwarded?.slice(0, 60)} behind ${proxies}`,
    )
  t.equal(clientAddress(message(undefined, '::ffff:192.0.2.1'), 0), '192.0.2.1')
  t.equal(clientAddress(message(undefined, '::1'), 0), '::1')
  t.equal(clientAddress(message(undefined), 1), '', 'a connection that is gone')
  t.equal(clientAddress({ headers: {}, socket: null }, 0), '', 'a request that was destroyed')
  for (const [address, subject] of [
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0db8:0000:0000:ffff::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['', ''],
  ] as const)
    t.equal(addressSubject(address), subject)
})

const _base = 'http://portal.example'

/** A portal of one small dataset, published. */
async function portalFor(t: Test): Promise<string> {
  const portal = temporaryFolder(t, {
    'portal.yaml': '',
    data: { trees: { 'a.json': '[{"a":1},{"a":2}]', 'dataset.yaml': 'source: { path: a.json }\n' } },
  })
  await publishPortal(portal)
  return portal
}

/** Serves a portal on a port of its own, or the one that is given; its data is still to be loaded. */
const serve = (t: Test, portal: string, config: Partial<Config>, port = 0) =>
  servePortal(t, { portal, config, port, isPublished: false, isOpen: false })

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly agent?: Agent
}

function ask(port: number, url: string, requested: Asked = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: url, ...requested }, response => {
      let body = ''
      response.setEncoding('utf8').on('data', piece => {
        body += piece
      })
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      )
      response.once('error', reject)
    })
    sent.once('error', reject).end()
  })
}

const V21 = '/api/explore/v2.1/catalog/datasets'
const PAGE = `${V21}/trees/records?limit=2`

t.test('429 has the form of the errors of each API', async t => {
  const server = await serve(t, await portalFor(t), { quotas: { domain: 0 } })
  await server.open()
  const REST = /^\{\s*"errorcode": 10002,/
  const PROBLEM = /^\{\s*"type": "about:blank",\s*"title": "QuotaExceeded",\s*"status": 429,/
  const cases: readonly (readonly [url: string, accept: string, type: string, body: RegExp])[] = [
    [PAGE, '*/*', 'application/json', REST],
    ['/api/management/v1/datasets', '*/*', 'application/json', REST],
    ['/api/nothing', '*/*', 'application/json', REST],
    ['/api/odata/trees', '*/*', 'application/json;odata.metadata=minimal', /^\{\s*"error":\s*\{/],
    ['/api/odata/trees?$format=atom', '*/*', 'application/xml', /<(?:m:)?error /],
    ['/api/sparql/trees?query=ASK%7B%7D', '*/*', 'application/problem+json', PROBLEM],
    ['/api/sparql/trees/none/at/all', '*/*', 'application/problem+json', PROBLEM],
    ['/api/tpf/trees', '*/*', 'application/problem+json', PROBLEM],
    ['/.well-known/void', 'text/turtle', 'application/problem+json', PROBLEM],
    ['/ld/data/trees', 'text/turtle', 'application/problem+json', PROBLEM],
    ['/ld/data/trees', 'text/html', 'text/html', /Too many calls/],
  ]
  for (const [url, accept, type, body] of cases) {
    const answer = await ask(server.port, url, { headers: { accept } })
    t.equal(answer.status, 429, url)
    t.ok(answer.headers['content-type']?.startsWith(type), `${url} ${answer.headers['content-type']}`)
    t.match(answer.body, body, url)
    t.match(answer.headers, { 'retry-after': /^[1-9]\d*$/, 'x-ratelimit-remaining': '0' }, url)
    t.equal(answer.headers['odata-version'], url.startsWith('/api/odata/') ? '4.0' : undefined, url)
  }
})

t.test('1,000 calls against 900, by 50 at once and with a restart among them', async t => {
  const portal = await portalFor(t)
  const settings = { quotas: { domain: 900 } }
  let server = await serve(t, portal, settings)
  await server.open()
  const { port } = server
  const agent = new Agent({ keepAlive: true, maxSockets: 50 })
  t.teardown(() => agent.destroy())
  const answers: Answer[] = []
  let requested = 0
  const callInTurn = async () => {
    while (requested < 1000) {
      requested++
      // Some are answered by the routes and some before them.
      const url = requested % 3 === 0 ? `${PAGE}&offset=${requested % 2}` : PAGE
      for (;;) {
        const answer = await ask(port, url, { agent }).catch(() => null)
        if (answer !== null && answer.status !== 503) {
          answers.push(answer)
          break
        }
        // Nobody listens while the server begins anew, or its data is not there yet.
        await new Promise(resolve => setTimeout(resolve, 20))
      }
    }
  }
  const calls = Array.from({ length: 50 }, callInTurn)
  while (answers.length < 400) await new Promise(resolve => setTimeout(resolve, 1))
  await server.app.close()
  t.ok(answers.length < 900, 'the restart is in the middle')
  server = await serve(t, portal, settings, port)
  await server.open()
  await Promise.all(calls)
  const given = answers.filter(({ status }) => status === 200)
  const refused = answers.filter(({ status }) => status === 429)
  t.same([given.length, refused.length], [900, 100])
  t.equal(new Set(given.map(({ headers }) => headers['x-ratelimit-remaining'])).size, 900)
  for (const { headers, body } of refused.slice(0, 3)) {
    t.match(JSON.parse(body), {
      errorcode: 10002,
      reset_time: /^\d{4}-\d\d-\d\dT00:00:00Z$/,
      limit_time_unit: 'day',
      call_limit: 900,
      error: 'Too many requests on the domain. Please contact the domain administrator.',
    })
    t.match(headers, {
      'content-type': 'application/json; charset=utf-8',
      'x-ratelimit-limit': '900',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': /^\d{4}-\d\d-\d\d 00:00:00\+00:00$/,
      'retry-after': /^[1-9]\d*$/,
      'cache-control': 'no-cache, no-store',
    })
  }
})

t.test('every endpoint: what counts, and that each answer tells what is left', async t => {
  const server = await serve(t, await portalFor(t), { quotas: { domain: 1000 } })
  let left = 1000
  const cases: readonly (readonly [string, string, number, number, Asked['headers']?])[] = [
    ['GET', PAGE, 200, 1],
    ['GET', PAGE, 200, 1],
    ['HEAD', PAGE, 200, 1],
    ['OPTIONS', PAGE, 204, 0],
    ['GET', `${V21}/trees/exports/csv`, 200, 1],
    ['GET', '/api/v2/catalog/datasets/trees/exports/jsonl', 200, 1],
    ['GET', `${V21}?limit=1000000`, 400, 1],
    ['GET', `${V21}/trees/records?where=(`, 400, 1],
    ['GET', `${V21}/trees/records?where=%ZZ`, 400, 1],
    ['GET', `${V21}/none`, 404, 1],
    ['GET', '/api/nothing', 404, 1],
    ['GET', PAGE, 401, 1, { authorization: 'Apikey wrong' }],
    ['DELETE', PAGE, 405, 1],
    ['GET', '/api/odata/trees', 200, 1],
    ['GET', '/api/odata/none', 404, 1],
    ['GET', '/api/odata/trees?$filter=(', 400, 1],
    ['GET', '/api/tpf/trees', 200, 1],
    ['GET', '/api/tpf/trees', 200, 1],
    ['GET', '/api/tpf/none', 404, 1],
    ['GET', `/api/sparql/trees?query=${encodeURIComponent('ASK {}')}`, 200, 1],
    ['GET', '/api/sparql/trees?query=none', 400, 1],
    ['GET', '/healthz', 200, 0],
    ['GET', '/readyz', 200, 0],
  ]
  const early = await ask(server.port, PAGE)
  t.same([early.status, early.headers['x-ratelimit-remaining']], [503, '1000'], 'data that is not there yet')
  await server.open()
  for (const [method, url, status, calls, headers = {}] of cases) {
    const what = `${method} ${url}`
    const answer = await ask(server.port, url, { method, headers })
    left -= calls
    t.equal(answer.status, status, `${what}: ${answer.body.slice(0, 100)}`)
    const { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining } = answer.headers
    t.same([limit, remaining], calls === 0 ? [undefined, undefined] : ['1000', String(left)], what)
  }
})

t.test(
  'users have their own quota, addresses theirs, and proxies are believed as they are set up',
  async t => {
    const portal = await portalFor(t)
    const accounts = openAccounts(path.join(portal, 'var', 'accounts.sqlite'), { now: () => Date.now() })
    t.teardown(() => accounts.close())
    await accounts.users.add('alice', 'correct horse battery')
    const { key } = await accounts.keys.create('alice', 'test')
    const server = await serve(t, portal, { quotas: { anonymous: 2, user: 4 }, proxies: 1 })
    await server.open()
    const from = (forwarded: string) => ask(server.port, PAGE, { headers: { 'x-forwarded-for': forwarded } })
    const described = ({ status, headers, body }: Answer) =>
      status === 200
        ? `${headers['x-ratelimit-remaining']} of ${headers['x-ratelimit-limit']}`
        : `${status} ${JSON.parse(body).call_limit}`
    const cases: readonly (readonly [string, string])[] = [
      ['192.0.2.1', '1 of 2'],
      ['203.0.113.1, 192.0.2.1', '0 of 2'],
      ['203.0.113.2, 192.0.2.1', '429 2'],
      ['192.0.2.1:4711', '429 2'],
      ['192.0.2.1, 192.0.2.2', '1 of 2'],
      ['2001:db8::1', '1 of 2'],
      ['2001:db8::2:1', '0 of 2'],
      ['[2001:db8:0:0:1::]:80', '429 2'],
      ['2001:db8:0:1::', '1 of 2'],
      ['made up', '1 of 2'],
      ['127.0.0.1', '0 of 2'],
    ]
    for (const [forwarded, expected] of cases) t.equal(described(await from(forwarded)), expected, forwarded)
    const call = () => ask(server.port, PAGE, { headers: { authorization: `Apikey ${key}` } }).then(described)
    t.same([await call(), await call()], ['3 of 4', '2 of 4'])
    await accounts.users.setQuota('alice', 3)
    t.same([await call(), await call()], ['0 of 3', '429 3'])
    await accounts.users.setQuota('alice', null)
    t.same([await call(), await call()], ['0 of 4', '429 4'])
  },
)
