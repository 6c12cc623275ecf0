import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { Fault, faultText } from '../../src/errors/errors.ts'
import { zip } from '../../src/formats/zip-stream.ts'
import { readDefinition } from '../../src/publishing/definition.ts'
import { publishDataset } from '../../src/publishing/publish.ts'
import { refreshRemote } from '../../src/publishing/remote/refresh.ts'
import { dueRemotes, remoteFolder, remoteState } from '../../src/publishing/remote/state.ts'
import { versionsOf } from '../../src/publishing/versions/versions.ts'
import { isSchedule, nextTime } from '../../src/runtime/cron.ts'
import { connectionFailure } from '../../src/sources/address/failures.ts'
import { fetchAddress } from '../../src/sources/address/fetch.ts'
import { type FetchLimits, isPrivateAddress } from '../../src/sources/address/limits.ts'
import { selfSigned } from '../support/certificate.ts'
import { temporaryFolder } from '../support/folder.ts'
import { FtpServer } from '../support/ftp-server.ts'
import { publishReports } from '../support/portal.ts'
import { startReadyServer, until } from '../support/serving.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

let answer: Answer = (_, response) => response.end()
const server = createServer((request, response) => answer(request, response))
let origin = ''

t.before(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
t.teardown(() => {
  server.closeAllConnections()
  server.close()
})

const folder = temporaryFolder(t, {})
const LIMITS: FetchLimits = {
  privateHosts: ['127.0.0.1'],
  size: 100_000,
  idle: 300,
  duration: 60_000,
  pauses: [1],
}

async function fetched(
  url: string,
  limits: Partial<FetchLimits> = {},
  authorization?: string,
): Promise<string> {
  const file = join(folder, 'fetched')
  rmSync(file, { force: true })
  try {
    const found = await fetchAddress(url, file, {}, { ...LIMITS, ...limits }, authorization)
    return found.type === 'changed' ? `${found.size} ${found.mediaType} ${found.name}` : found.type
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    t.notOk(existsSync(file), 'nothing is left behind')
    return faultText(error)
  }
}

t.test('private addresses', async t => {
  for (const address of [
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    '::',
    '::127.0.0.1',
    'fec0::1',
    'fd00::1',
    'fe80::1',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    '224.0.0.1',
  ])
    t.ok(isPrivateAddress(address), address)
  for (const address of ['8.8.8.8', '172.32.0.1', '2606:4700::1111', '192.169.0.1'])
    t.notOk(isPrivateAddress(address), address)
})

t.test('hosts that are private, or are not to be asked, are refused', async t => {
  answer = (_, response) =>
    response
      .writeHead(200, {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="a.csv"',
      })
      .end('a\n1\n')
  t.equal(await fetched(`${origin}/x`), '4 text/csv a.csv')
  t.match(await fetched(`${origin}/x`, { privateHosts: [] }), /private address/)
  t.match(
    await fetched(`${origin.replace('127.0.0.1', 'localhost')}/x`, { privateHosts: [] }),
    /resolves to the private address/,
  )
  t.match(await fetched(`http://[::ffff:127.0.0.1]:1/x`, { privateHosts: [] }), /private address/)
  t.match(
    await fetched(`http://2130706433/x`, { privateHosts: [] }),
    /private address/,
    'an address as one number',
  )
  t.match(
    await fetched(`${origin}/x`, { hosts: ['example.org'], privateHosts: [] }),
    /not one of source_hosts/,
  )
})

t.test('redirects lead to no other protocol, no private address and not on for ever', async t => {
  answer = (_, response) => response.writeHead(302, { location: 'http://localhost:1/secret' }).end()
  t.match(await fetched(`${origin}/x`), /resolves to the private address/, 'after a redirect')
  answer = (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end()
  t.match(await fetched(`${origin}/x`), /file: is not a protocol/)
  answer = ({ url }, response) => response.writeHead(302, { location: `${url}x` }).end()
  t.match(await fetched(`${origin}/x`), /redirects more than 5 times/)
})

t.test('what is too large or too slow is left', async t => {
  answer = (_, response) => {
    response.writeHead(200)
    const more = () => {
      if (!response.destroyed) response.write(Buffer.alloc(10_000), () => setImmediate(more))
    }
    more()
  }
  t.match(await fetched(`${origin}/x`), /more than 100000 bytes/)
  answer = (_, response) => void response.writeHead(200, { 'content-length': '10000000000' }).write('a')
  t.match(await fetched(`${origin}/x`), /more than 100000 bytes/)
  answer = () => undefined
  t.match(await fetched(`${origin}/x`), /does not answer within 0.3 s/)
  answer = (_, response) => void response.writeHead(200).write('a\n')
  t.match(await fetched(`${origin}/x`), /sends nothing for 0.3 s/)
})

t.test('content codings that were not requested are decoded', async t => {
  const text = `n,name\n${'1,Oak\n'.repeat(1000)}`
  const codings: readonly (readonly [header: string, body: Buffer | string, outcome: RegExp])[] = [
    ['gzip', gzipSync(text), /^6007 /],
    ['x-gzip', gzipSync(text), /^6007 /],
    ['br', brotliCompressSync(text), /^6007 /],
    ['deflate', deflateSync(text), /^6007 /],
    ['deflate', deflateRawSync(text), /^6007 /],
    ['deflate, gzip', gzipSync(deflateSync(text)), /^6007 /],
    ['identity', text, /^6007 /],
    ['gzip', text, /^6007 /],
    ['gzip', '', /sends nothing/],
    ['br', text, /its content is not br/],
    ['zstd', text, /the content coding zstd.*\n.*gzip, deflate, br/],
    ['gzip, gzip, gzip, gzip', text, /4 content codings, at most 3/],
    ['gzip', gzipSync(text).subarray(0, 40), /the connection broke/],
    ['gzip', gzipSync(Buffer.alloc(200_000)), /more than 100000 bytes/],
  ]
  for (const [header, body, outcome] of codings) {
    answer = (_, response) => void response.writeHead(200, { 'content-encoding': header }).end(body)
    t.match(await fetched(`${origin}/x.csv`), outcome, header)
  }
  answer = (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text))
  const { publish } = portalFrom(t, `${origin}/far.csv.gz`)
  t.equal(await publish(), 'published 1000', 'whatever the address ends in')
})

t.test('what sends a little again and again is left after a while', async t => {
  answer = (_, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('a\n'), 20)
    response.once('close', () => clearInterval(timer))
  }
  t.match(
    await fetched(`${origin}/x`, { duration: 200 }),
    /takes more than 0.2 s.*\n.*source_duration allows more/,
  )
  let times = 0
  answer = (_, response) => {
    times++
    setTimeout(() => response.writeHead(503).end(), 60)
  }
  t.match(await fetched(`${origin}/x`, { duration: 100, pauses: [1, 9000] }), /takes more than 0.1 s/)
  t.equal(times, 2, 'retries end with it')
})

t.test('failures are told with the way out and without secrets, or tried again', async t => {
  answer = (_, response) => response.writeHead(404).end('gone')
  t.match(await fetched(`${origin}/x?token=secret`), /it answers 404.*\n.*correct the url/)
  t.notMatch(await fetched(`${origin}/x?token=secret`), /secret/)
  answer = (_, response) => response.writeHead(403).end()
  t.match(await fetched(`${origin}/x`), /it answers 403.*\n.*with authorization/)
  let times = 0
  answer = (_, response) => (times++ === 0 ? response.writeHead(503).end() : response.end('a\n1\n'))
  t.equal(await fetched(`${origin}/x.csv`), '4  x.csv', 'tried again')
  answer = (_, response) => response.writeHead(304).end()
  t.match(await fetched(`${origin}/x.csv`), /it answers 304/, 'without a file that could be unchanged')
  const moments: number[] = []
  answer = (_, response) => {
    moments.push(Date.now())
    const soon = new Date(Date.now() + 1500).toUTCString()
    if (moments.length === 1) response.writeHead(429, { 'retry-after': soon }).end()
    else response.end('a\n1\n')
  }
  t.equal(await fetched(`${origin}/x.csv`), '4  x.csv')
  const [first = 0, second = 0] = moments
  t.ok(second - first > 300, 'after the date that the header names')
  times = 0
  answer = (_, response) => {
    times++
    response.writeHead(503, { 'retry-after': '3600' }).end()
  }
  t.match(await fetched(`${origin}/x.csv`), /it answers 503 and asks to wait 3600 s/)
  t.equal(times, 1, 'a long wait is left to the schedule')
})

t.test('credentials stay with their host', async t => {
  const given: (string | undefined)[] = []
  answer = ({ url, headers }, response) => {
    given.push(headers.authorization)
    if (url === '/x')
      response.writeHead(302, { location: `${origin.replace('127.0.0.1', 'localhost')}/y` }).end()
    else response.end('a\n')
  }
  await fetched(`${origin}/x`, { privateHosts: ['127.0.0.1', 'localhost'] }, 'Bearer abc')
  t.strictSame(given, ['Bearer abc', undefined], 'credentials stay with their host')
})

t.test('FTP', async t => {
  const ftp = new FtpServer()
  const place = await ftp.start()
  t.teardown(() => ftp.stop())
  ftp.files.set('data/a b.csv', 'a\n1\n')
  const file = `${place}/data/a%20b.csv`
  const right = `Basic ${Buffer.from('anna:right').toString('base64')}`
  t.equal(await fetched(file), '4  a b.csv')
  t.equal(await fetched(file, {}, right), '4  a b.csv')
  t.match(ftp.commands, ['USER anonymous'])
  t.match(ftp.commands.join('\n'), /USER anna\nPASS right\n/)
  t.match(
    await fetched(file, {}, `Basic ${Buffer.from('anna:wrong').toString('base64')}`),
    /answers 530.*\n.*with authorization/,
  )
  t.match(await fetched(file, {}, 'Bearer abc'), /its authorization is not Basic/)
  t.match(await fetched(`${place}/data/none.csv`), /answers 550.*\n.*correct the url/)
  t.match(await fetched(`${place}/data/`), /names no file/)
  ftp.commands.length = 0
  t.match(await fetched(`${place}/a%0D%0ADELE%20b`), /names no file/)
  t.strictSame(ftp.commands, [], 'nothing was asked')
  t.match(await fetched(file, { privateHosts: [] }), /private address/)
  t.match(
    await fetched(file.replace('127.0.0.1', 'localhost'), { privateHosts: [] }),
    /resolves to the private/,
  )
  t.match(await fetched(file, { size: 3 }), /more than 3 bytes/)
  t.match(await fetched(file.replace('ftp:', 'ftps:')), /cannot be fetched/, 'no TLS')
  const known = await fetchAddress(file, join(folder, 'fetched'), {}, LIMITS)
  const validators = known.type === 'changed' ? known.validators : {}
  t.strictSame(await fetchAddress(file, join(folder, 'fetched'), validators, LIMITS), { type: 'unchanged' })
  ftp.modified = '20240101000001'
  t.match(await fetchAddress(file, join(folder, 'fetched'), validators, LIMITS), { type: 'changed' })
  ftp.manner = 'plain'
  t.match(await fetchAddress(file, join(folder, 'fetched'), {}, LIMITS), { size: 4, validators: {} })
  t.match(await fetched(file, { size: 3 }), /more than 3 bytes/, 'of which nothing is said')
  ftp.manner = 'hang'
  t.match(await fetched(file), /sends nothing for 0.3 s/)
  ftp.manner = 'far'
  t.match(await fetched(file), /another host/, 'data come from the host that was checked')
  ftp.manner = 'busy'
  ftp.commands.length = 0
  t.match(await fetched(file), /it answers 421/)
  t.strictSame(ftp.commands, ['QUIT', 'QUIT'], 'tried again')
  ftp.manner = 'talk'
  t.match(await fetched(file, { duration: 500 }), /takes more than 0.5 s/, 'talks without an end')
  answer = (_, response) => response.writeHead(302, { location: file }).end()
  t.match(await fetched(`${origin}/x`), /redirects to ftp:/)
})

t.test('FTP: the words of the server, and advice that fits them', async t => {
  const ftp = new FtpServer()
  const place = await ftp.start()
  t.teardown(() => ftp.stop())
  const anna = `Basic ${Buffer.from('anna:right').toString('base64')}`
  const file = `${place}/none.csv`
  const tls = new RegExp(`begin the url with ${place.replace('ftp:', 'ftps:')}/ in place`)
  const rows: readonly (readonly [
    reply: string,
    authorization: string | undefined,
    found: RegExp,
    advice: RegExp,
  ])[] = [
    ['550 no such file.', undefined, /it answers 550 \(no such file\)\./, /correct the url/],
    ['550 No such file or directory', undefined, /550 \(No such file or directory\)/, /correct the url/],
    ['550', undefined, /it answers 550\./, /correct the url/],
    ['550 SSL/TLS required on the control channel', undefined, /SSL\/TLS required on the/, tls],
    ['530 Non-anonymous sessions must use encryption.', anna, /must use encryption\)/, tls],
    ['421 Cleartext sessions are not accepted', undefined, /Cleartext sessions/, tls],
    ['550 none.csv: Permission denied', undefined, /Permission denied/, /variable that has its credentials/],
    ['550 none.csv: Permission denied', anna, /Permission denied/, /of a user who may read/],
    ['550 Is a directory.', undefined, /550 \(Is a directory\)/, /that of a folder/],
    ['550 sub: Not a regular file', undefined, /Not a regular file/, /that of a folder/],
    ['550-one\r\n550 two', undefined, /550 \(one two\)/, /correct the url/],
    [`550 ${'x'.repeat(5000)}`, undefined, /550 \(x{200}…\)/, /correct the url/],
    [
      '550 ftp://anna:right@here: right is wrong for anna',
      anna,
      /\(ftp:\/\/redacted@here: … is wrong for …\)/,
      /correct/,
    ],
  ]
  for (const [reply, authorization, found, advice] of rows) {
    ftp.replies.file = reply
    const text = await fetched(file, {}, authorization)
    t.match(text, found, reply)
    t.match(text, advice, reply)
  }
  ftp.replies.user = '550 SSL/TLS required on the control channel'
  t.match(await fetched(file), tls, 'before the file is asked for')
})

t.test('certificates that cannot be verified', async t => {
  const { privateKey: key, certificate: cert } = selfSigned('localhost')
  let connections = 0
  const https = createHttpsServer({ key, cert }, (_, response) => response.end('a\n1\n'))
  https.on('connection', () => connections++)
  await new Promise<void>(resolve => https.listen(0, '127.0.0.1', resolve))
  t.teardown(() => https.close())
  const { port } = https.address() as AddressInfo
  const advice = /certificate cannot be verified \(self-signed certificate.*\)\.\n.*NODE_EXTRA_CA_CERTS/
  t.match(await fetched(`https://127.0.0.1:${port}/x.csv`), advice)
  t.equal(connections, 1, 'not tried again')
  const ftp = new FtpServer()
  ftp.tls = { key, cert }
  const place = await ftp.start()
  t.teardown(() => ftp.stop())
  t.match(await fetched(`${place.replace('ftp:', 'ftps:')}/x.csv`), advice, 'FTP')
  const expired = Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' })
  const failure = connectionFailure(expired, new URL('https://data.example/x'))
  t.ok(
    failure instanceof Fault && /operator of the host/.test(faultText(failure)),
    'another authority is no way out',
  )
})

t.test('schedules', async t => {
  const at = (text: string) => Date.parse(text)
  const cases: readonly (readonly [schedule: string, last: string, next: string])[] = [
    ['daily', '2024-01-01T10:00:00Z', '2024-01-02T10:00:00Z'],
    ['hourly', '2024-01-01T10:00:00Z', '2024-01-01T11:00:00Z'],
    ['0 3 * * *', '2024-01-01T10:00:00Z', '2024-01-02T03:00:00Z'],
    ['*/15 * * * *', '2024-01-01T10:07:30Z', '2024-01-01T10:15:00Z'],
    ['30 6 * * mon-fri', '2024-01-05T07:00:00Z', '2024-01-08T06:30:00Z'],
    ['0 0 29 2 *', '2024-03-01T00:00:00Z', '2028-02-29T00:00:00Z'],
    ['0 0 29 2 *', '2096-03-01T00:00:00Z', '2104-02-29T00:00:00Z'],
    ['0 0 13 * 5', '2024-09-01T00:00:00Z', '2024-09-06T00:00:00Z'],
    ['0 0 * * 7', '2024-01-01T00:00:00Z', '2024-01-07T00:00:00Z'],
  ]
  for (const [schedule, last, next] of cases) t.equal(nextTime(schedule, at(last), 0), at(next), schedule)
  t.equal(nextTime('weekly', 0, 1), 120_000, 'sooner after a failure')
  t.equal(nextTime(undefined, 0, 0), null)
  for (const wrong of [
    'often',
    '* * * *',
    '60 * * * *',
    '5-1 * * * *',
    '*/0 * * * *',
    '0 0 31 2 *',
    '0 0 31 4,6 *',
  ])
    t.notOk(isSchedule(wrong), wrong)
  t.ok(isSchedule('0 0 31 2 mon'), 'a day of the week is enough')
})

/** A portal with a dataset that is published from an address, a day after the publication before. */
function portalFrom(t: Test, url: string) {
  const portal = temporaryFolder(t, {
    'portal.yaml': 'source_private_hosts: [127.0.0.1]\nsource_timeout: 0.3\n',
    data: {
      far: {
        'dataset.yaml': `source: { url: "${url}", authorization: SOURCE_AUTH_FAR }\nrefresh: daily\n`,
      },
    },
  })
  process.env.SOURCE_AUTH_FAR = 'Bearer far'
  t.teardown(() => delete process.env.SOURCE_AUTH_FAR)
  let clock = Date.parse('2024-01-01T00:00:00Z')
  const publish = async () => {
    clock += 86_400_000
    const context = {
      portal,
      base: 'http://localhost',
      versions: versionsOf(portal),
      now: () => new Date(clock),
    }
    return publishDataset('far', context).then(
      ({ type, manifest }) => `${type} ${manifest.statistics.records}`,
      (error: unknown) => (error instanceof Fault ? faultText(error) : Promise.reject(error)),
    )
  }
  return { portal, publish, clock: () => clock }
}

t.test('a dataset from an address', async t => {
  const { portal, publish, clock } = portalFrom(t, `${origin}/far.csv`)
  const headers: IncomingMessage['headers'][] = []
  const sends =
    (status: number, body: string, more: Record<string, string> = {}): Answer =>
    (request, response) => {
      headers.push(request.headers)
      response.writeHead(status, more).end(body)
    }

  await t.test('it is fetched with its authorization, and on its schedule if it changed', async t => {
    answer = sends(500, '')
    t.match(await publish(), /answers 500/)
    answer = sends(200, 'n\n1\n2\n', { etag: '"one"' })
    t.equal(await publish(), 'published 2')
    t.match(headers.at(-1), { authorization: 'Bearer far' })
    t.match(remoteState(portal, 'far'), { failures: 0, etag: '"one"', next: '2024-01-04T00:00:00.000Z' })
    t.strictSame(dueRemotes(portal, clock()), [])
    t.strictSame(dueRemotes(portal, clock() + 86_400_000), ['far'])
    t.strictSame(dueRemotes(portal, clock() - 86_400_000), ['far'], 'after a clock that was ahead')
    answer = sends(304, '')
    t.equal(await publish(), 'unchanged 2')
    t.match(headers.at(-1), { 'if-none-match': '"one"' })
    answer = sends(200, 'n\n1\n2\n')
    t.equal(await publish(), 'unchanged 2', 'the same data of a server without conditional answers')
    t.match(remoteState(portal, 'far'), {
      failures: 0,
      etag: undefined,
      asked: new Date(clock()).toISOString(),
    })
    answer = sends(200, 'n\n1\n3\n', { etag: '"one"' })
    t.equal(await publish(), 'published 2', 'as many bytes, and others')
    answer = sends(200, 'n\n1\n2\n', { etag: '"one"' })
    t.equal(await publish(), 'published 2')
    t.equal(await publish(), 'unchanged 2')
  })

  await t.test('a changed schedule is in force at once, also where others fetch', async t => {
    const definition = join(portal, 'data/far/dataset.yaml')
    const before = readFileSync(definition, 'utf8')
    const next = async (text: string) => {
      writeFileSync(definition, text)
      const context = { portal, base: 'http://localhost', versions: versionsOf(portal) }
      await publishDataset('far', { ...context, withoutFetching: true, now: () => new Date(clock()) })
      return Date.parse(remoteState(portal, 'far')?.next ?? '') - clock()
    }
    const [daily, hourly] = [await next(before), await next(before.replace('daily', 'hourly'))]
    t.strictSame([daily, hourly], [86_400_000, 3_600_000])
    t.equal(await next(before), daily)
  })

  await t.test('answers that are no data are counted and told, and the good data stay', async t => {
    for (const [what, next] of [
      ['a web page', sends(200, '<!doctype html><p>down</p>')],
      ['nothing', sends(200, '')],
      ['404', sends(404, 'no')],
      ['a broken table', sends(200, '{"a":')],
      ['an open quote', sends(200, 'n\n1\n"2\n')],
      ['silence', (() => undefined) as Answer],
      ['a private address', sends(302, '', { location: 'http://localhost:1/' })],
    ] as const) {
      answer = next
      await publish()
      t.equal(
        await publish().then(() => readDefinition(portal, 'far').definition?.source.path !== undefined),
        true,
      )
      const state = remoteState(portal, 'far')
      t.ok((state?.failures ?? 0) > 0, `${what}: is counted`)
      t.ok(state?.reason, `${what}: is told`)
      t.notMatch(state?.reason, /data-/, `${what}: without the name of the file`)
      t.match(state?.reason, /far\.csv|private address|no records/, `${what}: with the address`)
      t.equal(
        readFileSync(join(remoteFolder(portal, 'far'), state?.file ?? ''), 'utf8'),
        'n\n1\n2\n',
        `${what}: the good data stay`,
      )
    }
  })

  await t.test('data that were lost are fetched anew', async t => {
    answer = (request, response) =>
      request.headers['if-none-match'] === undefined
        ? void response.writeHead(200, { etag: '"one"' }).end('n\n1\n2\n')
        : void response.writeHead(304).end()
    await publish()
    const file = join(remoteFolder(portal, 'far'), remoteState(portal, 'far')?.file ?? '')
    rmSync(file)
    t.equal(await publish(), 'published 2')
    t.ok(existsSync(join(remoteFolder(portal, 'far'), remoteState(portal, 'far')?.file ?? '')))
  })

  await t.test('new data end the failures, and old files do not gather', async t => {
    answer = sends(200, 'n\n1\n2\n3\n', { etag: '"two"' })
    t.equal(await publish(), 'published 3')
    t.match(remoteState(portal, 'far'), { failures: 0 })
    t.equal(remoteState(portal, 'far')?.reason, undefined)
    t.ok(readdirSync(remoteFolder(portal, 'far')).length <= 3, 'old files do not gather')
  })
})

t.test('two fetches of an address at once leave whole data, and neither fails', async t => {
  const { portal } = portalFrom(t, `${origin}/far.csv`)
  writeFileSync(join(portal, 'portal.yaml'), 'source_private_hosts: [127.0.0.1]\n')
  const held: ServerResponse[] = []
  answer = (_, response) => {
    response.write('n\n1\n')
    held.push(response)
  }
  const remote = { url: `${origin}/far.csv` }
  const fetching = [1, 2].map(day =>
    refreshRemote(portal, 'far', remote, { now: () => new Date(2024, 0, day), isForced: true }),
  )
  await until(() => held.length === 2)
  for (const [at, response] of held.entries()) {
    response.end('2\n')
    await fetching[at]
  }
  const names = readdirSync(remoteFolder(portal, 'far'))
  const file = remoteState(portal, 'far')?.file ?? ''
  t.strictSame(names.sort(), [file, 'state.json'])
  t.equal(readFileSync(join(remoteFolder(portal, 'far'), file), 'utf8'), 'n\n1\n2\n')
})

t.test('a mistake in dataset.yaml does not bring back data before those that are published', async t => {
  const { portal, publish } = portalFrom(t, `${origin}/far.csv`)
  const definition = join(portal, 'data/far/dataset.yaml')
  const before = readFileSync(definition, 'utf8')
  const sends = (body: string) => {
    answer = (_, response) => response.end(body)
    return publish()
  }
  t.equal(await sends('n\n1\n'), 'published 1')
  t.equal(await sends('n\n1\n2\n'), 'published 2')
  writeFileSync(definition, `${before}fields: [{ name: m, type: int }]\n`)
  answer = (_, response) => response.writeHead(404).end()
  t.match(await publish(), /takes its values from "m"/)
  writeFileSync(definition, `${before}fields: [{ name: n, type: int }]\n`)
  t.equal(await publish(), 'published 2')
  t.match(await sends('n\n"2'), /quot/)
  t.equal(await sends('n\n1\n2\n'), 'unchanged 2', 'data that cannot be published give way as before')
})

t.test('options name the file of an archive and the encoding', async t => {
  const { portal, publish } = portalFrom(t, `${origin}/far.zip`)
  const definition = join(portal, 'data/far/dataset.yaml')
  const before = readFileSync(definition, 'utf8')
  const files = ['a.csv', 'b.csv'].map((name, at) => ({ name, content: ['n\n1\n2\n', '3\n'.repeat(at)] }))
  const archive = await buffer(Readable.from(zip(files)))
  answer = (_, response) => response.end(archive)
  t.match(await publish(), /far\.zip: The archive has 2 files of data, and one has to be chosen/)
  t.ok(remoteState(portal, 'far')?.file, 'it can be looked at, to choose one')
  writeFileSync(definition, `${before}options: { file: b.csv }\n`)
  t.equal(await publish(), 'published 3')
  writeFileSync(definition, `${before}options: { file: c.csv }\n`)
  t.match(
    await publish(),
    /dataset\.yaml:3:12: The archive has no file "c\.csv"\.\n {2}Files: a\.csv, b\.csv/,
  )
  answer = (_, response) => response.end(Buffer.from('n\n1\n2\n3\n4\n', 'utf16le').swap16())
  writeFileSync(definition, `${before}format: csv\noptions: { encoding: utf-16be }\n`)
  t.equal(await publish(), 'published 4')
})

t.test('slow addresses hold up neither a start nor other datasets', async t => {
  let isSlow = true
  answer = (_, response) => {
    if (!isSlow) return void response.end('n\n1\n2\n')
    response.writeHead(200)
    const timer = setInterval(() => (isSlow ? response.write('n\n1\n2\n') : response.destroy()), 50)
    response.once('close', () => clearInterval(timer))
  }
  const portal = temporaryFolder(t, {
    'portal.yaml': 'source_private_hosts: [127.0.0.1]\n',
    data: {
      a: { 'dataset.yaml': `source: { url: "${origin}/a.csv" }\n` },
      b: { 'dataset.yaml': `source: { url: "${origin}/b.csv" }\n` },
      c: { 'dataset.yaml': `source: { url: "${origin}/c.csv" }\n` },
      near: { 'dataset.yaml': 'source: { path: n.csv }\n', 'n.csv': 'n\n1\n' },
    },
  })
  const server = await startReadyServer(t, portal)
  t.equal((await fetch(`${server.address}/readyz`)).status, 200)
  const records = async (id: string) => {
    const got = await fetch(`${server.address}/api/explore/v2.1/catalog/datasets/${id}/records`)
    return got.ok ? ((await got.json()) as { total_count: number }).total_count : got.status
  }
  const listed = await fetch(`${server.address}/api/explore/v2.1/catalog/datasets`)
  t.match(await listed.json(), { total_count: 1 })
  t.equal(await records('near'), 1)
  writeFileSync(join(portal, 'data/near/n.csv'), 'n\n1\n2\n3\n')
  await until(async () => (await records('near')) === 3, 20_000)
  t.equal(await records('a'), 404)
  isSlow = false
  for (const id of ['a', 'b', 'c']) await until(async () => (await records(id)) === 2, 40_000)
})

t.test('a schedule without an address is told', async t => {
  const portal = temporaryFolder(t, {
    data: { far: { 'dataset.yaml': 'source: { path: a.csv }\nrefresh: daily\n' } },
  })
  t.match(
    readDefinition(portal, 'far').problems[0]?.message,
    /refresh means something only for a source with an url/,
  )
})

t.test('publishing by name reports why an address gave no new data', async t => {
  const portal = temporaryFolder(t, {
    'portal.yaml': 'source_private_hosts: [127.0.0.1]\n',
    data: { far: { 'dataset.yaml': `source: { url: "${origin}/far.csv" }\n` } },
  })
  const publish = () => publishReports(portal, { base: 'http://localhost', isNamed: true }, ['far'])
  answer = (_, response) => response.end('a\n1\n')
  t.notMatch(await publish(), [{ fetchFailure: String }])
  answer = (_, response) => response.writeHead(404).end()
  t.match(await publish(), [{ type: 'unchanged', records: 1, fetchFailure: /it answers 404/ }])
})

t.test('publishing by name asks again where the first data of an address could not be published', async t => {
  const datasets = ['one', 'two']
  const portal = temporaryFolder(t, {
    'portal.yaml': 'source_private_hosts: [127.0.0.1]\n',
    data: Object.fromEntries(
      datasets.map(id => [id, { 'dataset.yaml': `source: { url: "${origin}/data" }\nrefresh: daily\n` }]),
    ),
  })
  const parallel = { threads: 2, memory: 2 ** 30 }
  const publish = () =>
    publishReports(portal, { base: 'http://localhost', isNamed: true, parallel }, datasets)
  answer = (_, response) => response.end('{"error": "try again later"}')
  t.match(await publish(), [{ reason: /no array/ }, { reason: /no array/ }])
  answer = (_, response) => response.end('a\n1\n')
  t.match(await publish(), [{ records: 1 }, { records: 1 }])
})
