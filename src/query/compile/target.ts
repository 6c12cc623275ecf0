import type { Dataset, DatasetStatistics } from '../../model/dataset.ts'
import type { Field, FieldType } from '../../model/field.ts'
import { numberText } from '../../model/number.ts'
import type { Geometry, GeoPoint } from '../../model/value.ts'
import { wktText } from '../../model/wkt.ts'
import { fieldIri, recordIri, recordsSpace } from '../../rdf/minted-iris.ts'
import type { Literal, NamedNode } from '../../rdf/term.ts'
import { GEO, XSD } from '../../rdf/vocab.ts'
import type { SelectOperation } from '../../sparql/algebra.ts'
import { iri, literal, variable } from '../../sparql/build.ts'
import type { Constant } from '../plan.ts'

/** Where the records of one published version are: what the compiler must know in addition to the plan. */
export interface CompileTarget {
  readonly base: string
  readonly dataset: Pick<Dataset, 'id' | 'fields'>
  readonly graphs: { readonly facts: string }
  readonly statistics: DatasetStatistics
  /** ISO 8601 timestamp of the publication, in UTC: the timestamp of each record. */
  readonly published: string
  /** Fields that a full-text search covers; absent where it covers all of them. */
  readonly searched?: readonly Field[]
}

/** The variables that every compiled query uses for a record. */
export const RECORD = variable('record')
export const POSITION = variable('position')

/** A statement and its purpose: what `lodestone explain` prints. */
export interface Statement {
  readonly name: string
  readonly query: SelectOperation
}

export function predicateOf(field: Field, { base, dataset }: CompileTarget): NamedNode {
  return iri(fieldIri(base, dataset.id, field.name))
}

/** The IRI of a record; null for an invalid id. */
export function recordOf(id: string, { base, dataset }: CompileTarget): NamedNode | null {
  return /^[0-9a-f]{40}$/.test(id) ? iri(recordIri(base, dataset.id, id)) : null
}

/** The common prefix of the IRIs of all records. */
export function spaceOf({ base, dataset }: CompileTarget): string {
  return recordsSpace(base, dataset.id)
}

/** A constant as the literal with which the store represents a value of a field type (Mapping 1.2). */
export function targetConstant(type: FieldType, value: Constant): Literal {
  switch (type) {
    case 'int':
      return typeof value === 'number' && !Number.isInteger(value)
        ? doubleTerm(value)
        : literal(String(BigInt(value)), XSD.integer)
    case 'double':
      return doubleTerm(Number(value))
    case 'boolean':
      return literal(String(value), XSD.boolean)
    case 'date':
      return literal(String(value), XSD.date)
    case 'datetime':
      return literal(String(value), XSD.dateTime)
    case 'text':
      return literal(String(value))
    case 'geo_point_2d':
    case 'geo_shape':
      throw new Error(`a ${type} field is not compared with constants`)
  }
}

export function doubleTerm(value: number): Literal {
  return literal(numberText(value), XSD.double)
}

export function geometryTerm(geometry: Geometry): Literal {
  return literal(wktText(geometry), GEO.wktLiteral)
}

export function pointTerm({ lon, lat }: GeoPoint): Literal {
  return geometryTerm({ type: 'Point', coordinates: [lon, lat] })
}
