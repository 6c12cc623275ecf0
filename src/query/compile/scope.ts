import type { Dataset, DatasetStatistics } from '../../model/dataset.ts'
import type { Field } from '../../model/field.ts'
import { fieldIri, recordIri } from '../../rdf/iris.ts'
import type { Literal, NamedNode } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'
import type { Variable } from '../../sparql/algebra.ts'
import { iri, literal, variable } from '../../sparql/build.ts'
import type { Constant } from '../plan.ts'

/** Where the records of one published version are: what the compiler must know beside the plan. */
export interface CompileTarget {
  readonly base: string
  readonly dataset: Pick<Dataset, 'id' | 'fields'>
  readonly graphs: { readonly facts: string; readonly index: string }
  readonly statistics: DatasetStatistics
}

/** The variables that every compiled query uses for a record. */
export const RECORD = variable('record')
export const POSITION = variable('position')
export const JSON_TEXT = variable('json')

/** Names, predicates and fresh variables for one query; it lives for one compilation. */
export class Scope {
  readonly target: CompileTarget
  private variables = 0

  constructor(target: CompileTarget) {
    this.target = target
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

  /** True where the statistics say that every record has a value for a field. */
  isComplete(field: Field): boolean {
    return this.target.statistics.fields[field.name]?.nulls === 0
  }
}

/** A constant as the literal under which the store holds a value of a field (mapping rule "value"). */
export function constantTerm(field: Field, value: Constant): Literal {
  switch (field.type) {
    case 'int':
      return Number.isSafeInteger(value)
        ? literal(String(value), XSD.integer)
        : literal(String(value), XSD.double)
    case 'double':
      return literal(String(value), XSD.double)
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
      throw new Error(`a ${field.type} field is not compared with constants`)
    default:
      return field.type satisfies never
  }
}
