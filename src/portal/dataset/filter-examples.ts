import type { ServedDataset } from '../../catalog/served.ts'
import type { FieldStatistics } from '../../model/dataset.ts'
import { type Field, isQuantity } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { fieldName, odsqlText } from '../selection.ts'

const MAX_EXAMPLES = 3

/** Maximum characters of a value in an example. */
const MAX_LENGTH = 30

/** A field with the statistics of its values. */
interface Known extends FieldStatistics {
  readonly field: Field
  readonly name: string
}

/** Conditions in ODSQL that some records of a dataset meet and others do not, built from its fields, each of a different kind. */
export function filterExamples({ dataset, statistics }: Pick<ServedDataset, 'dataset' | 'statistics'>) {
  const known = dataset.fields.flatMap((field): Known[] => {
    const found = lookup(statistics.fields, field.name)
    return found === undefined || found.present === 0
      ? []
      : [{ ...found, field, name: fieldName(field.name) }]
  })
  // Facets first: they are the fields that users filter by.
  known.sort((a, b) => Number(isFacet(b.field)) - Number(isFacet(a.field)))
  const kinds = [numberExample, textExample, dateExample, wordsExample, presenceExample, pointExample]
  return kinds.flatMap(example => known.map(example).find(text => text !== null) ?? []).slice(0, MAX_EXAMPLES)
}

function isFacet({ annotations }: Field): boolean {
  return annotations.facet !== undefined
}

/** Numbers above the 90th percentile, rounded to one significant digit. */
function numberExample({ field, name, quantiles, distinct }: Known): string | null {
  if (!isQuantity(field) || (distinct !== null && distinct < 10)) return null
  const value = quantiles?.[Math.floor(quantiles.length * 0.9)]
  if (typeof value !== 'number' || value === 0) return null
  return `${name} > ${Number(value.toPrecision(1))}`
}

function textExample({ field, name, quantiles, distinct, present }: Known): string | null {
  if (field.type !== 'text' || distinct === null || distinct < 2 || distinct * 2 > present) return null
  const value = middle(quantiles)
  return value === null ? null : `${name} = ${odsqlText(value)}`
}

function dateExample({ field, name, years, max }: Known): string | null {
  if (field.type !== 'date' && field.type !== 'datetime') return null
  if (years !== undefined && years.length > 1) return `year(${name}) = ${years[Math.floor(years.length / 2)]}`
  return typeof max === 'string' ? `${name} >= date'${max.slice(0, 10)}'` : null
}

function wordsExample({ field, name, quantiles, distinct, present }: Known): string | null {
  if (field.type !== 'text' || (distinct !== null && distinct * 2 <= present)) return null
  const word = middle(quantiles)?.match(/\p{L}{4,}/u)?.[0]
  return word === undefined ? null : `${name} like ${odsqlText(word)}`
}

function presenceExample({ field, name, present, nulls }: Known): string | null {
  return nulls > 0 && present > 0 && field.type !== 'geo_shape' ? `${name} is not null` : null
}

function pointExample({ field, name }: Known): string | null {
  return field.type === 'geo_point_2d' ? `within_distance(${name}, geom'POINT(2.35 48.85)', 500km)` : null
}

function middle(quantiles: Known['quantiles']): string | null {
  const value = quantiles?.[Math.floor(quantiles.length / 2)]
  return typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH ? value : null
}
