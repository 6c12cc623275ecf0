/**
 * Runs built test files (test/build.js) in processes without loaders: `node test/run.js [folder ...] [name ...]`.
 * `folder` is `unit` (the files of test itself, those that run where no folder is named), long, engines or browser, a name takes the
 * files that have it in theirs. The longest begin first, each in a process of its own, the others of `unit` share some: half of what
 * a short one takes is to load and compile what all have in common. Some more run at once than there is work for all processors: many
 * wait for servers and engines (`JOBS=n` sets how many). Prints one line of TAP for a file, what was skipped with its reason, and all
 * that a failing file printed; ends with 1 where one failed.
 */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const FOLDERS = ['unit', 'long', 'engines', 'browser']
const JOBS = Number(process.env.JOBS) || Math.floor(os.availableParallelism() / 2) + 2
/** How many failing files run once more: where more fail it is not the machine. */
const MOST_AGAIN = process.env.AGAIN === '1' ? 3 : 0
/** Seconds that a file may take. */
const TIMEOUT = 1800
const root = path.dirname(import.meta.dirname)

/** How much a function does before V8 optimises it, four times its default: compiling is a third of what short runs cost. */
const FLAGS = [
  '--interrupt-budget=500000',
  `--import=${pathToFileURL(path.join(root, 'test/support/without-domains.js'))}`,
]

/** Files that take longest by the time of processors, which begin first: those that wait for a server or an engine between those that compute. */
const LONGEST = [
  'unit/algebra',
  'unit/column-expressions',
  'unit/random-algebra',
  'long/serving',
  'engines/virtuoso',
  'long/access',
  'long/cli',
  'engines/rdf4j',
  'long/operating',
  'engines/fuseki',
  'long/publish',
  'long/fairness',
  'engines/oxigraph',
  'long/golden',
  'long/accounts-shared',
  'long/readme',
  'long/query-cli',
  'long/sparql-continuation',
  'long/scale',
  'browser/site-visit',
  'long/harvest',
  'long/accounts-shared-endpoints',
  'long/differential',
  'long/linked-data-judges',
  'long/backup',
  'long/versions',
  'long/access-attacks',
  'long/odata-differential',
  'long/indexing',
  'long/accounts-cli',
  'long/mapping-cli',
]

const words = process.argv.slice(2).filter(word => word !== '')
const split = words.findIndex(word => !FOLDERS.includes(word))
const folders = split === -1 ? words : words.slice(0, split)
const names =
  split === -1 ? [] : words.slice(split).map(word => path.basename(word).replace(/\.test\.[jt]s$/, ''))

const nameOf = file => file.replace(/\.test\.js$/, '')
/** The path below .built/. */
const builtName = file => file.replace('unit/', '')

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
  return files.sort((a, b) => rank(a) - rank(b))
}

/** The next files that run in one process: fewer the nearer the end, so that all processors have work until then. */
function nextGroup() {
  const isAlone = !files[0].startsWith('unit/') || LONGEST.includes(nameOf(files[0]))
  return files.splice(0, isAlone ? 1 : Math.ceil(files.length / (2 * JOBS)))
}

/** What a long run leaves out, because `npm test` has it whole (test/support/effort.ts). */
const LEFT_OUT = / *ok .* # SKIP filter: only\n/g

/** The counts that tap prints at the end: `# { total: 12, pass: 11, skip: 1 }`. */
function countsOf(output) {
  const [, text = ''] = output.match(/^# (\{ total: .*\})$/m) ?? []
  const leftOut = output.match(LEFT_OUT)?.length ?? 0
  return [...text.matchAll(/(\w+): (\d+)/g)]
    .map(([, name, count]) => [name, count - (['total', 'skip'].includes(name) ? leftOut : 0)])
    .filter(([, count]) => count > 0)
}

/** Runs files in a process. */
async function run(group) {
  const child = spawn(process.execPath, [...FLAGS, path.join(root, '.built/support/group.js')], {
    cwd: root,
    env: {
      ...process.env,
      TAP_TIMEOUT: String(TIMEOUT),
      TEST_FILES: group.map(builtName).join(' '),
      ...(group[0].startsWith('long/') ? { LONG: '1' } : {}),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors] = [child.stdout, child.stderr].map(stream => {
    const pieces = []
    stream.on('data', piece => pieces.push(piece))
    return () => Buffer.concat(pieces).toString()
  })
  const late = new AbortController()
  // Files end themselves at their time; this is for those that cannot.
  wait((TIMEOUT * group.length + 30) * 1000, undefined, { ref: false, signal: late.signal }).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  )
  const code = await new Promise(resolve => child.on('close', resolve))
  late.abort()
  return { output: output(), errors: errors(), code }
}

/** What was told of a file: it did not pass where it has no end or no test. */
function resultOf(file, output) {
  const whole =
    output.split(/^# Subtest: /m).find(section => section.startsWith(`${builtName(file)}\n`)) ?? output
  const text = whole.replaceAll(LEFT_OUT, '')
  const count = text.match(/^ +(?:not )?ok \d+(?!.* # time=)/gm)?.length ?? 0
  const [, not, time] = text.match(/^(not )?ok .* # time=(.*)ms$/m) ?? ['', 'not', Number.NaN]
  return { file, text, count, passed: count > 0 && not === undefined, time: (time / 1000).toFixed(1) }
}

const files = chosenFiles()
if (files.length === 0) throw new Error(`no test file has ${names.join(' or ')} in its name`)
const totals = {}
const failed = []
const again = []
let place = 0

async function work() {
  while (files.length > 0) await runAndTell(nextGroup(), MOST_AGAIN)
}

/** Runs files in a process and tells their results; the first `mostAgain` that fail are left to run once more at the end. */
async function runAndTell(group, mostAgain) {
  const { output, errors, code } = await run(group)
  for (const [key, count] of countsOf(output)) totals[key] = (totals[key] ?? 0) + count
  const results = group.map(file => resultOf(file, output))
  // A process may fail after the end of its files.
  if (code !== 0 && results.every(({ passed }) => passed)) results.at(-1).passed = false
  for (const { file, text, count, passed, time } of results) {
    const runsAgain = !passed && again.length < mostAgain
    if (!passed) {
      ;(runsAgain ? again : failed).push(file)
      process.stdout.write(`${text}\n${errors}`.replaceAll(/^/gm, runsAgain ? '#   ' : '    '))
    }
    for (const [skip] of text.matchAll(/^ *ok .*# SKIP.*$/gm)) console.log(`    ${skip.trim()}`)
    if (runsAgain) console.log(`# failed beside others, runs again at the end: ${builtName(file)}`)
    else console.log(`${passed ? '' : 'not '}ok ${++place} - ${builtName(file)} # ${count} in ${time} s`)
  }
}

console.log(`TAP version 14\n1..${files.length}`)
await Promise.all(Array.from({ length: JOBS }, work))
for (const file of again) await runAndTell([file], 0)
const counts = Object.entries(totals).map(([key, count]) => `${key}: ${count}`)
console.log(`# { ${counts.join(', ')} }\n# time=${performance.now().toFixed(0)}ms`)
for (const file of failed) {
  const source = path.join('test', builtName(file).replace(/js$/, 'ts'))
  console.log(`# failed: ${file}; alone: node --import=tsx ${source}`)
}
process.exitCode = failed.length === 0 ? 0 : 1
