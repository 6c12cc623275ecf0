import { integerValue } from '../model/exact-json.ts'
import { type Field, type FieldType, isGeo, isNumeric, isTemporal } from '../model/field.ts'
import { conjunctionOrNull, disjunction, negate } from './conditions.ts'
import { dateBounds, parseDate } from './date-literals.ts'
import { findField } from './find-field.ts'
import { type Condition, NEVER } from './plan.ts'

/** Orders of the values of a facet (REST 3.7). */
export const FACET_SORTS = ['count', '-count', 'alphanum', '-alphanum', 'num', '-num'] as const
export type FacetSort = (typeof FACET_SORTS)[number]

/** A field whose values are reported with the number of records that have each. */
export interface Facet {
  /** The name by which it was requested. */
  readonly name: string
  readonly field: Field
  /** The separator of the steps of a path; null for values that are not paths. */
  readonly separator: string | null
  /** Records may have any of several refined values, and other values than the refined ones stay listed. */
  readonly disjunctive: boolean
  readonly sort: FacetSort
  /** Values reported at each level. */
  readonly limit: number
}

const DEFAULT_VALUES = 100

/** A value of a facet that records must have, or must not. */
export interface FacetFilter {
  readonly facet: Facet
  /** As in the answer: the steps of a path joined with `/`. */
  readonly value: string
  /** Another reading of the request, which a text may be as well: its blanks and quotation marks belong to the value. */
  readonly verbatim?: string
}

/** True for a field that can be a facet: its values are not geometries. */
export function canBeFacet(field: Field): boolean {
  return !isGeo(field.type)
}

/** A facet as the annotations of its field describe it. */
export function facetOf(name: string, field: Field, defaultSort: FacetSort): Facet {
  const { annotations } = field
  const [sort] = annotations.facetsort ?? []
  const path = annotations.hierarchical
  return {
    name,
    field,
    separator: path === undefined || field.type !== 'text' ? null : String(path[0] ?? '/'),
    disjunctive: annotations.disjunctive !== undefined,
    sort: isFacetSort(sort) ? sort : defaultSort,
    limit: DEFAULT_VALUES,
  }
}

export function isFacetSort(text: unknown): text is FacetSort {
  return FACET_SORTS.some(sort => sort === text)
}

/** The field that the name of a facet refers to; in the catalog the template may be left out. */
export function facetField(name: string, fields: readonly Field[], template?: string): Field | undefined {
  const field = findField(fields, name, template)
  return field !== undefined && canBeFacet(field) ? field : undefined
}

/** True for a facet whose values form a hierarchy: paths, and dates by year, month and day. */
export function hasLevels({ field, separator }: Facet): boolean {
  return separator !== null || isTemporal(field.type)
}

/** The steps of a value; the value as answers write it for a facet without levels. */
export function facetSteps(facet: Facet, value: string): readonly string[] {
  if (!hasLevels(facet)) return [String(constantNamed(value, facet.field.type) ?? value)]
  if (facet.separator === null) return value.split(/[/-]/).map(dateStep)
  const separator = facet.separator !== '/' && value.includes(facet.separator) ? facet.separator : '/'
  return value.split(separator)
}

/** Slashes of a value that each may be a separator or belong to a step. */
const MAX_SLASHES = 5

/** The paths that a value may mean: where the separator of the field is another sign, its slashes may belong to steps. */
export function facetPaths(facet: Facet, value: string): readonly (readonly string[])[] {
  const steps = facetSteps(facet, value)
  const { separator } = facet
  if (separator === null || separator === '/' || value.includes(separator)) return [steps]
  if (steps.length > MAX_SLASHES + 1) return [steps, [value]]
  return steps
    .slice(1)
    .reduce<readonly (readonly string[])[]>(
      (paths, step) => [
        ...paths.map(path => [...path, step]),
        ...paths.map(path => [...path.slice(0, -1), `${path.at(-1)}/${step}`]),
      ],
      [steps.slice(0, 1)],
    )
}

/** A step of a date as `refine` reads it: a year of four digits, a month or a day of two. */
export function dateStep(step: string, level: number): string {
  return step.padStart(level === 0 ? 4 : 2, '0')
}

/**
 * The combined condition of refined and excluded values. A record must have all refined values of a facet, or one of them where
 * the facet is disjunctive; null for no condition.
 *
 * @param timezone IANA name, for the days of moments
 * @param ignored a facet whose refinements are left out
 */
export function facetCondition(
  refined: readonly FacetFilter[],
  excluded: readonly FacetFilter[],
  timezone: string,
  ignored?: Facet,
): Condition | null {
  const byField = new Map<string, FacetFilter[]>()
  for (const filter of refined) {
    if (filter.facet.field.name === ignored?.field.name) continue
    byField.set(filter.facet.field.name, [...(byField.get(filter.facet.field.name) ?? []), filter])
  }
  const required = [...byField.values()].map(filters => {
    const conditions = filters.map(filter => valueCondition(filter, timezone))
    return filters.some(({ facet }) => facet.disjunctive)
      ? disjunction(conditions)
      : conjunctionOrNull(conditions)
  })
  return conjunctionOrNull([...required, ...excluded.map(filter => negate(valueCondition(filter, timezone)))])
}

/** The condition that records with a value satisfy; for a value that the field cannot have, no record does. */
export function valueCondition({ facet, value, verbatim }: FacetFilter, timezone: string): Condition {
  const { field, separator } = facet
  if (verbatim !== undefined && verbatim !== value && field.type === 'text')
    return disjunction([value, verbatim].map(each => valueCondition({ facet, value: each }, timezone)))
  if (separator !== null) {
    const paths = facetPaths(facet, value).map(steps => steps.join(separator))
    return disjunction(
      paths.flatMap((path): readonly Condition[] => [
        { type: 'compare', field, operator: '=', value: path },
        { type: 'startsWith', field, text: path + separator },
      ]),
    )
  }
  if (isTemporal(field.type)) return dateCondition(facet, value, timezone) ?? NEVER
  const constant = constantNamed(value, field.type)
  return constant === null ? NEVER : { type: 'compare', field, operator: '=', value: constant }
}

/** The number, boolean or text that a value names; null for a text that is none of the type. */
function constantNamed(text: string, type: FieldType): number | bigint | boolean | string | null {
  if (isNumeric(type)) return numberNamed(text, type)
  if (type !== 'boolean') return text
  return /^(true|1|false|0)$/i.test(text) ? /^(true|1)$/i.test(text) : null
}

/** Parses a number; null if the text is not one. Whole numbers are exact up to 64 bits. */
function numberNamed(text: string, type: FieldType): number | bigint | null {
  const plain = text.trim()
  if (type === 'int' && /^-?\d+$/.test(plain)) return integerValue(BigInt(plain)) ?? Number(plain)
  const number = plain === '' ? Number.NaN : Number(plain)
  return Number.isFinite(number) ? number : null
}

/** A year, month or day in a time zone; null for any other text. */
function dateCondition({ field }: Facet, value: string, timezone: string): Condition | null {
  const date = parseDate(value, field.type === 'datetime')
  if (date === null) return null
  const { start, end, isPeriod } = dateBounds(date, field.type, timezone)
  if (!isPeriod) return { type: 'compare', field, operator: '=', value: start }
  return {
    type: 'between',
    field,
    lower: { value: start, inclusive: true },
    upper: end === null ? null : { value: end, inclusive: false },
  }
}
