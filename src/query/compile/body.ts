import type { Field } from '../../model/field.ts'
import { INDEX } from '../../rdf/vocab.ts'
import type { Expression, Pattern, Variable } from '../../sparql/algebra.ts'
import { bind, call, filter, inGraph, integer, iri, literal, optional, triple } from '../../sparql/build.ts'
import { technicalName } from '../technical.ts'
import { constantTerm, JSON_TEXT, POSITION, RECORD, type Scope } from './scope.ts'

/** Whether a record without a value drops out, or goes on with the value unbound. */
export type Need = 'required' | 'optional'

/**
 * The patterns about ?record of one group, gathered in any order and written in the one that the store is quickest
 * with: what finds records, then the triples joined to it, what takes records out, optional values, computed ones,
 * tests. It knows which variable holds which value, so that nothing is fetched or computed twice.
 */
export class Body {
  readonly scope: Scope
  private readonly found: Pattern[] = []
  private readonly triples: Pattern[] = []
  private readonly removed: Pattern[] = []
  private readonly optionals: Pattern[] = []
  private readonly computed: Pattern[] = []
  private readonly tests: Expression[] = []
  private readonly held = new Map<string, { readonly value: Expression; readonly need: Need }>()
  private readonly named = new Map<string, Expression>()

  constructor(scope: Scope) {
    this.scope = scope
  }

  /** Patterns that bind ?record: candidates, subqueries, unions. */
  find(...patterns: readonly Pattern[]): void {
    this.found.push(...patterns)
  }

  join(...patterns: readonly Pattern[]): void {
    this.triples.push(...patterns)
  }

  remove(pattern: Pattern): void {
    this.removed.push(pattern)
  }

  /** An optional pattern that is not the value of a field. */
  option(pattern: Pattern): void {
    this.optionals.push(pattern)
  }

  test(...expressions: readonly Expression[]): void {
    this.tests.push(...expressions)
  }

  /** Joins the position of the record, which every record has. */
  position(): Variable {
    if (!this.named.has('position')) {
      this.named.set('position', POSITION)
      this.join(inGraph(this.scope.target.graphs.index, triple(RECORD, iri(INDEX.position), POSITION)))
    }
    return POSITION
  }

  /** The whole record as JSON. */
  json(): Variable {
    if (!this.named.has('json')) {
      this.named.set('json', JSON_TEXT)
      this.join(inGraph(this.scope.target.graphs.index, triple(RECORD, iri(INDEX.json), JSON_TEXT)))
    }
    return JSON_TEXT
  }

  /** The folded words of the record. */
  text(): Expression {
    const known = this.named.get('text')
    if (known !== undefined) return known
    const text = this.scope.fresh('text')
    this.named.set('text', text)
    this.join(inGraph(this.scope.target.graphs.index, triple(RECORD, iri(INDEX.text), text)))
    return text
  }

  /** The value of a field; of a field with many values each in turn, a fresh one at every call. */
  value(field: Field, need: Need): Expression {
    const technical = this.technical(field)
    if (technical !== undefined) return technical
    const held = field.multivalued ? undefined : this.held.get(field.name)
    if (held !== undefined && (held.need === 'required' || need === 'optional')) return held.value
    const value = this.scope.fresh('value')
    const { facts } = this.scope.target.graphs
    const pattern = inGraph(facts, triple(RECORD, this.scope.predicate(field), value))
    const sure = need === 'required' || this.scope.isComplete(field)
    if (sure) this.join(pattern)
    else this.optionals.push(optional(pattern))
    if (!field.multivalued) this.held.set(field.name, { value, need: sure ? 'required' : 'optional' })
    return value
  }

  /** A computed value under a variable, so that it is computed once. */
  let(expression: Expression, name: string): Expression {
    return expression.type === 'literal' ? expression : this.hold(expression, name)
  }

  /** A value under a variable that patterns can be grouped by. */
  hold(expression: Expression, name: string): Variable {
    if (expression.type === 'variable') return expression
    const target = this.scope.fresh(name)
    this.computed.push(bind(expression, target))
    return target
  }

  /** A computed value that several parts of a query share under a name. */
  share(name: string, make: () => Expression): Expression {
    const known = this.named.get(name)
    if (known !== undefined) return known
    const value = this.let(make(), 'part')
    this.named.set(name, value)
    return value
  }

  patterns(): readonly Pattern[] {
    return [
      ...this.found,
      ...this.triples,
      ...this.removed,
      ...this.optionals,
      ...this.computed,
      ...this.tests.map(filter),
    ]
  }

  /** A body that knows the values of this one. */
  fork(): Body {
    const copy = new Body(this.scope)
    for (const [name, value] of this.held) copy.held.set(name, value)
    for (const [name, value] of this.named) copy.named.set(name, value)
    return copy
  }

  /** The tests of a body that has nothing but tests. */
  onlyTests(): readonly Expression[] {
    if (this.patterns().length > this.tests.length) throw new Error('a body with more than tests')
    return this.tests
  }

  private technical(field: Field): Expression | undefined {
    const { target } = this.scope
    const name = technicalName(field)
    switch (name) {
      case undefined:
        return undefined
      case 'datasetid':
        return literal(target.dataset.id)
      case 'record_timestamp':
        return constantTerm('datetime', target.published)
      case 'recordid':
        return call('SUBSTR', call('STR', RECORD), integer(this.scope.idOffset() + 1))
      case 'record_size':
        return call('STRLEN', call('STR', this.json()))
      default:
        return name satisfies never
    }
  }
}
