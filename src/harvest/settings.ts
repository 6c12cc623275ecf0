import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Static, Type } from 'typebox'
import { type Document, isMap, isSeq, type YAMLMap, type YAMLSeq } from 'yaml'
import { type Problem, readDocument, trusted } from '../config/document.ts'
import { editedDocument } from '../config/edited-document.ts'
import { patternText } from '../config/texts.ts'
import { lookup } from '../model/lookup.ts'
import { replaceDurably } from '../publishing/versions/durable.ts'
import { isSchedule, SCHEDULE_EXPECTED } from '../runtime/cron.ts'

/** The file next to portal.yaml that lists the harvesters. */
export const HARVEST_FILE = 'harvest.yaml'

/** Types of catalogs. */
export const CATALOG_TYPES = ['lodestone', 'opendatasoft', 'ckan', 'dcat', 'data.json'] as const

const HarvesterSchema = Type.Object(
  {
    id: patternText('harvesterId'),
    type: Type.Union(CATALOG_TYPES.map(type => Type.Literal(type))),
    url: patternText('addressWithQuery', { maxLength: 2000 }),
    title: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    authorization: Type.Optional(patternText('sourceCredentials')),
    refresh: Type.Optional(Type.String({ minLength: 1 })),
    prefix: Type.Optional(patternText('idPrefix')),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    only: Type.Optional(Type.Array(Type.String(), { maxItems: 10_000 })),
    except: Type.Optional(Type.Array(Type.String(), { maxItems: 10_000 })),
    visibility: Type.Optional(Type.Union([Type.Literal('public'), Type.Literal('restricted')])),
  },
  { additionalProperties: false },
)

/** The schema of harvest.yaml (docs/publishing.md). */
export const HARVEST_SCHEMA = Type.Object(
  { harvesters: Type.Array(HarvesterSchema, { maxItems: 100 }) },
  { additionalProperties: false },
)

/** A catalog of another portal from which datasets are harvested. */
export interface Harvester extends Omit<Static<typeof HarvesterSchema>, 'refresh' | 'prefix' | 'limit'> {
  /** `daily` by default. */
  readonly refresh: string
  readonly prefix: string
  /** Maximum number of datasets that are taken over. */
  readonly limit: number
}

/** Whether a dataset of a catalog is to be taken over. */
export function isRequired({ only, except = [] }: Harvester, dataset: string): boolean {
  return (only === undefined || only.includes(dataset)) && !except.includes(dataset)
}

/** Reads harvest.yaml; a portal without one harvests nothing. Faults: ConfigInvalid with line and column of each problem. */
export function readHarvesters(portal: string): readonly Harvester[] {
  const file = path.join(portal, HARVEST_FILE)
  if (!existsSync(file)) return []
  const read = harvestersIn(readFileSync(file, 'utf8'), file)
  const { harvesters } = trusted(read)
  return harvesters.map(given => ({
    ...given,
    url: given.url,
    refresh: given.refresh ?? 'daily',
    prefix: given.prefix ?? `${given.id}-`,
    limit: given.limit ?? 1000,
  }))
}

/** The digest of the text of harvest.yaml; `none` without one. */
export function harvestDigest(portal: string): string {
  const file = path.join(portal, HARVEST_FILE)
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : 'none'
}

/** Parses a text of harvest.yaml and collects all its errors. */
function harvestersIn(text: string, file: string) {
  const read = readDocument(text, file, HARVEST_SCHEMA)
  if (read.value === null) return read
  const { harvesters } = read.value
  const problems: Problem[] = harvesters.flatMap(({ id, url, refresh }, at) => {
    const placed = (member: string, message: string) => [
      { message, place: read.placeOf(['harvesters', String(at), member]) },
    ]
    if (harvesters.findIndex(other => other.id === id) !== at)
      return placed('id', `there are two harvesters called ${id}`)
    if (!URL.canParse(url)) return placed('url', 'an address with a valid host and port is expected')
    if (refresh !== undefined && !isSchedule(refresh)) return placed('refresh', SCHEDULE_EXPECTED)
    return []
  })
  return problems.length === 0 ? read : { ...read, value: null, problems }
}

/**
 * Writes harvest.yaml with changed harvesters, in one step: comments and other members of existing entries are preserved. If
 * there are errors, returns them and writes nothing.
 *
 * @param harvesters all of them, by their members in the file
 * @param members those that are edited: one that an entry lacks is removed
 */
export function changeHarvesters(
  portal: string,
  harvesters: readonly Readonly<Record<string, unknown>>[],
  members: readonly string[],
): readonly { readonly index: number; readonly member: string | null; readonly message: string }[] {
  const file = path.join(portal, HARVEST_FILE)
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const text = editedDocument(before, HARVEST_FILE, document => changeDocument(document, harvesters, members))
  const { problems, placeOf } = harvestersIn(text, HARVEST_FILE)
  if (problems.length === 0) {
    replaceDurably(file, text)
    return []
  }
  return problems.map(({ message, place }) => {
    const index = harvesters.findLastIndex(
      (_, at) => (placeOf(['harvesters', String(at)]).line ?? 0) <= (place.line ?? 0),
    )
    const member = members.find(name => {
      const found = placeOf(['harvesters', String(Math.max(0, index)), name])
      return found.line === place.line && found.column === place.column
    })
    return {
      index: Math.max(0, index),
      member: member ?? null,
      message: `${HARVEST_FILE}:${place.line ?? 1}:${place.column ?? 1}: ${message}`,
    }
  })
}

function changeDocument(
  document: Document,
  harvesters: readonly Readonly<Record<string, unknown>>[],
  members: readonly string[],
): void {
  const found = document.get('harvesters', true)
  const list = (isSeq(found) ? found : document.createNode([])) as YAMLSeq
  const known = new Map(list.items.flatMap(item => (isMap(item) ? [[String(item.get('id')), item]] : [])))
  list.items = harvesters.map(given => {
    const node = (known.get(String(given.id)) ?? document.createNode({})) as YAMLMap
    for (const name of members) {
      const value = lookup(given, name)
      if (value === undefined) node.delete(name)
      else if (JSON.stringify(node.get(name)) !== JSON.stringify(value))
        node.set(name, document.createNode(value))
    }
    return node
  })
  list.flow = false
  if (!isSeq(found)) document.set('harvesters', list)
}
