import { Readable } from 'node:stream'
import { ANONYMOUS } from '../../src/model/principal.ts'
import { Desk } from '../../src/publishing/management/desk.ts'
import { isWithdrawn, versionsOf } from '../../src/publishing/versions/versions.ts'

/** Publishes and removes at the desk of a portal whose data/ is on a read-only disk, and prints what became of it. */
const [portal = ''] = process.argv.slice(2)
const versions = versionsOf(portal)
const by = {
  ...ANONYMOUS,
  type: 'user',
  id: 1,
  name: 'ann',
  grants: new Set(['publish:*']),
  by: 'key',
} as never
const desk = new Desk({
  portal,
  base: 'http://portal.example',
  versions,
  now: Date.now,
  uploadLimit: 300,
  publications: { of: () => null, forget: () => undefined },
  publish: async () => undefined,
  refresh: async () => undefined,
  shared: null,
} as never)
const codeOf = (done: Promise<unknown>) => done.then(() => 'done').catch(error => error.code)
await desk.create(by, 'new', null)
await desk.upload(by, 'new', { name: 'a.csv', stream: Readable.from(['a\n1\n']) })
const published = await codeOf(desk.publish(by, 'new'))
const removed = await codeOf(desk.remove(by, 'trees'))
process.stdout.write(
  JSON.stringify([published, desk.dataset(by, 'new').hasDraft, removed, isWithdrawn(versions, 'trees')]),
)
process.exit()
