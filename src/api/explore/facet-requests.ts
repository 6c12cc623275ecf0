import { type FacetParameter, invalid, readFacets, readFacetValues } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { nearest } from '../../model/nearest.ts'
import {
  canBeFacet,
  type Facet,
  type FacetFilter,
  facetField,
  facetOf,
  isFacetSort,
} from '../../query/facets.ts'
import type { ExploreSource } from './source.ts'

function facetNamed(requested: FacetParameter, source: ExploreSource, parameter: string): Facet {
  const { name, sort, limit, separator, hierarchical, disjunctive } = requested
  const field = facetField(name, source.fields, source.template)
  if (field === undefined) {
    const known = source.fields.filter(canBeFacet).map(each => each.name)
    const close = nearest(name, known)
    const hint = close === undefined ? '' : ` (did you mean ${close}?)`
    throw invalid(parameter, name, `the name of a field that can be a facet${hint}`)
  }
  if (sort !== undefined && !isFacetSort(sort))
    throw invalid(parameter, `sort=${sort}`, 'count, alphanum or num, each also with a minus,')
  const standard = facetOf(name, field, source.facetSort)
  const path = hierarchical ?? (standard.separator !== null || separator !== undefined)
  return {
    ...standard,
    separator: path && field.type === 'text' ? (separator ?? standard.separator ?? '/') : null,
    disjunctive: disjunctive ?? standard.disjunctive,
    sort: sort ?? standard.sort,
    limit: limit ?? standard.limit,
  }
}

/** What `refine` or `exclude` keeps; each facet is as `facet=facet(name="…", disjunctive=true)` describes it, if it does. */
export function readFilters(
  query: QueryParameters,
  parameter: 'refine' | 'exclude',
  source: ExploreSource,
): readonly FacetFilter[] {
  const requested = readFacetValues(query, parameter)
  if (requested.length === 0) return []
  const declared = new Map(
    readFacets(query).map(facet => [facetField(facet.name, source.fields, source.template), facet]),
  )
  return requested.map(({ facet, value }) => {
    const declaration = declared.get(facetField(facet.name, source.fields, source.template))
    return { facet: facetNamed({ ...declaration, ...facet }, source, parameter), value }
  })
}

/** The facets that a request names, or those of the source. */
export function requestedFacets(query: QueryParameters, source: ExploreSource): readonly Facet[] {
  const named = readFacets(query)
  if (named.length > 0) return named.map(facet => facetNamed(facet, source, 'facet'))
  return source.facets.flatMap(name => {
    const field = facetField(name, source.fields, source.template)
    return field === undefined ? [] : [facetOf(name, field, source.facetSort)]
  })
}
