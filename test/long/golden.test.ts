import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { goldenAnswers, shortDigest } from '../golden/answer.ts'
import { goldenRequests } from '../golden/requests.ts'
import { startGolden } from '../golden/server.ts'
import { temporaryFolder } from '../support/folder.ts'

/** What every endpoint answers, as digests in golden/answers.txt: UPDATE=1 writes them anew, BODIES=file the answers themselves. */
t.setTimeout(900_000)
const file = path.join(import.meta.dirname, '../golden/answers.txt')
const server = await startGolden(path.resolve(import.meta.dirname, '../..'), temporaryFolder(t, {}))
t.teardown(() => server.close())

const lines: string[] = []
const bodies: string[] = []
for await (const answer of goldenAnswers(server, goldenRequests())) {
  lines.push(`${answer.status} ${shortDigest(answer)} ${answer.request}`)
  if (process.env.BODIES !== undefined) bodies.push(JSON.stringify(answer, null, 1))
}
if (process.env.BODIES !== undefined) writeFileSync(process.env.BODIES, bodies.join('\n'))
if (process.env.UPDATE !== undefined) writeFileSync(file, `${lines.join('\n')}\n`)
const known = readFileSync(file, 'utf8').trimEnd().split('\n')

t.test('every answer is as it was', async t => {
  const before = new Set(known)
  t.same(
    lines.filter(line => !before.has(line)),
    [],
    'an answer that is meant to change is written anew with UPDATE=1',
  )
  t.equal(lines.length, known.length, 'all requests are sent')
})
