/**
 * Runs built test files (test/build.js), two at a time, each as a process of its own without loaders: `node test/run.js [folder] [name ...]`.
 * `folder` is one of test (long, engines, browser), a name takes the files that have it in theirs. Prints one line of TAP for a file,
 * what was skipped with its reason, and all that a failing file printed; ends with 1 where one failed.
 */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const FOLDERS = ['long', 'engines', 'browser']
const JOBS = Math.max(2, Math.floor(os.availableParallelism() / 2))
/** Seconds that a file may take. */
const TIMEOUT = 1800

const root = path.dirname(import.meta.dirname)
const [first = '', ...rest] = process.argv.slice(2)
const folder = FOLDERS.includes(first) ? first : ''
const names = (folder === '' ? [first, ...rest] : rest).filter(name => name !== '')

/** The counts that tap prints at the end of a file: `# { total: 12, pass: 11, skip: 1 }`. */
function countsOf(output) {
  const [, text = ''] = output.match(/^# (\{ total: .*\})$/m) ?? []
  return Object.fromEntries(
    [...text.matchAll(/(\w+): (\d+)/g)].map(([, name, count]) => [name, Number(count)]),
  )
}

/** Runs one file; a process that ends well without its counts did not come to its end. */
async function run(file) {
  const begin = performance.now()
  const child = spawn(process.execPath, [file], {
    cwd: root,
    env: { ...process.env, TAP_TIMEOUT: String(TIMEOUT), ...(folder === 'long' ? { LONG: '1' } : {}) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const pieces = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', piece => pieces.push(piece))
  const late = new AbortController()
  // The file ends itself at its time; this is for one that cannot.
  wait((TIMEOUT + 30) * 1000, undefined, { ref: false, signal: late.signal }).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  )
  const code = await new Promise(resolve => child.on('close', resolve))
  late.abort()
  const output = Buffer.concat(pieces).toString()
  const counts = countsOf(output)
  return { output, counts, passed: code === 0 && counts.total > 0, time: (performance.now() - begin) / 1000 }
}

const chosen = path.join(root, '.built', folder)
const wanted = names.map(name => path.basename(name).replace(/\.test\.[jt]s$/, ''))
const files = readdirSync(chosen).filter(
  name => name.endsWith('.test.js') && (wanted.length === 0 || wanted.some(part => name.includes(part))),
)
if (files.length === 0) throw new Error(`no test file has ${names.join(' or ')} in its name`)
const totals = {}
const failed = []
let next = 0

async function work() {
  while (next < files.length) {
    const place = next++
    const name = files[place]
    const { output, counts, passed, time } = await run(path.join(chosen, name))
    for (const [key, count] of Object.entries(counts)) totals[key] = (totals[key] ?? 0) + count
    if (!passed) {
      failed.push(name)
      process.stdout.write(output.replaceAll(/^/gm, '    '))
    }
    for (const [skip] of output.matchAll(/^ *ok .*# SKIP.*$/gm)) console.log(`    ${skip.trim()}`)
    console.log(
      `${passed ? '' : 'not '}ok ${place + 1} - ${name} # ${counts.total ?? 0} in ${time.toFixed(1)} s`,
    )
  }
}

console.log(`TAP version 14\n1..${files.length}`)
await Promise.all(Array.from({ length: JOBS }, work))
const counts = Object.entries(totals).map(([key, count]) => `${key}: ${count}`)
console.log(`# { ${counts.join(', ')} }\n# time=${performance.now().toFixed(0)}ms`)
for (const name of failed) {
  const source = path.join('test', folder, name.replace(/js$/, 'ts'))
  console.log(`# failed: ${name}; alone: node --import=tsx ${source}`)
}
process.exitCode = failed.length === 0 ? 0 : 1
