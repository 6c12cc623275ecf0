import { spawn } from 'node:child_process'
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { root } from './support.ts'
import { printTable, type Row } from './table.ts'

/** What the records of the measurement have, in the order of the columns. */
export interface ScaleRecord {
  readonly name: string
  readonly count: number
  readonly amount: number
  readonly day: string
  readonly category: string
  readonly changed: string
  readonly active: boolean
  readonly place: string
  readonly town: string
  readonly share: number
}

export const SCALE_FORMATS = ['csv', 'jsonl'] as const
export type ScaleFormat = (typeof SCALE_FORMATS)[number]

const CATEGORIES = 200
/** Words of names: each is in one of ten thousand records. */
const WORDS = 20_000
const TOWNS = 300
const DAYS = 11_000
const FIRST_DAY = Date.UTC(1995, 0, 1)
const DAY = 86_400_000
const BATCH = 2000

const SYLLABLES = [
  'ba',
  'de',
  'fi',
  'go',
  'ku',
  'la',
  'me',
  'ni',
  'po',
  'ru',
  'sa',
  'te',
  'vi',
  'xo',
  'zu',
  'ar',
]

/** Pronounceable text for a number: another for each. */
export function word(number: number): string {
  let text = ''
  for (let rest = number + 16; rest > 0; rest = Math.floor(rest / 16)) text += SYLLABLES[rest % 16]
  return text
}

/** Numbers below 2^32 that follow from a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mix = Math.imul(state ^ (state >>> 15), 1 | state)
    mix = (mix + Math.imul(mix ^ (mix >>> 7), 61 | mix)) ^ mix
    return (mix ^ (mix >>> 14)) >>> 0
  }
}

/** The records that a seed makes, one after the other: the same for the same seed. */
export function* scaleRecords(records: number, seed: number): Generator<ScaleRecord> {
  const random = randomOf(seed)
  for (let at = 0; at < records; at++)
    yield {
      name: `${word(random() % WORDS)} ${word(random() % WORDS)} ${at}`,
      count: random() % 100_000,
      amount: (random() % 10_000_000) / 100,
      day: new Date(FIRST_DAY + (random() % DAYS) * DAY).toISOString().slice(0, 10),
      category: `kind ${word(random() % CATEGORIES)}`,
      changed: new Date(FIRST_DAY + random() * 200).toISOString().replace('.000', ''),
      active: random() % 3 > 0,
      place: `${((random() % 1_700_001) - 850_000) / 10_000},${((random() % 3_600_001) - 1_800_000) / 10_000}`,
      town: `${word(random() % TOWNS)} ${word(random() % TOWNS)}`,
      share: (random() % 1000) / 1000,
    }
}

/** The columns of such records, as the first line of a CSV file. */
export const SCALE_HEADER = 'name,count,amount,day,category,changed,active,place,town,share'

/** A record as a line of a CSV file. */
export function csvRow(record: ScaleRecord): string {
  return Object.values({ ...record, place: `"${record.place}"` }).join(',')
}

/** Writes such records into a file; memory holds a batch of them. */
export async function writeScaleFile(file: string, format: ScaleFormat, records: number, seed: number) {
  await pipeline(function* () {
    let text = format === 'csv' ? `${SCALE_HEADER}\n` : ''
    let held = 0
    for (const record of scaleRecords(records, seed)) {
      text += `${format === 'csv' ? csvRow(record) : JSON.stringify(record)}\n`
      if (++held < BATCH) continue
      yield text
      text = ''
      held = 0
    }
    yield text
  }, createWriteStream(file))
}

/** Makes a portal whose one dataset has so many records, unless it is there. */
export async function scalePortal(folder: string, format: ScaleFormat, records: number, seed: number) {
  const data = path.join(folder, 'data', 'scale')
  const file = path.join(data, `scale.${format}`)
  if (existsSync(file)) return
  mkdirSync(data, { recursive: true })
  writeFileSync(path.join(folder, 'portal.yaml'), 'title: Scale\nbase: http://scale.example\n')
  writeFileSync(path.join(data, 'dataset.yaml'), `source: { path: scale.${format} }\n`)
  await writeScaleFile(file, format, records, seed)
}

/** What a command took. */
interface Run {
  readonly seconds: number
  /** Megabytes of resident memory at the peak. */
  readonly peak: number
}

const SAMPLE_MILLISECONDS = 100

/** Runs a command of Lodestone and watches its memory, which the system tells of a process while it lives. */
async function run(args: readonly string[]): Promise<Run> {
  const begun = performance.now()
  const command = spawn(process.execPath, [path.join(root, 'bin/lodestone.js'), ...args], {
    stdio: 'inherit',
  })
  let peak = 0
  const timer = setInterval(() => {
    const status = `/proc/${command.pid}/status`
    const text = existsSync(status) ? readFileSync(status, 'utf8') : ''
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1000)
  }, SAMPLE_MILLISECONDS)
  const code = await new Promise<number | null>(resolve => command.once('exit', resolve))
  clearInterval(timer)
  if (code !== 0) throw new Error(`lodestone ${args.join(' ')} ended with ${code}`)
  return { seconds: (performance.now() - begun) / 1000, peak }
}

function megabytes(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return (
    files.reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0) / 1e6
  )
}

/**
 * `node --import=tsx test/bench/scale.ts --portal DIR --records 5000000 --format csv`: publishes a dataset of so many
 * records, once and then again with one record more, and prints how long that took and how much memory. Needs dist.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      portal: { type: 'string' },
      records: { type: 'string', default: '1000000' },
      format: { type: 'string', default: 'csv' },
      seed: { type: 'string', default: '1' },
    },
  })
  const format = SCALE_FORMATS.find(each => each === values.format)
  const records = Number(values.records)
  if (values.portal === undefined || format === undefined || !(records > 0))
    throw new Error(`--portal DIR, --records N above 0 and --format ${SCALE_FORMATS.join(' or ')} are needed`)
  const portal = path.resolve(values.portal)
  await scalePortal(portal, format, records, Number(values.seed))
  const rows: Row[] = []
  const measure = async (what: string, args: readonly string[]) => {
    const { seconds, peak } = await run([...args, '--portal', portal])
    rows.push({ what, value: `${seconds.toFixed(1)} s, ${Math.round(peak)} MB at the peak` })
  }
  await measure(`check ${values.records} records of ${format}`, ['check', 'scale'])
  await measure('publish', ['publish', 'scale'])
  writeFileSync(path.join(portal, 'data/scale/dataset.yaml'), `source: { path: scale.${format} } # again\n`)
  await measure('publish again', ['publish', 'scale'])
  rows.push({
    what: 'files of both versions',
    value: `${Math.round(megabytes(path.join(portal, 'var')))} MB`,
  })
  printTable(rows)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main()
