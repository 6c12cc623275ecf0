import type { ServedCatalog } from '../../catalog/visible.ts'
import type { Field } from '../../model/field.ts'
import type { CompileTarget } from '../../query/compile/target.ts'
import type { FacetSort } from '../../query/facets.ts'

/** What queries are asked of: the catalog or the records of a dataset. */
export interface ExploreSource {
  readonly target: CompileTarget
  readonly fields: readonly Field[]
  /** Metadata template that may be left out before a name; only the catalog has one. */
  readonly template?: string
  /** Order of facets that say none. */
  readonly facetSort: FacetSort
  /** Facets that are reported where none is named. */
  readonly facets: readonly string[]
}

/** The catalog as what queries are asked of. */
export interface CatalogSource extends ExploreSource, Pick<ServedCatalog, 'entries' | 'statistics'> {}
