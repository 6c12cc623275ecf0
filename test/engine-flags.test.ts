import { spawnSync } from 'node:child_process'
import t from 'tap'
import { scriptArguments } from './support/script.ts'

/** V8 marks nearly always, and says when it begins and ends. */
const FLAGS = ['--trace-gc', '--trace-incremental-marking', '--stress-incremental-marking']

t.test('an engine that marks garbage ends that before its flags change', t => {
  let marking = 0
  for (let held = 5_000; held < 500_000 && marking < 2; held += 5_000) {
    const args = [...FLAGS, ...scriptArguments('support/tuned-engine'), String(held)]
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    const [before = '', meanwhile = ''] = stdout.split(/^(?:before|after)$/m)
    t.ok(before, `with ${held} objects`)
    if (before.lastIndexOf('Start marking') < before.lastIndexOf('Mark-Compact')) continue
    marking++
    t.match(meanwhile, /Mark-Compact/, `marking ended with ${held} objects`)
  }
  t.equal(marking, 2, 'runs in which the engine was at it')
  t.end()
})
