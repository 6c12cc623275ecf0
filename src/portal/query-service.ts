import type { ServedDataset } from '../catalog/served.ts'
import type { ServedCatalog } from '../catalog/visible.ts'
import { Fault } from '../errors/errors.ts'
import { DEFAULT_ZONE, invalid } from '../http/parameters.ts'
import type { Field } from '../model/field.ts'
import type { Language } from '../model/language.ts'
import type { CompileTarget } from '../query/compile/target.ts'
import { EXPLORE_V21 } from '../query/dialect.ts'
import { type AnswerPage, answerQuery, exportObjects } from '../query/execute/answer.ts'
import { Executor, Stopwatch } from '../query/execute/executor.ts'
import { enumerateFacets, type FacetValue } from '../query/execute/facets.ts'
import {
  canBeFacet,
  type Facet,
  type FacetSort,
  facetCondition,
  facetField,
  facetOf,
} from '../query/facets.ts'
import { type OdsqlClauses, planOdsql } from '../query/pipeline.ts'
import { DataCache } from './data-cache.ts'
import { conditions, type PageSelection, type Refinement } from './selection.ts'
import type { SiteServices } from './services.ts'

/** What pages query: the catalog or the records of a dataset. */
export interface PageQuerySource {
  /** Identifies the data: answers of the same version are the same. */
  readonly version: string
  readonly target: CompileTarget
  readonly fields: readonly Field[]
  /** Metadata template that may be left out before a name; only the catalog has one. */
  readonly template?: string
  readonly facets: readonly Facet[]
}

/** A facet with its values on a page. */
export interface ShownFacet {
  readonly facet: Facet
  readonly values: readonly FacetValue[]
}

/** Maximum number of values of a facet beside a list; of more there is a link to all. */
export const MAX_PANEL_VALUES = 100

const STYLE = { dialect: EXPLORE_V21, timezone: DEFAULT_ZONE }

const CATALOG_FACETS = ['theme', 'keyword', 'publisher', 'license', 'language', 'features'] as const

/** The catalog of a principal as a source for pages. */
export function catalogSource({
  target,
  entries,
  statistics,
  version: catalogVersion,
}: ServedCatalog): PageQuerySource {
  const { fields } = target.dataset
  const version = entries.map(({ dataset, version }) => `${dataset.id} ${version}`).join(',')
  const facets = CATALOG_FACETS.flatMap(name => facetNamed(name, fields, '-count', 'default') ?? [])
  // Usage statistics change without a new version of the datasets.
  const state = statistics === undefined ? '' : catalogVersion
  return {
    version: `catalog ${state} ${version}`,
    target,
    fields,
    template: 'default',
    facets: facets.map(panelFacet),
  }
}

/** A facet with one value more than pages have beside a list, which means that there are more. */
function panelFacet(facet: Facet): Facet {
  return { ...facet, limit: MAX_PANEL_VALUES + 1 }
}

/** The records of a dataset as a source for pages. */
export function recordsSource({ dataset, version, target }: ServedDataset): PageQuerySource {
  const { id, fields } = dataset
  const facets = fields
    .filter(field => field.annotations.facet !== undefined && canBeFacet(field))
    .map(field => panelFacet(facetOf(field.name, field, '-count')))
  return { version: `${id} ${version}`, target, fields, facets }
}

/** The services of pages that query datasets. */
export interface PageServices extends SiteServices {
  readonly queryService: QueryService
}

/** Queries the store for pages, and caches the answers. */
export class QueryService {
  private readonly services: Pick<SiteServices, 'store' | 'clock' | 'now' | 'cachedCharacters'>
  private readonly answers: DataCache
  private readonly drawn = new DataCache(100)

  constructor(services: Pick<SiteServices, 'store' | 'clock' | 'now' | 'cachedCharacters'>) {
    this.services = services
    this.answers = new DataCache(2000, services.cachedCharacters)
  }

  /**
   * Runs any clauses on the records of a selection: a page of them, or groups. Faults: ODSQLError and similar ones with the
   * clause and the position, InvalidRESTParameterError, those of the store.
   *
   * @param clauses replace those of the selection if given
   */
  find(
    source: PageQuerySource,
    selection: PageSelection,
    clauses: Partial<OdsqlClauses> & Pick<OdsqlClauses, 'limit' | 'offset'>,
    language: Language = 'en',
  ): Promise<AnswerPage> {
    const { words, where, refine, exclude } = selection
    const { orderBy = selection.orderBy, select = '', groupBy = '' } = clauses
    const texts = [...conditions(words, where), ...(clauses.where ?? [])]
    const requested: OdsqlClauses = { ...clauses, orderBy, where: texts }
    const key = JSON.stringify(['find', source.version, refine, exclude, requested, language])
    return this.cached(key, [...texts, select, groupBy, orderBy], async () => {
      const executor = this.executor()
      const filter = this.filterOf(source, selection)
      const plan = planOdsql({ ...requested, filter }, this.context(source, language), executor.watch)
      return answerQuery(plan, { target: source.target, style: STYLE }, executor)
    })
  }

  /** The records of a selection in bounded pieces, which are not cached. Faults: those of {@link find}. */
  pieces(
    source: PageQuerySource,
    selection: PageSelection,
    clauses: Pick<OdsqlClauses, 'select' | 'limit'>,
  ): AsyncGenerator<readonly Readonly<Record<string, unknown>>[]> {
    const executor = this.executor()
    const { words, where } = selection
    const filter = this.filterOf(source, selection)
    const requested = { ...clauses, where: conditions(words, where), offset: 0, filter }
    const plan = planOdsql(requested, this.context(source, 'en'), executor.watch)
    return exportObjects(plan, { target: source.target, style: STYLE }, executor)
  }

  /**
   * A result computed from the records of a selection, such as a drawing: cached like answers.
   *
   * @param key what it depends on in addition to the selection
   */
  drawing<Result>(
    source: PageQuerySource,
    { words, where, refine, exclude }: PageSelection,
    key: readonly unknown[],
    make: () => Promise<Result>,
  ): Promise<Result> {
    const texts = conditions(words, where)
    const whole = JSON.stringify(['drawing', source.version, texts, refine, exclude, key])
    return isFleeting(texts) ? make() : this.drawn.of(whole, make)
  }

  async count(source: PageQuerySource, selection: PageSelection): Promise<number> {
    return (await this.find(source, { ...selection, orderBy: '' }, { limit: 0, offset: 0 })).total
  }

  /** The values of the facets of a source for a selection, each with its count. */
  facets(
    source: PageQuerySource,
    selection: PageSelection,
    facets: readonly Facet[] = source.facets,
  ): Promise<readonly ShownFacet[]> {
    const { words, where, refine, exclude } = selection
    const texts = conditions(words, where)
    const names = facets.map(({ name, limit }) => `${name} ${limit}`)
    const key = JSON.stringify(['facets', source.version, texts, refine, exclude, names])
    return this.cached(key, texts, async () => {
      const executor = this.executor()
      const { filter } = planOdsql(
        { where: texts, limit: 0, offset: 0 },
        this.context(source, 'en'),
        executor.watch,
      )
      const refined = filtersOf(source, refine, 'refine')
      const excluded = filtersOf(source, exclude, 'exclude')
      const requested = { filter, refined, excluded, timezone: DEFAULT_ZONE }
      const found = await enumerateFacets(facets, requested, source.target, executor)
      return facets.map((facet, at): ShownFacet => ({ facet, values: found[at] ?? [] }))
    })
  }

  private cached<Result>(
    key: string,
    texts: readonly string[],
    make: () => Promise<Result>,
  ): Promise<Result> {
    return isFleeting(texts) ? make() : this.answers.of(key, make)
  }

  private filterOf(source: PageQuerySource, { refine, exclude }: PageSelection) {
    const refined = filtersOf(source, refine, 'refine')
    return facetCondition(refined, filtersOf(source, exclude, 'exclude'), DEFAULT_ZONE)
  }

  private executor(): Executor {
    return new Executor(this.services.store, new Stopwatch(this.services.clock))
  }

  private context({ fields, template }: PageQuerySource, language: Language) {
    return {
      dataset: { fields },
      technical: template === undefined,
      ...(template === undefined ? {} : { template }),
      timezone: DEFAULT_ZONE,
      language,
      dialect: EXPLORE_V21,
      now: this.services.now(),
    }
  }
}

/** True for a query that calls `now` or `random`, whose answer is not cached. */
export function isFleeting(texts: readonly string[]): boolean {
  return texts.some(text => /\b(?:now|random)\s*\(/i.test(text))
}

function filtersOf(source: PageQuerySource, refinements: readonly Refinement[], parameter: string) {
  return refinements.map(({ facet: name, value }) => {
    const facet = facetNamed(name, source.fields, '-count', source.template)
    if (facet === undefined) throw invalid(parameter, name, 'the name of a field that can be a facet')
    return { facet, value }
  })
}

function facetNamed(
  name: string,
  fields: readonly Field[],
  sort: FacetSort,
  template?: string,
): Facet | undefined {
  const field = facetField(name, fields, template)
  return field === undefined ? undefined : facetOf(name, field, sort)
}

/** What is found, or the fault that the user can correct in the filter of the page. */
export async function orFilterFault<Answer>(
  find: () => Promise<Answer>,
): Promise<{ readonly answer: Answer | null; readonly fault: Fault | null }> {
  try {
    return { answer: await find(), fault: null }
  } catch (error) {
    if (!isFilterFault(error)) throw error
    return { answer: null, fault: error }
  }
}

/** True for a fault that the user can correct in the filter of a page. */
export function isFilterFault(error: unknown): error is Fault {
  return error instanceof Fault && error.status === 400
}
