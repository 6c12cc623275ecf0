import { closeSync, mkdirSync, mkdtempSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { randomOf, word } from '../scale.ts'

const COUNTRIES = 240
const KINDS = ['PPL', 'PPLA', 'PPLA2', 'PPLA3', 'PPLA4', 'PPLC', 'PPLX', 'PPLL']
const DIVISIONS = 3000
const WORDS = 60_000
const DAYS = 36_000
const DAY = 86_400_000
const FIRST_DAY = Date.UTC(1900, 0, 1)

const DEFINITION = `source: { path: places.csv }
fields:
  - { name: geonameid, type: int }
  - { name: name, type: text }
  - { name: alternate_names, type: text, annotations: { multivalued: ["|"] } }
  - { name: country_code, type: text, annotations: { facet: [] } }
  - { name: feature_code, type: text, annotations: { facet: [] } }
  - { name: admin1_code, type: text, annotations: { facet: [] } }
  - { name: population, type: int }
  - { name: coordinates, type: geo_point_2d }
  - { name: score, type: double }
  - { name: founded, type: date }
id: [geonameid]
`

/** A portal in a temporary folder with one dataset of so many made places of ten fields. */
export function placesPortal(records: number): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-places-'))
  const data = path.join(folder, 'data/places')
  mkdirSync(data, { recursive: true })
  writeFileSync(path.join(folder, 'portal.yaml'), 'title: Places\n')
  writeFileSync(path.join(data, 'dataset.yaml'), DEFINITION)
  const file = openSync(path.join(data, 'places.csv'), 'w')
  const names = DEFINITION.matchAll(/name: (\w+)/g)
  writeSync(file, `${[...names].map(([, name]) => name).join(',')}\n`)
  const random = randomOf(7)
  let text = ''
  for (let at = 0; at < records; at++) {
    text += `${line(at, random)}\n`
    if (text.length < 2 ** 20) continue
    writeSync(file, text)
    text = ''
  }
  writeSync(file, text)
  closeSync(file)
  return folder
}

function line(at: number, random: () => number): string {
  const part = () => random() / 2 ** 32
  const name = `${word(random() % WORDS)} ${word(random() % WORDS)}`
  const others = Array.from({ length: random() % 3 }, () => word(random() % WORDS)).join('|')
  // A few countries have most of the places, as on Earth.
  const country = Math.floor(COUNTRIES * part() ** 2)
  const code = String.fromCharCode(65 + Math.floor(country / 26), 65 + (country % 26))
  const population = Math.floor(10 ** (2 + 4.5 * part()))
  const place = `"${(part() * 140 - 60).toFixed(5)}, ${(part() * 340 - 170).toFixed(5)}"`
  const day = new Date(FIRST_DAY + (random() % DAYS) * DAY).toISOString().slice(0, 10)
  const kind = KINDS[Math.floor(KINDS.length * part() ** 3)]
  const score = (part() * 1000).toFixed(3)
  return [
    1_000_000 + at,
    name,
    others,
    code,
    kind,
    `D${random() % DIVISIONS}`,
    population,
    place,
    score,
    day,
  ].join()
}
