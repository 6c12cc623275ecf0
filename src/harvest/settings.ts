import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Static, Type } from 'typebox'
import { type Problem, readDocument, trusted } from '../config/document.ts'
import { isSchedule, SCHEDULE_EXPECTED } from '../runtime/cron.ts'

/** The file next to portal.yaml that lists the harvesters. */
export const HARVEST_FILE = 'harvest.yaml'

/** Types of catalogs. */
export const CATALOG_TYPES = ['lodestone', 'opendatasoft', 'ckan', 'dcat', 'data.json'] as const

const HarvesterSchema = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,39}$' }),
    type: Type.Union(CATALOG_TYPES.map(type => Type.Literal(type))),
    url: Type.String({ pattern: '^https?://[^/?#\\s@]+(/[^#\\s]*)?$', maxLength: 2000 }),
    title: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    authorization: Type.Optional(Type.String({ pattern: '^SOURCE_AUTH_[A-Z0-9_]+$' })),
    refresh: Type.Optional(Type.String({ minLength: 1 })),
    prefix: Type.Optional(Type.String({ pattern: '^[a-z0-9_-]{0,40}$' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    only: Type.Optional(Type.Array(Type.String(), { maxItems: 10_000 })),
    except: Type.Optional(Type.Array(Type.String(), { maxItems: 10_000 })),
    visibility: Type.Optional(Type.Union([Type.Literal('public'), Type.Literal('restricted')])),
  },
  { additionalProperties: false },
)

/** The schema of harvest.yaml. */
const HARVEST_SCHEMA = Type.Object(
  { harvesters: Type.Array(HarvesterSchema, { maxItems: 100 }) },
  { additionalProperties: false },
)

/** A catalog of another portal from which datasets are harvested. */
export interface Harvester extends Omit<Static<typeof HarvesterSchema>, 'refresh' | 'prefix' | 'limit'> {
  /** `daily` by default. */
  readonly refresh: string
  /** Prefix of the ids of its datasets. */
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

/** Parses a text of harvest.yaml and collects all its errors. */
export function harvestersIn(text: string, file: string) {
  const read = readDocument(text, file, HARVEST_SCHEMA)
  if (read.value === null) return read
  const { harvesters } = read.value
  const problems: Problem[] = harvesters.flatMap(({ id, refresh }, at) => {
    const placed = (member: string, message: string) => [
      { message, place: read.placeOf(['harvesters', String(at), member]) },
    ]
    if (harvesters.findIndex(other => other.id === id) !== at)
      return placed('id', `there are two harvesters called ${id}`)
    if (refresh !== undefined && !isSchedule(refresh)) return placed('refresh', SCHEDULE_EXPECTED)
    return []
  })
  return problems.length === 0 ? read : { ...read, value: null, problems }
}
