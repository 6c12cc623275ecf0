import path from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { runJob } from '../src/runtime/job.ts'
import { temporaryFolder } from './support/folder.ts'

/** Jobs in threads: what becomes of their results, of their failures and of those that are ended. */

const folder = temporaryFolder(t, {
  'package.json': '{"type":"module"}',
  'double.js':
    "import { parentPort, workerData } from 'node:worker_threads'\nparentPort.postMessage(workerData * 2)\n",
  'silent.js': '',
  'throws.js': "throw new Error('no such catalog')\n",
  'exits.js': 'process.exit(3)\n',
  'endless.js': "import { parentPort } from 'node:worker_threads'\nparentPort.on('message', () => {})\n",
})
const caller = pathToFileURL(path.join(folder, 'caller.js')).href

t.test('a job gives its result, or null where it has none', async t => {
  t.equal(await runJob<number>(caller, './double', 21), 42)
  t.equal(await runJob(caller, './silent', null), null)
})

t.test('what ends a job early is the reason of the rejection', async t => {
  await t.rejects(runJob(caller, './throws', null), { message: 'no such catalog' })
  await t.rejects(runJob(caller, './exits', null, { name: 'a-job' }), {
    message: 'the thread a-job ended with 3',
  })
})

t.test('a job that is ended has no result', async t => {
  t.equal(await runJob(caller, './endless', null, { deadline: 1 }), null, 'by its deadline')
  const stopping = new AbortController()
  const running = runJob(caller, './endless', null, { signal: stopping.signal })
  stopping.abort()
  t.equal(await running, null, 'by its signal')
  t.equal(await runJob(caller, './endless', null, { signal: stopping.signal }), null, 'by an earlier signal')
})
