import { RDF, XSD } from '../../rdf/vocab.ts'
import type { Expression, OrderKey, Pattern, Query, SelectQuery } from '../../sparql/algebra.ts'
import { walkQuery } from '../../sparql/walk.ts'

/** The datatype of the values of a predicate, where they have one; undefined where that is not known. */
export type TypeOf = (predicate: string) => string | undefined

/** The type of what may be of any. */
export const ANY = 'any'

/** A part of a query: what is done, and the datatype of what it is done to; `any` where that is not known. */
export interface Feature {
  readonly name: string
  readonly type: string
}

/**
 * What a query computes, part by part, in words such as `LCASE` of xsd:string, `compare` of xsd:double, `order` of
 * xsd:date: what engines may do differently, so that each part is tried once (probes.ts) and queries with parts that an
 * engine gets wrong are answered otherwise (slices.ts). Patterns alone, and finding values by equality, are no features.
 */
export function featuresOf(query: Query, typeOf: TypeOf): readonly Feature[] {
  const types = variableTypes(query, typeOf)
  const features = new Map<string, Feature>()
  const add = (name: string, type: string = ANY) => features.set(featureKey({ name, type }), { name, type })
  const order = (keys: readonly OrderKey[] = []) => {
    for (const { expression } of keys) add('order', expressionType(expression, types))
  }
  const given = (expression: Expression | undefined) => {
    if (expression !== undefined && expressionType(expression, types) === XSD.boolean) add('truth')
  }
  order(query.orderBy)
  let isGrouped = query.type === 'select' && (query.groupBy ?? []).length > 0
  if (query.type === 'select') for (const { expression } of query.projection) given(expression)
  let isDistinct = query.type === 'select' && query.distinct === true
  const chosen = new Set<string>()
  walkQuery(query, {
    pattern: pattern => {
      if (pattern.type === 'subquery' && pattern.query.distinct === true) isDistinct = true
      if (pattern.type === 'bind') given(pattern.expression)
      if (pattern.type === 'subquery')
        for (const { expression } of pattern.query.projection) given(expression)
      if (pattern.type === 'subquery') order(pattern.query.orderBy)
      if (pattern.type === 'subquery' && (pattern.query.groupBy ?? []).length > 0) isGrouped = true
      if (pattern.type === 'subquery' && pattern.query.distinct === true && isWide(pattern.query)) add('rows')
      if (COMPOSED.has(pattern.type)) add('patterns')
    },
    expression: expression => {
      if (expression.type === 'exists') add('patterns')
      if (isMixed(expression, types)) add('compare of two types')
      const type = choiceType(expression, types)
      if (type !== null) chosen.add(type)
      const name = nameOf(expression)
      if (name !== null) add(name, subjectType(expression, types))
    },
  })
  const has = (name: string) => [...features.values()].some(feature => feature.name === name)
  if (has('arithmetic') && has('compare')) add('compare of computed')
  if (isGrouped && has('order')) add('order of groups')
  // A stored value and an equal constant may be spelled in two ways.
  if (isGrouped || isDistinct) for (const type of chosen) add('groups of chosen', type)
  return [...features.values()]
}

/** Rows of several values, which may be absent, are told apart in another way than single ones. */
function isWide({ projection }: SelectQuery): boolean {
  return projection.length > 1
}

/** The types of the variables of an answer. */
export function resultTypes(query: Query, typeOf: TypeOf): ReadonlyMap<string, string> {
  return variableTypes(query, typeOf)
}

/** Patterns that say how others belong together. */
const COMPOSED: ReadonlySet<string> = new Set(['optional', 'minus', 'union', 'subquery', 'table'])

export function featureKey({ name, type }: Feature): string {
  return `${name} ${type}`
}

/** True for a comparison of a value with a constant of another type, as of integers with 18.5. */
function isMixed(expression: Expression, types: ReadonlyMap<string, string>): boolean {
  const sides =
    expression.type === 'binary' && COMPARISONS.has(expression.operator)
      ? [expression.left, expression.right]
      : expression.type === 'oneOf'
        ? [expression.operand, ...expression.items]
        : []
  return new Set(sides.map(side => expressionType(side, types))).size > 1
}

/** The type of what a choice between values and constants gives; null for any other expression. */
function choiceType(expression: Expression, types: ReadonlyMap<string, string>): string | null {
  if (expression.type !== 'builtin' || (expression.name !== 'COALESCE' && expression.name !== 'IF'))
    return null
  const choices = expression.name === 'IF' ? expression.arguments.slice(1) : expression.arguments
  const value = choices.find(({ type }) => type !== 'literal')
  return value === undefined || choices.every(({ type }) => type !== 'literal')
    ? null
    : expressionType(value, types)
}

const COMPARISONS: ReadonlySet<string> = new Set(['=', '!=', '<', '<=', '>', '>='])

/** What an expression does by itself; null for what every engine does alike. */
function nameOf(expression: Expression): string | null {
  switch (expression.type) {
    case 'binary':
      if (expression.operator === '||' || expression.operator === '&&') return null
      return COMPARISONS.has(expression.operator) ? 'compare' : 'arithmetic'
    case 'builtin':
      return builtinName(expression)
    case 'function':
      return expression.iri
    case 'aggregate':
      if (expression.name === 'COUNT') return null
      return `${expression.name}${expression.distinct ? ' DISTINCT' : ''}`
    case 'concatenation':
      return 'GROUP_CONCAT'
    case 'oneOf':
      return 'compare'
    case 'exists':
    case 'not':
    case 'variable':
    case 'iri':
    case 'literal':
    case 'blank':
      return null
    default:
      return expression satisfies never
  }
}

/** Some functions have cases of which engines know the one and not the other. */
function builtinName({
  name,
  arguments: [, second, , flags],
}: Extract<Expression, { readonly type: 'builtin' }>): string {
  if (second?.type === 'literal' && second.value === '') return `${name} of nothing`
  return flags === undefined ? name : `${name} with flags`
}

/** The type of what an expression is about: its first operand that is no constant. */
function subjectType(expression: Expression, types: ReadonlyMap<string, string>): string {
  switch (expression.type) {
    case 'binary': {
      const [left, right] = [expression.left, expression.right].map(side => expressionType(side, types))
      if (expression.left.type === 'literal') return right ?? ANY
      if (expression.right.type === 'literal') return left ?? ANY
      return left === right ? (left ?? ANY) : ANY
    }
    case 'builtin':
    case 'function': {
      // BOUND, COALESCE and IF are asked of values of all kinds; what they choose from is computed by others.
      const [first, second] = expression.arguments
      const subject = expression.type === 'builtin' && expression.name === 'IF' ? second : first
      return subject === undefined ? ANY : expressionType(subject, types)
    }
    case 'aggregate':
      return expression.operand === null ? ANY : expressionType(expression.operand, types)
    case 'concatenation':
    case 'oneOf':
      return expressionType(expression.operand, types)
    default:
      return ANY
  }
}

const RESULTS: Readonly<Record<string, string>> = {
  STR: XSD.string,
  LCASE: XSD.string,
  UCASE: XSD.string,
  CONCAT: XSD.string,
  REPLACE: XSD.string,
  SUBSTR: XSD.string,
  STRBEFORE: XSD.string,
  STRAFTER: XSD.string,
  LANG: XSD.string,
  STRLEN: XSD.integer,
  YEAR: XSD.integer,
  MONTH: XSD.integer,
  DAY: XSD.integer,
  HOURS: XSD.integer,
  MINUTES: XSD.integer,
  SECONDS: XSD.decimal,
  BOUND: XSD.boolean,
  CONTAINS: XSD.boolean,
  STRSTARTS: XSD.boolean,
  STRENDS: XSD.boolean,
  REGEX: XSD.boolean,
  SAMETERM: XSD.boolean,
}

const SAME_AS_OPERAND: ReadonlySet<string> = new Set(['ABS', 'CEIL', 'FLOOR', 'ROUND'])

/** The datatype of the values of an expression. */
function expressionType(expression: Expression, types: ReadonlyMap<string, string>): string {
  const typesOf = (expressions: readonly Expression[]) => {
    const [first = ANY, ...others] = expressions.map(each => expressionType(each, types))
    return others.every(other => other === first) ? first : ANY
  }
  switch (expression.type) {
    case 'literal':
      return expression.language === '' ? expression.datatype : RDF.langString
    case 'variable':
      return types.get(expression.name) ?? ANY
    case 'binary':
      if (COMPARISONS.has(expression.operator) || /[|&]/.test(expression.operator)) return XSD.boolean
      // Integers divide into decimals.
      if (expression.operator === '/') {
        const type = typesOf([expression.left, expression.right])
        return type === XSD.double ? type : type === XSD.integer ? XSD.decimal : ANY
      }
      return typesOf([expression.left, expression.right])
    case 'not':
    case 'exists':
    case 'oneOf':
      return XSD.boolean
    case 'function':
      return expression.iri
    case 'builtin': {
      const { name } = expression
      if (name === 'IF') return typesOf(expression.arguments.slice(1))
      if (name === 'COALESCE') return typesOf(expression.arguments)
      if (SAME_AS_OPERAND.has(name)) return typesOf(expression.arguments.slice(0, 1))
      return RESULTS[name] ?? ANY
    }
    case 'aggregate':
      if (expression.name === 'COUNT') return XSD.integer
      if (expression.name === 'AVG' || expression.operand === null) return ANY
      return expressionType(expression.operand, types)
    case 'concatenation':
      return XSD.string
    case 'iri':
    case 'blank':
      return ANY
    default:
      return expression satisfies never
  }
}

/** The datatypes of variables: those of the predicates whose values they are, and of what is bound to them. */
function variableTypes(query: Query, typeOf: TypeOf): ReadonlyMap<string, string> {
  const types = new Map<string, string>()
  const learn = (name: string, type: string) => {
    const known = types.get(name)
    types.set(name, known === undefined || known === type ? type : ANY)
  }
  const visit = (pattern: Pattern): void => {
    switch (pattern.type) {
      case 'triple': {
        const { predicate, object } = pattern
        if (object.type !== 'variable') return
        learn(object.name, predicate.type === 'iri' ? (typeOf(predicate.value) ?? ANY) : ANY)
        return
      }
      case 'values':
        for (const term of pattern.terms)
          learn(pattern.variable.name, term.type === 'literal' ? term.datatype : ANY)
        return
      case 'table':
        for (const { name } of pattern.variables) learn(name, ANY)
        return
      case 'bind':
        learn(pattern.variable.name, expressionType(pattern.expression, types))
        return
      case 'subquery':
        for (const { variable, expression } of pattern.query.projection)
          if (expression !== undefined) learn(variable.name, expressionType(expression, types))
        return
      default:
        return
    }
  }
  // What is bound may be read before it is met: the second time all that is stored is known.
  walkQuery(query, { pattern: visit })
  const stored = new Map(types)
  types.clear()
  for (const [name, type] of stored) if (type !== ANY) types.set(name, type)
  walkQuery(query, { pattern: visit })
  if (query.type === 'select')
    for (const { variable, expression } of query.projection)
      if (expression !== undefined) learn(variable.name, expressionType(expression, types))
  return types
}
