/**
 * Runs built test files (test/build.js), each as a process of its own without loaders: `node test/run.js [folder ...] [name ...]`.
 * `folder` is `unit` (the files of test itself, those that run where no folder is named), long, engines or browser, a name takes the
 * files that have it in theirs. The longest begin first, and some more run at once than there is work for all processors: many wait
 * for servers and engines (`JOBS=n` sets how many). Prints one line of TAP for a file, what was skipped with its reason, and all that
 * a failing file printed; ends with 1 where one failed.
 */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const FOLDERS = ['unit', 'long', 'engines', 'browser']
const JOBS = Number(process.env.JOBS) || Math.floor(os.availableParallelism() / 2) + 2
/** Seconds that a file may take. */
const TIMEOUT = 1800
/** How much a function does before V8 optimises it, four times its default: compiling is a third of what short runs cost. */
const FLAGS = ['--interrupt-budget=500000']

/** Files that take longest, which begin first: those that wait for a server or an engine between those that compute. */
const LONGEST = [
  'long/cli',
  'engines/virtuoso',
  'long/serving',
  'long/access',
  'engines/rdf4j',
  'engines/fuseki',
  'engines/oxigraph',
  'long/linked-data-judges',
  'long/differential',
  'long/accounts-cli',
  'long/operating',
  'long/accounts-shared-endpoints',
  'long/accounts-shared',
  'long/mapping-cli',
  'long/algebra',
  'long/access-attacks',
  'long/query-cli',
  'long/fairness',
  'long/versions',
  'browser/site-visit',
]

const root = path.dirname(import.meta.dirname)
const words = process.argv.slice(2).filter(word => word !== '')
const split = words.findIndex(word => !FOLDERS.includes(word))
const folders = split === -1 ? words : words.slice(0, split)
const names =
  split === -1 ? [] : words.slice(split).map(word => path.basename(word).replace(/\.test\.[jt]s$/, ''))

const nameOf = file => file.replace(/\.test\.js$/, '')

/** The chosen files, as `folder/name.test.js`, in the order in which they begin. */
function chosenFiles() {
  const files = (folders.length === 0 ? ['unit'] : folders).flatMap(folder =>
    readdirSync(path.join(root, '.built', folder === 'unit' ? '' : folder))
      .filter(
        file => file.endsWith('.test.js') && (names.length === 0 || names.some(name => file.includes(name))),
      )
      .map(file => `${folder}/${file}`),
  )
  const rank = file => (LONGEST.includes(nameOf(file)) ? LONGEST.indexOf(nameOf(file)) : LONGEST.length)
  return (
    files
      // A file of long with the name of one of unit runs all cases of that one.
      .filter(file => !file.startsWith('unit/') || !files.includes(file.replace('unit', 'long')))
      .sort((a, b) => rank(a) - rank(b))
  )
}

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
  const child = spawn(process.execPath, [...FLAGS, path.join(root, '.built', file.replace('unit/', ''))], {
    cwd: root,
    env: { ...process.env, TAP_TIMEOUT: String(TIMEOUT), ...(file.startsWith('long/') ? { LONG: '1' } : {}) },
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

const files = chosenFiles()
if (files.length === 0) throw new Error(`no test file has ${names.join(' or ')} in its name`)
const totals = {}
const failed = []
let next = 0

async function work() {
  while (next < files.length) {
    const place = next++
    const file = files[place]
    const { output, counts, passed, time } = await run(file)
    for (const [key, count] of Object.entries(counts)) totals[key] = (totals[key] ?? 0) + count
    if (!passed) {
      failed.push(file)
      process.stdout.write(output.replaceAll(/^/gm, '    '))
    }
    for (const [skip] of output.matchAll(/^ *ok .*# SKIP.*$/gm)) console.log(`    ${skip.trim()}`)
    const name = file.replace('unit/', '')
    console.log(
      `${passed ? '' : 'not '}ok ${place + 1} - ${name} # ${counts.total ?? 0} in ${time.toFixed(1)} s`,
    )
  }
}

console.log(`TAP version 14\n1..${files.length}`)
await Promise.all(Array.from({ length: JOBS }, work))
const counts = Object.entries(totals).map(([key, count]) => `${key}: ${count}`)
console.log(`# { ${counts.join(', ')} }\n# time=${performance.now().toFixed(0)}ms`)
for (const file of failed) {
  const source = path.join('test', file.replace('unit/', '').replace(/js$/, 'ts'))
  console.log(`# failed: ${file}; alone: node --import=tsx ${source}`)
}
process.exitCode = failed.length === 0 ? 0 : 1
