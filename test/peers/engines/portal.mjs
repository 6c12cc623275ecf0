import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as odata from '../../support/odata-records.ts'
import * as odsql from '../../support/odsql-generator.ts'

/** The portal that is served from every store: generated records of all types, and small datasets of the demonstration. */

const ROOT = join(import.meta.dirname, '../../..')
const RECORDS = 400

/** Datasets of the repository that are small; each has a mapping of its own. */
const DEMONSTRATION = ['countries', 'earthquakes', 'weather']

/** Datasets whose fragments are compared page by page. */
export const WALKED = ['made', 'countries', 'odd']

/** Values in which engines differ, or might. */
const ODD = {
  types: {
    k: 'int',
    text: 'text',
    n: 'int',
    x: 'double',
    on: 'date',
    at: 'datetime',
    flag: 'boolean',
    many: 'text',
    place: 'geo_point_2d',
    shape: 'geo_shape',
  },
  many: ['many'],
  rows: () => {
    const texts = [
      ...[
        '',
        ' ',
        'a',
        'A',
        'á',
        'a\u0301',
        'b',
        'ß',
        'İ',
        'ı',
        '￮',
        '😀',
        '𝒳y',
        '\u0001',
        '\u007f',
        '\u0085',
      ],
      ...[
        '\ufeffab',
        'tab\there',
        'line\nbreak',
        'cr\rhere',
        'q"q',
        "it's",
        'back\\slash',
        '<b>&amp;</b>',
        '10',
        '9',
      ],
      ...[
        '\u2028',
        '%41',
        'a b',
        'http://a.example/',
        '日本語',
        'ﬁ',
        'x'.repeat(5000),
        '-',
        '1e5',
        'true',
        'null',
        ',',
      ],
    ]
    const integers = [
      ...[0, 1, -1, 2_147_483_647, 2_147_483_648, -2_147_483_648, -2_147_483_649, 9_007_199_254_740_991],
      ...[-9_007_199_254_740_991, 1_000_000_000_000],
    ]
    const doubles = [
      ...[
        0.1, 0.2, 0.30000000000000004, 1e-7, 1e21, 1.7976931348623157e308, 5e-324, 123456789.125, 100000,
        1e15,
      ],
      ...[-0.5, 1 / 3, 2 / 3, 48.85661412345679, 1e16, 4.35, 0.07, 1.005, -273.15, 0],
    ]
    const dates = [
      '2024-02-29',
      '0001-01-01',
      '1582-10-10',
      '1582-10-20',
      '1900-01-01',
      '9999-12-31',
      '1970-01-01',
    ]
    const moments = [
      ...[
        '2024-02-29T12:34:56Z',
        '2024-02-29T12:34:56.789Z',
        '2024-02-29T12:34:56.700Z',
        '1969-12-31T23:59:59.999Z',
      ],
      ...[
        '0001-01-01T00:00:00Z',
        '1600-02-29T00:00:00Z',
        '9999-12-31T23:59:59.999Z',
        '2024-03-31T02:30:00+02:00',
      ],
    ]
    return texts.map((text, k) => ({
      k,
      text,
      n: k % 7 === 6 ? null : integers[k % integers.length],
      x: k % 11 === 10 ? null : doubles[k % doubles.length],
      on: k % 5 === 4 ? null : dates[k % dates.length],
      at: k % 6 === 5 ? null : moments[k % moments.length],
      flag: [true, false, null][k % 3],
      many: [...new Set([text, texts[(k * 7) % texts.length], 'common'])].slice(0, k % 4),
      place: k % 3 === 0 ? { lon: -179.12345678901235 + k * 9, lat: 48.85661412345679 - k } : null,
      shape: k % 5 === 0 ? square(k / 3, k / 7) : null,
    }))
  },
}

const square = (lon, lat) => ({
  type: 'Polygon',
  coordinates: [
    [
      [lon, lat],
      [lon + 1, lat],
      [lon + 1, lat + 1],
      [lon, lat + 1],
      [lon, lat],
    ],
  ],
})

function writeDataset(portal, id, types, many, records) {
  const folder = join(portal, 'data', id)
  mkdirSync(folder, { recursive: true })
  const fields = Object.entries(types).map(([name, type]) => ({
    name,
    type,
    annotations: { facet: [], ...(many.includes(name) && { multivalued: [] }) },
  }))
  writeFileSync(join(folder, 'made.json'), JSON.stringify(records))
  const metas = { default: { title: `Records of ${id}`, keyword: [id, 'engines'] } }
  writeFileSync(
    join(folder, 'dataset.yaml'),
    JSON.stringify({ source: { path: 'made.json' }, fields, metas }),
  )
}

const ODATA_TYPES = Object.fromEntries(
  Object.entries(odata.TYPES).map(([name, type]) => [
    name,
    { point: 'geo_point_2d', texts: 'text' }[type] ?? type,
  ]),
)

/** A mapping of the odd records: literals of all types, a language, and IRIs made of values. */
const ODD_MAPPING = `prefixes:
  schema: http://schema.org/
mappings:
  thing:
    subject: portal:mapped/thing/$(k)
    predicateobjects:
      - [a, schema:Thing]
      - [schema:name, $(text), en-GB~lang]
      - [schema:alternateName, $(many)]
      - [schema:position, $(n)]
      - [schema:value, $(x)]
      - [schema:startDate, $(on)]
      - [schema:dateModified, $(at)]
      - [schema:isAccessibleForFree, $(flag)]
      - [schema:sameAs, 'http://x.example/$(text)~iri']
`

/** The records of the generators, which they ask their questions about: to be called before questions are asked. */
export function makeRecords(seed) {
  odsql.startFrom(seed)
  const made = odsql.makeRecords(RECORDS)
  odata.startFrom(seed)
  return { made, asked: odata.makeRecords(RECORDS) }
}

/** Writes the portal into a folder that is not there yet. */
export function makePortal(portal, { made, asked }) {
  mkdirSync(join(portal, 'mappings'), { recursive: true })
  writeFileSync(join(portal, 'portal.yaml'), 'title: Engines\n')
  symlinkSync(join(ROOT, 'node_modules'), join(portal, 'node_modules'))
  writeDataset(portal, 'made', odsql.TYPES, ['tags', 'codes'], made)
  writeDataset(portal, 'asked', ODATA_TYPES, ['tags', 'codes'], asked)
  writeDataset(portal, 'odd', ODD.types, ODD.many, ODD.rows())
  writeDataset(portal, 'mapped', ODD.types, ODD.many, ODD.rows())
  writeFileSync(join(portal, 'mappings', 'mapped.yml'), ODD_MAPPING)
  for (const id of DEMONSTRATION) {
    cpSync(join(ROOT, 'data', id), join(portal, 'data', id), { recursive: true })
    for (const name of [id, `${id}.yml`])
      cpSync(join(ROOT, 'mappings', name), join(portal, 'mappings', name), { recursive: true })
  }
}
