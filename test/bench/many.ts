import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { csvRow, SCALE_HEADER, scaleRecords } from './scale.ts'

const THEMES = ['Transport', 'Environment', 'Health', 'Culture', 'Economy', 'Education', 'Housing', 'Energy']
const PLACES = [
  'Harbour',
  'Valley',
  'Northern',
  'Old Town',
  'Lakeside',
  'Upper',
  'Lower',
  'Central',
  'Forest',
]
const THINGS = [
  'trees',
  'parkings',
  'schools',
  'meters',
  'budgets',
  'permits',
  'stations',
  'bridges',
  'sensors',
]

/** Ids of the datasets of {@link manyPortal}. */
export function manyIds(datasets: number): readonly string[] {
  return Array.from({ length: datasets }, (_, at) => `set-${String(at).padStart(4, '0')}`)
}

/** Makes a portal of many datasets with so many records of ten fields each, unless it is there. */
export function manyPortal(folder: string, datasets: number, records: number): void {
  if (existsSync(path.join(folder, 'portal.yaml'))) return
  manyIds(datasets).forEach((id, at) => {
    const data = path.join(folder, 'data', id)
    mkdirSync(data, { recursive: true })
    const title = `${PLACES[at % PLACES.length]} ${THINGS[Math.floor(at / 9) % THINGS.length]} ${at}`
    const theme = THEMES[at % THEMES.length]
    const keywords = [PLACES[at % PLACES.length], `batch ${at % 40}`]
    const metas = {
      default: { title, description: `Records of ${title}`, theme: [theme], keyword: keywords },
    }
    writeFileSync(
      path.join(data, 'dataset.yaml'),
      `source: { path: records.csv }\nmetas: ${JSON.stringify(metas)}\n`,
    )
    const rows = Array.from(scaleRecords(records, at + 1), csvRow)
    writeFileSync(path.join(data, 'records.csv'), `${SCALE_HEADER}\n${rows.join('\n')}\n`)
  })
  writeFileSync(path.join(folder, 'portal.yaml'), 'title: Many\nbase: http://many.example\n')
}
