import type { Fault } from '../../errors/errors.ts'
import type { Expression, Span } from '../../language/odata/ast.ts'
import { ODATA_UNSUPPORTED, odataFault } from '../../language/odata/faults.ts'
import { didYouMean } from '../../model/did-you-mean.ts'
import { planSize } from '../conditions.ts'
import type { TypedExpression } from './typed-expression.ts'

/** The common state of a request, including its cost counters. It lives for one request. */
export interface ScopeRequest {
  /** The value of `now()`: `YYYY-MM-DDTHH:MM:SS[.f…]Z`. */
  readonly now: string
  readonly version: '2.0' | '3.0' | '4.0'
  readonly set: string
  /** Qualified name of the entity type. */
  readonly entity: string
  readonly aliases: ReadonlyMap<string, Expression>
  /** Nodes of expressions that have been looked at, with those of computed properties at each place that names them. */
  visits: number
  /** Variables of lambda expressions so far. */
  elements: number
}

/** The meaning of names at one point of one option. */
export interface Scope {
  readonly request: ScopeRequest
  /** Name of the option, for faults. */
  readonly option: string
  /** Properties and computed ones by name; after an aggregation also paths such as `location/latitude`. */
  readonly names: ReadonlyMap<string, TypedExpression>
  /** Variables of lambda expressions, which shadow properties (URL Conventions 5.1.1.13). */
  readonly variables: ReadonlyMap<string, TypedExpression>
  /** True for rows of an aggregation, which are not evaluated in the store. */
  readonly rows: boolean
  /** Depth of the current expression. */
  readonly depth: number
}

/** Maximum depth of expressions, and of nodes of all options with aliases replaced. */
const MAX_DEPTH = 200
const MAX_NODES = 20_000

/** The scope of a part of the current expression; refuses expressions that are nested too deeply or grown too large by aliases. */
export function withinScope(scope: Scope, node: Expression): Scope {
  const { request, depth } = scope
  request.visits += 1
  if (depth >= MAX_DEPTH) throw wrong(scope, 'The expression is nested too deeply', node.span)
  if (request.visits > MAX_NODES) throw wrong(scope, 'The expressions are too long', node.span)
  return { ...scope, depth: depth + 1 }
}

/** Counts what a computed property brings along where it is named: each place has all of its expression. */
export function countComputed(scope: Scope, typed: TypedExpression, span: Span): void {
  if (typed.type === 'value') scope.request.visits += planSize(typed.scalar)
  else if (typed.type === 'test') scope.request.visits += planSize(typed.holds) + planSize(typed.fails)
  else return
  if (scope.request.visits > MAX_NODES) throw wrong(scope, 'The expressions are too long', span)
}

/** What makes no sense: 400. */
export function wrong({ option }: Scope, reason: string, span: Span, hint?: string): Fault {
  return odataFault(option, hint === undefined ? reason : `${reason} (${hint})`, span)
}

/** A request that makes sense but is not supported: 501. */
export function unserved({ option }: Scope, what: string, span: Span): Fault {
  return odataFault(option, `${what} is not supported`, span, ODATA_UNSUPPORTED)
}

/** An unknown name, with the name that was probably meant. */
export function unknownProperty(scope: Scope, name: string, span: Span): Fault {
  const { request, names, variables } = scope
  const hint = didYouMean(name, [...variables.keys(), ...names.keys()])
  return wrong(scope, `${request.set} has no property ${name.slice(0, 100)}`, span, hint)
}
