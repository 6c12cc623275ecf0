import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { exclusively } from '../../src/publishing/versions/exclusively.ts'

/** Counts in a file of a folder, as often as it says, where other processes do so, too. */
const [home = '', times = '0'] = process.argv.slice(2)
const file = path.join(home, 'count')
for (let at = 0; at < Number(times); at++)
  exclusively(home, () => {
    const count = Number(readFileSync(file, 'utf8'))
    const end = Date.now() + 2
    while (Date.now() < end);
    writeFileSync(file, String(count + 1))
  })
