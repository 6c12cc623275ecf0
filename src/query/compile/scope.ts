import type { Dataset, DatasetStatistics, FieldStatistics } from '../../model/dataset.ts'
import type { Field, FieldType } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { numberText } from '../../model/number.ts'
import { storedPosition } from '../../model/positions.ts'
import type { Geometry } from '../../model/value.ts'
import { wktText } from '../../model/wkt.ts'
import { fieldIri, recordIri, recordsSpace } from '../../rdf/iris.ts'
import type { Literal, NamedNode } from '../../rdf/term.ts'
import { GEO, XSD } from '../../rdf/vocab.ts'
import type { Expression, Variable } from '../../sparql/algebra.ts'
import { iri, literal, variable } from '../../sparql/build.ts'
import type { Condition, Constant } from '../plan.ts'

/** Where the records of one published version are: what the compiler must know beside the plan. */
export interface CompileTarget {
  readonly base: string
  readonly dataset: Pick<Dataset, 'id' | 'fields'>
  readonly graphs: { readonly facts: string; readonly index: string }
  readonly statistics: DatasetStatistics
  /** ISO 8601 moment of the publication, in UTC: the timestamp of each record. */
  readonly published: string
  /** Positions outside of which no record satisfies the filter; absent where that is not known. */
  readonly among?: readonly number[]
}

/** The variables that every compiled query uses for a record. */
export const RECORD = variable('record')
export const POSITION = variable('position')
export const JSON_TEXT = variable('json')

/** A condition as a boolean expression about ?record, never an error and never unbound. */
export type Test = (condition: Condition, scope: Scope) => Expression

/** Names, predicates and fresh variables for one query; it lives for one compilation. See `openScope`. */
export class Scope {
  readonly target: CompileTarget
  /** IANA name of the zone whose clocks dates are read by. */
  readonly timezone: string
  /** How values that depend on conditions have them tested. */
  readonly test: Test
  private variables = 0
  private readonly elements = new Map<number, Expression>()

  constructor(target: CompileTarget, timezone: string, test: Test) {
    this.target = target
    this.timezone = timezone
    this.test = test
  }

  /** Says which value a condition about one value of many looks at. */
  setElement(number: number, value: Expression): void {
    this.elements.set(number, value)
  }

  element(number: number): Expression {
    const value = this.elements.get(number)
    if (value === undefined) throw new Error('an element outside of its condition')
    return value
  }

  /** A variable that no other part of the query uses. */
  fresh(name: string): Variable {
    this.variables += 1
    return variable(`${name}${this.variables}`)
  }

  predicate(field: Field): NamedNode {
    return iri(fieldIri(this.target.base, this.target.dataset.id, field.name))
  }

  record(id: string): NamedNode {
    return iri(recordIri(this.target.base, this.target.dataset.id, id))
  }

  /** Characters of a record's IRI before its id. */
  idOffset(): number {
    return [...recordsSpace(this.target.base, this.target.dataset.id)].length
  }

  statistics(field: Field): FieldStatistics | undefined {
    const { fields } = this.target.statistics
    return lookup(fields, field.name)
  }

  /** True where the statistics say that every record has a value for a field. */
  isComplete(field: Field): boolean {
    return this.statistics(field)?.nulls === 0
  }
}

/** The position of a record as the store has it. */
export function positionTerm(position: number): Literal {
  return literal(String(storedPosition(position)), XSD.integer)
}

/** A constant as the literal under which the store holds a value of a field type (mapping rule "value"). */
export function constantTerm(type: FieldType, value: Constant): Literal {
  switch (type) {
    case 'int':
      return typeof value === 'bigint' || Number.isSafeInteger(value)
        ? literal(String(value), XSD.integer)
        : doubleTerm(Number(value))
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
    default:
      return type satisfies never
  }
}

export function doubleTerm(value: number): Literal {
  return literal(numberText(value), XSD.double)
}

export function geometryTerm(geometry: Geometry): Literal {
  return literal(wktText(geometry), GEO.wktLiteral)
}
