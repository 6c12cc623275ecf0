import { type ComparisonOperator, FLIPPED } from '../../../../model/comparison.ts'
import { daysSinceEpoch } from '../../../../model/time.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import {
  type AlgebraExpression,
  type ExpressionOf,
  isConstantExpression,
  type SparqlOperator,
  variablesOfExpression,
} from '../../../../sparql/algebra.ts'
import { valueBound } from '../../dictionary.ts'
import type { DictionarySection } from '../../dictionary-parts.ts'
import { lowerBound } from '../../dictionary-texts.ts'
import type { Resources } from '../../resources.ts'
import { dateField } from '../functions/date-fields.ts'
import { ColumnDomain, type Domain, onlyPartOf, PositionDomain, ResourceDomain } from '../vectors/domain.ts'
import { primitiveOf } from '../vectors/term-order.ts'
import { type MomentValue, type TermValue, termValue } from '../vectors/value.ts'

/** Term numbers for which a comparison is true: from one to below another; it is false for all others except 0. */
export interface IdRange {
  readonly from: number
  readonly to: number
  /** True where the comparison holds outside of the range. */
  readonly negated: boolean
}

/**
 * The values of a column that satisfy a comparison with a constant: a range of codes, because these are in the order of the
 * values. Null where the column has values of several kinds, or the comparison has another form.
 */
export function codeRangeOf(expression: AlgebraExpression, domain: Domain): IdRange | null {
  if (expression.type === 'builtin') return prefixRange(expression, domain)
  const comparison = expression.type === 'binary' ? comparisonWithConstant(expression) : null
  if (comparison === null) return null
  const { operator, value, read } = comparison
  const part = onlyPartOf(domain)
  const bounds =
    domain instanceof PositionDomain
      ? positionBounds(value, read, domain)
      : part && boundsIn(part, value, read)
  if (bounds === null) return null
  const base = part?.first ?? 1
  const [from, to, last] = [
    base + bounds[0],
    base + bounds[1],
    base + (part === null ? domain.size : lastPlace(part)),
  ]
  switch (operator) {
    case '=':
    case '!=':
      return { from, to, negated: operator === '!=' }
    case '<':
      return { from: base, to: from, negated: false }
    case '<=':
      return { from: base, to, negated: false }
    case '>':
      return { from: to, to: last, negated: false }
    case '>=':
      return { from, to: last, negated: false }
  }
}

/** The values of a column to which a condition on a variable alone restricts it; null for other conditions. */
export function rangeFor(name: string, condition: AlgebraExpression, domain: Domain): IdRange | null {
  const [only, ...others] = variablesOfExpression(condition)
  const range = only === name && others.length === 0 ? codeRangeOf(condition, domain) : null
  return range?.negated === false ? range : null
}

/** The texts or IRIs with a constant prefix. */
function prefixRange(expression: ExpressionOf<'builtin'>, domain: Domain): IdRange | null {
  if (expression.name !== 'STRSTARTS') return null
  const [operand, prefix] = expression.arguments
  const read = operand === undefined ? null : operandOf(operand)
  if (read === null || prefix?.type !== 'literal' || prefix.datatype !== XSD.string) return null
  if (domain instanceof ResourceDomain)
    return read === 'text' ? prefixOfIris(domain.graph.resources, prefix.value) : null
  const part = onlyPartOf(domain)
  if (part?.kind === 'text') {
    const [from, to] = part.texts.rangeOfPrefix(Buffer.from(prefix.value))
    return { from: part.first + from, to: part.first + to, negated: false }
  }
  if (part?.kind !== 'resource' || !(domain instanceof ColumnDomain) || read !== 'text') return null
  const range = prefixOfIris(domain.graph.resources, prefix.value)
  if (range === null) return null
  const place = (resource: number) => part.first + lowerBound(part.ids, resource)
  return { from: place(range.from), to: place(range.to), negated: false }
}

/** Blank nodes have no text: where there are some, a resource without the prefix may be an error. */
function prefixOfIris(resources: Resources, prefix: string): IdRange | null {
  if (resources.blanks > 0) return null
  const [from, to] = resources.rangeOfPrefix(prefix)
  return { from, to, negated: false }
}

/** A variable, or the text of one; null for any other expression. */
function operandOf(expression: AlgebraExpression): 'value' | 'text' | null {
  if (expression.type === 'variable') return 'value'
  const isText = expression.type === 'builtin' && expression.name === 'STR'
  return isText && expression.arguments[0]?.type === 'variable' ? 'text' : null
}

/** The part of a variable that a comparison reads. */
type Operand = 'value' | 'text' | 'year'

/** A variable, its text or its year, an operator and a constant, the constant on the right. */
function comparisonWithConstant({ operator, left, right }: ExpressionOf<'binary'>): {
  readonly operator: ComparisonOperator
  readonly value: TermValue
  readonly read: Operand
} | null {
  if (!isComparison(operator)) return null
  const isRight = isConstantExpression(right)
  const constant = isRight ? right : left
  const variable = isRight ? left : right
  const read = operandOf(variable) ?? (dateField(variable)?.name === 'YEAR' ? 'year' : null)
  if (read === null || !isConstantExpression(constant)) return null
  return {
    operator: isRight ? operator : FLIPPED[operator],
    value: termValue(constant),
    read,
  }
}

export function isComparison(operator: SparqlOperator): operator is ComparisonOperator {
  return operator in FLIPPED
}

/** Index after the last comparable value: NaN is last, and neither above nor below any value. */
function lastPlace(part: DictionarySection): number {
  if (part.kind !== 'number') return part.count
  return valueBound(part.values, Number.NaN)
}

/** Indexes of the first value that equals another and of the first that is above it; null where they are not comparable. */
function boundsIn(
  part: DictionarySection,
  value: TermValue,
  read: Operand,
): readonly [number, number] | null {
  if (read === 'year') return yearBounds(part, value)
  if (read === 'text' && part.kind !== 'text') return null
  switch (part.kind) {
    case 'number': {
      if (value.type !== 'number' || value.exact !== undefined || !part.exact || Number.isNaN(value.value))
        return null
      // Comparisons with floats round other numbers.
      if (part.datatypes.includes(XSD.float)) return null
      if (value.kind === 'float' && part.datatypes.some(datatype => datatype !== XSD.double)) return null
      if (value.kind === 'decimal' && value.term !== undefined && value.term.value.length > 15) return null
      // NaN in the column equals no value, so `!=` holds for it, which is consistent with the range.
      const from = valueBound(part.values, value.value)
      let to = from
      while (to < part.count && part.values[to] === value.value) to++
      return [from, to]
    }
    case 'moment': {
      if (value.type !== 'moment' || part.forms !== null || part.types !== null) return null
      const [datatype] = part.datatypes
      // Without separate forms all dates have no zone, and all moments are in UTC.
      const isZoned = datatype === XSD.dateTime
      if (hasFineFraction(value)) return null
      if (primitiveOf(value) !== datatype || (value.offset !== null) !== isZoned) return null
      const from = valueBound(part.values, value.seconds)
      return [from, part.values[from] === value.seconds ? from + 1 : from]
    }
    case 'text':
      return value.type === 'text' && value.language === '' && (read === 'text' || part.tags === null)
        ? part.texts.range(Buffer.from(value.value))
        : null
    default:
      return null
  }
}

/** True where a moment has more digits of a second than those of columns. */
function hasFineFraction({ term }: MomentValue): boolean {
  return /\.\d{7}/.test(term.value)
}

/** Dates without a zone, or moments in UTC, are in the order of their years. */
function yearBounds(part: DictionarySection, value: TermValue): readonly [number, number] | null {
  if (part.kind !== 'moment' || part.forms !== null || part.types !== null || value.type !== 'number')
    return null
  if (value.exact !== undefined || Number.isNaN(value.value) || Math.abs(value.value) > MAX_YEAR) return null
  const first = Math.ceil(value.value)
  const from = lowerBound(part.values, 86_400 * daysSinceEpoch(first, 1, 1))
  if (first !== value.value) return [from, from]
  return [from, lowerBound(part.values, 86_400 * daysSinceEpoch(first + 1, 1, 1))]
}

/** Years up to this one are represented exactly in seconds. */
const MAX_YEAR = 100_000

function positionBounds(
  value: TermValue,
  read: Operand,
  { size }: PositionDomain,
): readonly [number, number] | null {
  if (read !== 'value' || value.type !== 'number' || value.kind === 'float' || value.exact !== undefined)
    return null
  const clamp = (place: number) => Math.max(0, Math.min(size, place))
  const from = clamp(Math.ceil(value.value))
  return [from, Math.max(from, clamp(Math.floor(value.value) + 1))]
}
