/**
 * `node bench.mjs`: Lodestone beside other mapping engines in one run: the same records, the same triples, whole
 * processes in turn. `RECORDS=n` (100,000), `RUNS=n` (3), `FORMATS=csv,json`, `ENGINES=` names that are run, `LIMIT=s` after which an engine is
 * stopped (600), `SIZES=rocketrml:20000,…` for engines that shall have fewer records (Lodestone then runs with those too).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ENGINES } from './engines.mjs'
import { writeInput } from './input.mjs'
import { rml, yarrrml } from './mappings.mjs'
import { run } from './run.mjs'
import { missing, readTriples } from './triples.mjs'

const {
  RECORDS = '100000',
  RUNS = '3',
  FORMATS = 'csv,json',
  LIMIT = '600',
  SIZES = '',
  ENGINES: CHOSEN,
} = process.env
const sizes = new Map(SIZES.split(',').map(pair => pair.split(':')))
const OURS = 'lodestone, YARRRML'
const names = Object.keys(ENGINES).filter(
  name => CHOSEN === undefined || name === OURS || CHOSEN.includes(name),
)
const say = text => process.stdout.write(`${text}\n`)
const median = values => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]
const whole = value => Math.round(value).toLocaleString('en')

/** Runs an engine some times; gives its median figures. */
async function measure(name, place, format) {
  const engine = ENGINES[name]
  const output = path.join(place, `${name.replace(/\W+/g, '-')}.nt`)
  const runs = []
  for (let count = 0; count < Number(RUNS); count++) {
    const made = await run(engine.command(place, format, output), { cwd: place, limit: Number(LIMIT) })
    runs.push({ ...made, own: Number(engine.own?.exec(made.printed)?.[1]?.replace(',', '') ?? Number.NaN) })
    if (made.seconds > 60) break
  }
  const figure = key => median(runs.map(each => each[key]))
  return {
    output,
    seconds: figure('seconds'),
    cpu: figure('cpu'),
    own: figure('own'),
    peak: Math.max(...runs.map(each => each.peak)),
  }
}

function report(name, measured, triples, ours) {
  const { seconds, cpu, own, peak } = measured
  const rate = triples / seconds
  const told = Number.isNaN(own)
    ? ''
    : `; of itself it tells ${own.toFixed(2)} s, ${whole(triples / own)} triples/s`
  const ratio =
    ours === undefined
      ? ''
      : `; ${ours.name === OURS ? 'Lodestone' : ours.name} is ${(ours.rate / rate).toFixed(1)} times as fast, with 1/${(cpu / ours.cpu).toFixed(1)} of the processor time`
  say(
    `  ${name}: ${seconds.toFixed(2)} s, ${whole(rate)} triples/s, ${cpu.toFixed(2)} s of processor time, peak ${whole(peak)} MB${told}${ratio}`,
  )
  return { rate, cpu }
}

function compare(theirs, ours) {
  const [less, more] = [missing(ours.triples, theirs.triples), missing(theirs.triples, ours.triples)]
  const notes = [
    less.count + more.count === 0
      ? 'the same triples'
      : `DIFFERS: ${less.count} lacking, ${more.count} other`,
    ...[less.first, more.first].filter(line => line !== undefined),
    `${whole(theirs.lines)} lines`,
    ...(theirs.otherForm > 0 ? [`${whole(theirs.otherForm)} in another form of the same value`] : []),
    ...(theirs.empty > 0 ? [`${whole(theirs.empty)} empty literals of absent values left out`] : []),
  ]
  say(`    ${notes.join('; ')}`)
}

/** All engines that get so many records of a format. */
async function bench(format, records, engines) {
  const place = mkdtempSync(path.join(tmpdir(), 'mapping-bench-'))
  try {
    await writeInput(place, records)
    writeFileSync(path.join(place, `${format}.yml`), yarrrml(format))
    writeFileSync(path.join(place, `${format}-link.ttl`), rml(format, true))
    writeFileSync(path.join(place, `${format}-template.ttl`), rml(format, false))
    say(`${format}, ${whole(records)} records of ten fields, one link`)
    let first
    for (const name of engines.includes(OURS) ? engines : [OURS, ...engines]) {
      try {
        const measured = await measure(name, place, format)
        const read = await readTriples(measured.output)
        if (first !== undefined) {
          report(name, measured, first.triples.size, ENGINES[name].peer === null ? undefined : first)
          compare(read, first)
          continue
        }
        first = { name, ...read, ...report(name, measured, read.triples.size, undefined) }
        say(`    ${whole(read.triples.size)} different triples, ${whole(read.lines)} lines`)
      } catch (error) {
        say(`  ${name}: ${error.message}`)
      }
    }
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

const groups = new Map()
for (const name of names) {
  const reason = ENGINES[name].missing()
  if (reason !== null) {
    if (name === OURS) throw new Error(`Lodestone: ${reason}`)
    say(`${name} is left out: ${reason}`)
    continue
  }
  const records = Number(sizes.get(name) ?? RECORDS)
  groups.set(records, [...(groups.get(records) ?? []), name])
}
for (const format of FORMATS.split(','))
  for (const [records, engines] of groups) await bench(format, records, engines)
