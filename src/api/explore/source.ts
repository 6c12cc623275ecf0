import type { ServedCatalog } from '../../catalog/visible.ts'
import type { Field } from '../../model/field.ts'
import type { CompileTarget } from '../../query/compile/target.ts'
import type { FacetSort } from '../../query/facets.ts'

/** What is queried: the catalog or the records of a dataset. */
export interface ExploreSource {
  readonly target: CompileTarget
  readonly fields: readonly Field[]
  /** Metadata template that may be left out before a name; only the catalog has one. */
  readonly template?: string
  readonly facetSort: FacetSort
  readonly facets: readonly string[]
}

/** The catalog as the source of queries. */
export interface CatalogSource extends ExploreSource, Pick<ServedCatalog, 'entries' | 'statistics'> {}
