/**
 * Measures which lines of src the tests run: `npm run coverage [-- folder ...] [name ...]`, with folders and names of test/run.js.
 * V8 counts in every process and thread that ends by itself (one that is killed is not counted), the source maps of dist and .built
 * lead from there to the lines of src. Prints each room, and the modules of which less than 70 % of the lines run, with the reason
 * that test/coverage.json gives; ends with 1 where one has no reason, or a test failed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const LOWEST = 70

const root = path.dirname(import.meta.dirname)
const counted = path.join(root, '.built/coverage')
const node = (args, env = {}) =>
  spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }).status

/** The built files that have a source map. */
function builtFiles() {
  return ['dist', '.built'].flatMap(folder =>
    readdirSync(path.join(root, folder), { recursive: true })
      .filter(name => name.endsWith('.js') && existsSync(path.join(root, folder, `${name}.map`)))
      .map(name => path.join(root, folder, name)),
  )
}

/** Builds, and takes the address of its source map from every file: each process would copy the whole map into its counts. */
function build() {
  for (const script of ['build.js', 'test/build.js']) if (node([script]) !== 0) process.exit(1)
  for (const file of builtFiles())
    writeFileSync(file, readFileSync(file, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'))
}

/** For each built file a byte for each character: 1 where some process has run it. */
function readCounts() {
  const ran = new Map()
  for (const name of readdirSync(counted)) {
    const { result } = JSON.parse(readFileSync(path.join(counted, name), 'utf8'))
    for (const { url, functions } of result) {
      const file = url.startsWith('file:') ? fileURLToPath(url) : ''
      if (!existsSync(`${file}.map`)) continue
      const length = functions[0].ranges[0].endOffset
      const all = ran.get(file) ?? new Uint8Array(length)
      ran.set(file, all)
      const here = new Uint8Array(length)
      // Functions follow those that they are in, blocks as well.
      for (const { ranges } of functions)
        for (const { startOffset, endOffset, count } of ranges)
          here.fill(Math.min(count, 1), startOffset, endOffset)
      for (let at = 0; at < length; at++) all[at] |= here[at]
    }
  }
  return ran
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The numbers of one segment of a source map, in base 64 with five bits a digit. */
function numbersOf(segment) {
  const numbers = []
  let [value, shift] = [0, 0]
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit)
    value += (bits & 31) << shift
    shift += 5
    if (bits & 32) continue
    numbers.push(value & 1 ? -(value >> 1) : value >> 1)
    value = shift = 0
  }
  return numbers
}

/** Marks the lines of the sources of a built file: true where some of what was made of the line has run. */
function markLines(file, ran, lines) {
  const { sources, mappings } = JSON.parse(readFileSync(`${file}.map`, 'utf8'))
  const paths = sources.map(source => path.relative(root, path.resolve(path.dirname(file), source)))
  const texts = readFileSync(file, 'utf8').split('\n')
  let [source, line, begin] = [0, 0, 0]
  for (const [at, segments] of mappings.split(';').entries()) {
    let column = 0
    for (const segment of segments === '' ? [] : segments.split(',')) {
      const [columns, sourceStep, lineStep = 0] = numbersOf(segment)
      column += columns
      if (sourceStep === undefined) continue
      source += sourceStep
      line += lineStep
      const module = paths[source]
      if (!module.startsWith('src/')) continue
      if (!lines.has(module)) lines.set(module, new Map())
      const marks = lines.get(module)
      marks.set(line, marks.get(line) === true || ran?.[begin + column] === 1)
    }
    begin += (texts[at]?.length ?? 0) + 1
  }
}

/** The lines of every module of src that does something. */
function measure() {
  const ran = readCounts()
  const lines = new Map()
  for (const file of builtFiles()) markLines(file, ran.get(file), lines)
  return [...lines].sort().map(([module, marks]) => ({
    module,
    room: /^src\/((?:api|language)\/)?[^/]+/.exec(module)[0],
    total: marks.size,
    covered: [...marks.values()].filter(Boolean).length,
  }))
}

const percent = modules => {
  const sum = key => modules.reduce((total, module) => total + module[key], 0)
  return (100 * sum('covered')) / sum('total')
}

function report(modules) {
  for (const room of new Set(modules.map(({ room }) => room))) {
    const members = modules.filter(module => module.room === room)
    console.log(`${percent(members).toFixed(1).padStart(5)} %  ${room} (${members.length} modules)`)
  }
  console.log(`${percent(modules).toFixed(1).padStart(5)} %  of all lines\n`)
  const reasons = JSON.parse(readFileSync(path.join(root, 'test/coverage.json'), 'utf8'))
  const low = modules.filter(module => percent([module]) < LOWEST)
  for (const each of low)
    console.log(
      `${percent([each]).toFixed(1).padStart(5)} %  ${each.module}: ${reasons[each.module] ?? 'NO REASON in test/coverage.json'}`,
    )
  for (const module of Object.keys(reasons))
    if (!low.some(each => each.module === module)) console.log(`needs no reason any more: ${module}`)
  return low.every(({ module }) => reasons[module] !== undefined)
}

build()
const passed = node(['test/run.js', ...process.argv.slice(2)], { NODE_V8_COVERAGE: counted }) === 0
const explained = report(measure())
process.exitCode = passed && explained ? 0 : 1
