import { DATASETS_MONITORING, monitoringRecordId } from '../../catalog/monitoring.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { DEFAULT_ZONE } from '../../http/parameters.ts'
import { RESERVED_WORDS } from '../../language/odsql/vocabulary.ts'
import { type Field, isGeo, isQuantity } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { TEMPLATES } from '../../model/templates.ts'
import { answerQuery } from '../../query/execute/answer.ts'
import { enumerateFacet } from '../../query/execute/facets.ts'
import { type Facet, hasLevels } from '../../query/facets.ts'
import { planOdsql } from '../../query/pipeline.ts'
import type { ExploreEndpoint } from './endpoint.ts'
import type { SourceName } from './present.ts'
import { requestedFacets } from './read-parameters.ts'

/** A facet of a dataset with its first values; all of them if they are few. */
export interface KnownFacet {
  readonly name: string
  readonly values: readonly string[]
  readonly isWhole: boolean
}

/** Examples of a document from one dataset: addresses that are built from them are valid. */
export interface SampleRecords {
  readonly entry: ServedDataset
  /** Id of its first record; null if it has none. */
  readonly record: string | null
  readonly facets: readonly KnownFacet[]
}

/** An example by the name of its parameter. */
export type Examples = Readonly<Record<string, string | undefined>>

/** Maximum number of facets that are queried, and of values of each. */
const MAX_FACETS = 12
const MAX_VALUES = 20

/** The dataset that makes the best example: with the most facets and field types; null if none has records. */
export function representativeDataset(entries: readonly ServedDataset[]): ServedDataset | null {
  let best: { readonly entry: ServedDataset; readonly worth: number } | null = null
  for (const entry of entries) {
    if (entry.statistics.records === 0) continue
    const { fields } = entry.dataset
    const facets = fields.filter(({ annotations }) => annotations.facet !== undefined)
    const worth = facets.length + 2 * new Set(fields.map(({ type }) => type)).size
    if (best === null || worth > best.worth) best = { entry, worth }
  }
  return best?.entry ?? null
}

/** Queries the store for the sample that examples of a dataset are built from. */
export async function takeSample(endpoint: ExploreEndpoint, entry: ServedDataset): Promise<SampleRecords> {
  const executor = endpoint.executor()
  const source = endpoint.datasetSource(entry)
  const clauses = { where: [], limit: 1, offset: 0 }
  const presentation = { timezone: DEFAULT_ZONE, language: 'en' } as const
  const none = { select: undefined, where: [], qv1: [], groupBy: undefined, orderBy: undefined }
  const plan = planOdsql(clauses, endpoint.context(source, { ...none, ...presentation }), executor.watch)
  const style = { dialect: endpoint.options.dialect, timezone: DEFAULT_ZONE }
  const { rows } = await answerQuery(plan, { target: entry.target, style }, executor)
  const facets: KnownFacet[] = []
  for (const facet of requestedFacets({}, source).slice(0, MAX_FACETS))
    facets.push(await knownFacet(facet, entry, executor))
  return { entry, record: rows[0]?.id ?? null, facets: facets.filter(({ values }) => values.length > 0) }
}

async function knownFacet(
  facet: Facet,
  entry: ServedDataset,
  executor: ReturnType<ExploreEndpoint['executor']>,
): Promise<KnownFacet> {
  const question = { filter: null, refined: [], excluded: [], timezone: DEFAULT_ZONE }
  const described = await enumerateFacet(
    { ...facet, limit: MAX_VALUES + 1 },
    question,
    entry.target,
    executor,
  )
  const isWhole = !hasLevels(facet) && facet.field.type === 'text' && described.length <= MAX_VALUES
  return { name: facet.name, values: described.slice(0, MAX_VALUES).map(({ value }) => value), isWhole }
}

function recordExamples({ entry, record, facets }: SampleRecords): Examples {
  const { fields } = entry.dataset
  const single = fields.filter(({ type, multivalued }) => !isGeo(type) && !multivalued)
  const number = single.find(isQuantity)
  const names = single.slice(0, 3).map(nameText)
  const facet = facets[0]
  const key = fields.find(({ name }) => name === facet?.name) ?? single[0]
  return {
    dataset_id: entry.dataset.id,
    record_id: record ?? undefined,
    attachment_id: entry.dataset.attachments[0]?.id,
    select: names.length === 0 ? undefined : names.join(', '),
    figures: 'count(*) as records',
    figure_order: 'count(*) desc',
    where:
      whereExample(number, entry) ??
      (single[0] === undefined ? undefined : `${nameText(single[0])} is not null`),
    order_by: number === undefined ? names[0] : `${nameText(number)} desc`,
    sort: number === undefined ? names[0] : `-${nameText(number)}`,
    group_by: key === undefined ? undefined : nameText(key),
    refine: facet && refinement(facet, facet.values[0]),
    exclude: facet && refinement(facet, facet.values.at(-1)),
    facet: facet?.name,
  }
}

function whereExample(number: Field | undefined, { statistics }: ServedDataset): string | undefined {
  const known = number === undefined ? undefined : lookup(statistics.fields, number.name)
  if (number === undefined || known === undefined) return undefined
  const middle = known.quantiles?.[Math.floor(known.quantiles.length / 2)] ?? known.min
  return typeof middle === 'number' ? `${nameText(number)} >= ${middle}` : undefined
}

function refinement({ name }: KnownFacet, value: string | undefined): string | undefined {
  return value === undefined ? undefined : `${name}:${value}`
}

/** Examples of the parameters of the catalog: what every dataset has. */
export const CATALOG_EXAMPLES: Examples = {
  select: 'dataset_id, title, records_count',
  figures: 'count(*) as datasets',
  figure_order: 'count(*) desc',
  where: 'records_count > 0',
  order_by: 'title',
  sort: 'explore.popularity_score',
  group_by: 'language',
  refine: 'features:analyze',
  exclude: 'features:geo',
  facet: 'publisher',
  type: TEMPLATES[0]?.type,
  template: TEMPLATES[0]?.name,
}

/** Examples for the records of another source: they are valid whenever the sample exists. */
export function sourceExamples(source: SourceName, sample: SampleRecords, base: string): Examples {
  const { id } = sample.entry.dataset
  switch (source) {
    case 'catalog':
      return recordExamples(sample)
    case 'network':
    case 'opendatasoft':
      return { ...recordExamples(sample), dataset_id: `${id}@${new URL(base).hostname}` }
    case 'monitoring':
      return {
        dataset_id: DATASETS_MONITORING,
        record_id: monitoringRecordId(id),
        select: 'dataset_id, title, popularity_score',
        figures: 'sum(download_count) as downloads',
        figure_order: 'sum(download_count) desc',
        where: 'records_count > 0',
        order_by: 'popularity_score desc',
        sort: '-popularity_score',
        group_by: 'publisher',
        refine: 'visibility:domain',
        exclude: 'visibility:restricted',
        facet: 'publisher',
      }
  }
}

/** The name of a field in queries: in back-quotes if it is a keyword or a number. */
function nameText({ name }: Field): string {
  return /^[a-z_]\w*$/i.test(name) && !RESERVED_WORDS.has(name.toLowerCase()) ? name : `\`${name}\``
}
