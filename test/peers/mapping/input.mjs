import { createWriteStream } from 'node:fs'
import path from 'node:path'
import { finished } from 'node:stream/promises'

/** Cities that the places are in: each city is the resource of many records. */
const CITIES = 5000
const WORDS = 'Brücke,Église,Плаза,Ørestad,São,東京,Château,Niño,Łódź,Garden,"Old" Mill,Hill; North'.split(
  ',',
)

/** The ten fields. Values of all engines' doubles are written alike, so that they can be compared. */
export const FIELDS = {
  id: i => i + 1,
  name: i => `${WORDS[i % WORDS.length]} ${WORDS[(i * 7) % WORDS.length]}, no. ${i}`,
  note: i => (i % 5 === 0 ? null : `entry ${i % 977} of the register`),
  city_code: i => `c${i % CITIES}`,
  city: i => `${WORDS[(i % CITIES) % WORDS.length]} ${i % CITIES}`,
  population: i => (i % 11 === 0 ? null : (i * 7919) % 1_000_003),
  height: i => ((i * 31) % 90_000) / 8 + 0.5,
  active: i => i % 3 === 0,
  founded: i => new Date(-2e12 + i * 3.1e7).toISOString().slice(0, 10),
  updated: i => (i % 13 === 0 ? null : new Date(1.5e12 + i * 1e6).toISOString().replace('.000', '')),
}

const cell = value => {
  const text = value === null ? '' : String(value)
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Writes places.csv and places.json. */
export async function writeInput(folder, records) {
  const names = Object.keys(FIELDS)
  const csv = createWriteStream(path.join(folder, 'places.csv'))
  const json = createWriteStream(path.join(folder, 'places.json'))
  csv.write(`${names.join()}\n`)
  for (let from = 0; from < records; from += 10_000) {
    const rows = Array.from({ length: Math.min(10_000, records - from) }, (_, at) =>
      names.map(name => [name, FIELDS[name](from + at)]),
    )
    csv.write(rows.map(row => `${row.map(([, value]) => cell(value)).join()}\n`).join(''))
    const text = rows.map(row => JSON.stringify(Object.fromEntries(row))).join(',\n')
    json.write(`${from === 0 ? '[' : ',\n'}${text}`)
  }
  csv.end()
  json.end(']\n')
  await Promise.all([finished(csv), finished(json)])
}
