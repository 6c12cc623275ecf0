import type { Field } from '../../model/field.ts'
import { canonicalMoment } from '../../model/time.ts'
import { LODESTONE } from '../../rdf/vocab.ts'
import type { AlgebraExpression, SparqlOperation, Variable } from '../../sparql/algebra.ts'
import {
  apply,
  bind,
  call,
  filter,
  inGraph,
  iri,
  join,
  literal,
  optional,
  triple,
  variable,
} from '../../sparql/build.ts'
import { technicalName } from '../find-field.ts'
import type { Condition } from '../plan.ts'
import { type CompileTarget, POSITION, predicateOf, RECORD, spaceOf, targetConstant } from './target.ts'

/** Variable names and time zone of one query; it lives for one compilation. */
export class CompileContext {
  readonly target: CompileTarget
  /** IANA name of the time zone in which dates are interpreted. */
  readonly timezone: string
  /** Compiles the conditions that occur within values. */
  readonly test: ConditionCompiler
  private variables = 0
  private readonly elements = new Map<number, AlgebraExpression>()

  constructor(target: CompileTarget, timezone: string, test: ConditionCompiler) {
    this.target = target
    this.test = test
    this.timezone = timezone
  }

  /** A variable that no other part of the query uses. */
  fresh(name: string): Variable {
    this.variables += 1
    return variable(`${name}${this.variables}`)
  }

  /** Binds the value that an element condition of a multivalued field tests. */
  bindElement(number: number, value: AlgebraExpression): void {
    this.elements.set(number, value)
  }

  element(number: number): AlgebraExpression {
    const value = this.elements.get(number)
    if (value === undefined) throw new Error('an element outside of its condition')
    return value
  }
}

/** Whether a test may be an error where a value is absent, or must be false there, as under a negation. */
export type Preflight = 'open' | 'guarded'

/** A condition as an expression about ?record: true where it holds; elsewhere false or, where that makes no difference, an error. */
export type ConditionCompiler = (
  condition: Condition,
  body: PatternBuilder,
  preflight: Preflight,
) => AlgebraExpression

/** Whether a record without a value is excluded, or included with the value unbound. */
export type Need = 'required' | 'optional'

/** A list of which each value is read in turn: a record is one solution for each of them. */
export interface ReadList {
  readonly field: Field
  readonly variable: Variable
}

/**
 * The patterns about ?record of one group: each field is read once, into its own variable. A multivalued field is read in groups
 * of its own, within EXISTS, so that a record is one solution however many values it has.
 */
export class PatternBuilder {
  readonly context: CompileContext
  /** The patterns around those of a group within EXISTS: their bindings are visible in the group. */
  private readonly outer: PatternBuilder | null
  private readonly found: SparqlOperation[] = []
  private readonly triples: SparqlOperation[] = []
  private readonly optionals: SparqlOperation[] = []
  private readonly computed: { readonly variable: Variable; readonly expression: AlgebraExpression }[] = []
  private readonly tests: AlgebraExpression[] = []
  /** Where it is set, the lists that are read from then on, each once however many values are computed from it. */
  lists: ReadList[] | null = null
  private isJoined = false
  private readonly values = new Map<
    string,
    { readonly field: Field; readonly variable: Variable; readonly need: Need }
  >()

  constructor(context: CompileContext, outer: PatternBuilder | null = null) {
    this.context = context
    this.outer = outer
  }

  /** True where the records come in source order: not where patterns name them, or where they are joined with the result of a subquery. */
  get keepsOrder(): boolean {
    return this.found.length === 0 && !this.isJoined
  }

  /** Patterns that bind ?record. */
  find(pattern: SparqlOperation): void {
    this.found.push(pattern)
  }

  /** A triple pattern or a subquery without which a record is included as well. */
  option(pattern: SparqlOperation): void {
    if (pattern.type !== 'bgp') this.isJoined = true
    this.optionals.push(pattern)
  }

  test(...expressions: readonly AlgebraExpression[]): void {
    this.tests.push(...expressions)
  }

  /** The triple of a record with a field and a value. */
  fact(field: Field, value: AlgebraExpression): void {
    if (value.type !== 'variable' && value.type !== 'literal')
      throw new Error('a fact has a value or a variable')
    this.triples.push(triple(RECORD, predicateOf(field, this.context.target), value))
  }

  /**
   * The value of a field, or a technical field of the record; of a multivalued field each value in turn, in a new variable at
   * every call, with the record included where it has none if the need is optional.
   */
  value(field: Field, need: Need): AlgebraExpression {
    const technical = this.technical(field)
    if (technical !== undefined) return technical
    if (field.multivalued) {
      const read = this.lists?.find(list => list.field.name === field.name)
      if (need === 'optional') return read?.variable ?? this.eachValue(field)
      const each = this.context.fresh('value')
      this.fact(field, each)
      return each
    }
    if (this.outer !== null) return this.outer.value(field, 'optional')
    const known = this.values.get(field.name)
    const value = known?.variable ?? this.context.fresh('value')
    if (known === undefined || (need === 'required' && known.need === 'optional'))
      this.values.set(field.name, { field, variable: value, need })
    return value
  }

  /** Each value of a multivalued field; a record without any is included with the value unbound. */
  eachValue(field: Field): Variable {
    const each = this.context.fresh('value')
    this.lists?.push({ field, variable: each })
    this.option(triple(RECORD, predicateOf(field, this.context.target), each))
    return each
  }

  /** Binds a computed value to a variable, so that it is written once. */
  bind(expression: AlgebraExpression, name: string): Variable {
    if (expression.type === 'variable') return expression
    const target = this.context.fresh(name)
    this.computed.push({ variable: target, expression })
    return target
  }

  /** The patterns of a whole query: every record has a position. */
  patterns(): SparqlOperation {
    const { facts } = this.context.target.graphs
    return inGraph(facts, this.group(triple(RECORD, iri(LODESTONE.position), POSITION)))
  }

  /** The patterns of a group within EXISTS, or of a query with its first ones. */
  group(...first: readonly SparqlOperation[]): SparqlOperation {
    const values = [...this.values.values()].map(({ field, variable: value, need }) => {
      const pattern = triple(RECORD, predicateOf(field, this.context.target), value)
      return { need, pattern }
    })
    const those = (some: Need) => values.filter(({ need }) => need === some).map(({ pattern }) => pattern)
    const required = join(...this.found, ...first, ...this.triples, ...those('required'))
    const all = [...those('optional'), ...this.optionals].reduce(optional, required)
    const computed = this.computed.reduce(
      (input, { variable: to, expression }) => bind(input, to, expression),
      all,
    )
    return this.tests.reduce(filter, computed)
  }

  private technical(field: Field): AlgebraExpression | undefined {
    const { target } = this.context
    const name = technicalName(field)
    switch (name) {
      case undefined:
        return undefined
      case 'datasetid':
        return literal(target.dataset.id)
      case 'record_timestamp':
        return targetConstant('datetime', canonicalMoment(target.published) ?? target.published)
      case 'recordid':
        return call('STRAFTER', call('STR', RECORD), literal(spaceOf(target)))
      case 'record_size':
        return apply(LODESTONE.recordSize, RECORD, literal(JSON.stringify(fieldForms(target))))
      default:
        return name satisfies never
    }
  }
}

/** How the fields of a record are written in its JSON. */
function fieldForms(target: CompileTarget) {
  return target.dataset.fields.map(field => ({
    predicate: predicateOf(field, target).value,
    type: field.type,
    multivalued: field.multivalued,
  }))
}
