import type { Field } from '../../model/field.ts'
import { canonicalMoment } from '../../model/time.ts'
import { LODESTONE } from '../../rdf/vocab.ts'
import type { AstExpression, Pattern, Variable } from '../../sparql/ast.ts'
import {
  apply,
  bind,
  call,
  filter,
  inGraph,
  iri,
  literal,
  optional,
  triple,
  variable,
} from '../../sparql/build.ts'
import { technicalName } from '../field-names.ts'
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
  private readonly elements = new Map<number, AstExpression>()

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
  bindElement(number: number, value: AstExpression): void {
    this.elements.set(number, value)
  }

  element(number: number): AstExpression {
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
) => AstExpression

/** Whether a record without a value is excluded, or included with the value unbound. */
export type Need = 'required' | 'optional'

/**
 * The patterns about ?record of one group: each field is read once, into its own variable. A multivalued field is read in groups
 * of its own, within EXISTS, so that a record is one solution however many values it has.
 */
export class PatternBuilder {
  readonly context: CompileContext
  /** The patterns around those of a group within EXISTS: their bindings are visible in the group. */
  private readonly outer: PatternBuilder | null
  private readonly found: Pattern[] = []
  private readonly triples: Pattern[] = []
  private readonly optionals: Pattern[] = []
  private readonly computed: Pattern[] = []
  private readonly tests: AstExpression[] = []
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
  find(pattern: Pattern): void {
    this.found.push(pattern)
  }

  join(...patterns: readonly Pattern[]): void {
    this.triples.push(...patterns)
  }

  option(...patterns: readonly Pattern[]): void {
    if (patterns.some(({ type }) => type === 'subquery')) this.isJoined = true
    this.optionals.push(optional(...patterns))
  }

  test(...expressions: readonly AstExpression[]): void {
    this.tests.push(...expressions)
  }

  /** The triple of a record with a field and a value. */
  fact(field: Field, value: AstExpression): void {
    if (value.type !== 'variable' && value.type !== 'literal')
      throw new Error('a fact has a value or a variable')
    this.join(triple(RECORD, predicateOf(field, this.context.target), value))
  }

  /**
   * The value of a field, or a technical field of the record; of a multivalued field each value in turn, in a new variable at
   * every call.
   */
  value(field: Field, need: Need): AstExpression {
    const technical = this.technical(field)
    if (technical !== undefined) return technical
    if (field.multivalued) {
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
    this.option(triple(RECORD, predicateOf(field, this.context.target), each))
    return each
  }

  /** Binds a computed value to a variable, so that it is written once. */
  bind(expression: AstExpression, name: string): Variable {
    if (expression.type === 'variable') return expression
    const target = this.context.fresh(name)
    this.computed.push(bind(expression, target))
    return target
  }

  /** The patterns of a group within EXISTS. */
  group(): readonly Pattern[] {
    return this.arranged([])
  }

  /** The patterns of a whole query: every record has a position. */
  patterns(): readonly Pattern[] {
    const { facts } = this.context.target.graphs
    return [inGraph(facts, ...this.arranged([triple(RECORD, iri(LODESTONE.position), POSITION)]))]
  }

  private arranged(first: readonly Pattern[]): readonly Pattern[] {
    const values = [...this.values.values()].map(({ field, variable: value, need }) => {
      const pattern = triple(RECORD, predicateOf(field, this.context.target), value)
      return { need, pattern }
    })
    return [
      ...this.found,
      ...first,
      ...this.triples,
      ...values.filter(({ need }) => need === 'required').map(({ pattern }) => pattern),
      ...values.filter(({ need }) => need === 'optional').map(({ pattern }) => optional(pattern)),
      ...this.optionals,
      ...this.computed,
      ...this.tests.map(filter),
    ]
  }

  private technical(field: Field): AstExpression | undefined {
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
