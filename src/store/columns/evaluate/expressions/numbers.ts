import { XSD } from '../../../../rdf/vocab.ts'
import {
  type AlgebraExpression,
  type ExpressionOf,
  isConstantExpression,
} from '../../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluation.ts'
import { type DateFieldReader, dateField, dateFieldReader } from '../functions/date-fields.ts'
import { columnCall } from '../functions/extensions.ts'
import { allRows, type Batch } from '../vectors/batch.ts'
import { ColumnDomain, type Domain, PositionDomain } from '../vectors/domain.ts'
import {
  COMPUTE,
  columnNumbers,
  computedDecimals,
  constantNumbers,
  eitherBound,
  fractionDigits,
  isCanonical,
  lookedUp,
  type NumberTable,
  presentNumbers,
  rounded,
  wholeQuotients,
} from '../vectors/number-vectors.ts'
import { PoolDomain } from '../vectors/pool-domain.ts'
import { scratchFloat64 } from '../vectors/scratch.ts'
import { termValue } from '../vectors/value.ts'
import type { IdVector, NumberVector, Vector } from '../vectors/vector.ts'
import { coordinateNumbers } from './point-distances.ts'
import { type ScalarCompiler, subjectCall } from './scalar.ts'
import { lengthReader } from './text-prefixes.ts'

/** Expressions are not evaluated for whole domains with more values than this many times the rows. */
const TABLE_FACTOR = 4

/**
 * Evaluates arithmetic over whole columns: doubles, and integers within ±2^53. In its vectors NaN means no value: expressions
 * that can have the value NaN are left to the functions of rows.
 */
export class NumberKernels {
  private readonly evaluation: Evaluation
  private readonly scalars: ScalarCompiler
  private readonly hasTables: boolean
  private ownByRow: NumberKernels | null = null

  /** @param hasTables false where nothing is computed value by value */
  constructor(evaluation: Evaluation, scalars: ScalarCompiler, hasTables = true) {
    this.evaluation = evaluation
    this.scalars = scalars
    this.hasTables = hasTables
  }

  /** The kernels that compute by row only. */
  get byRow(): NumberKernels {
    this.ownByRow ??= new NumberKernels(this.evaluation, this.scalars, false)
    return this.ownByRow
  }

  /** The numbers of an expression; null where the kernels do not support it. */
  vector(expression: AlgebraExpression, batch: Batch): NumberVector | null {
    if (isConstantExpression(expression)) return constantNumbers(termValue(expression), batch.size)
    if (expression.type === 'variable') {
      const vector = batch.get(expression.name)
      return vector === undefined ? null : this.ofVector(vector, batch.size)
    }
    return (
      this.operation(expression, batch) ??
      this.field(expression, batch) ??
      this.called(expression, batch) ??
      (this.hasTables ? this.ofSoleColumn(expression, batch) : null)
    )
  }

  private ofVector(vector: Vector, size: number): NumberVector | null {
    switch (vector.type) {
      case 'numbers':
        return vector.kind === 'float' || !areNumbers(vector.values, vector.bound) ? null : vector
      case 'constant':
        return vector.id === 0 ? null : constantNumbers(vector.domain.value(vector.id), size)
      case 'ids': {
        const table = this.tableOf(vector.domain)
        return table === null ? null : lookedUp(table, vector.ids)
      }
    }
  }

  private tableOf(domain: Domain): NumberTable | null {
    if (domain instanceof PositionDomain)
      return this.evaluation.memo('numbers', POSITIONS, domain, () => {
        const values = scratchFloat64(domain.size + 1)
        for (let id = 0; id <= domain.size; id++) values[id] = id === 0 ? Number.NaN : id - 1
        return { kind: 'integer', values }
      })
    const numbers = columnNumbers(domain)
    return numbers === null || Number.isNaN(numbers.values.at(-1)) ? null : numbers
  }

  private operation(expression: AlgebraExpression, batch: Batch): NumberVector | null {
    if (expression.type === 'binary') {
      const { operator } = expression
      if (operator !== '+' && operator !== '-' && operator !== '*' && operator !== '/') return null
      const left = this.vector(expression.left, batch)
      const right = left === null ? null : this.vector(expression.right, batch)
      return left === null || right === null ? null : computed(operator, left, right)
    }
    if (
      expression.type === 'function' &&
      expression.iri === XSD.double &&
      expression.arguments.length === 1
    ) {
      const operand = this.vector(expression.arguments[0] as AlgebraExpression, batch)
      if (operand === null) return null
      const { type, values, bound } = operand
      return { type, kind: 'double', values, bound }
    }
    if (expression.type === 'function') return this.wholeNumber(expression, batch)
    return expression.type === 'builtin' ? this.rounding(expression, batch) : null
  }

  /** A quotient of integers and decimals that is rounded, without computing it first; null for any other expression. */
  private quotient(
    name: Parameters<typeof wholeQuotients>[0],
    operand: AlgebraExpression,
    batch: Batch,
  ): NumberVector | null {
    if (operand.type !== 'binary' || operand.operator !== '/') return null
    const left = this.vector(operand.left, batch)
    const right = left === null ? null : this.vector(operand.right, batch)
    return left && right && wholeQuotients(name, left, right, eitherBound(left, right))
  }

  /** xsd:integer of a number. */
  private wholeNumber(
    { iri, arguments: [operand, ...others] }: ExpressionOf<'function'>,
    batch: Batch,
  ): NumberVector | null {
    if (iri !== XSD.integer || operand === undefined || others.length > 0) return null
    const numbers = this.quotient('TRUNCATE', operand, batch) ?? this.vector(operand, batch)
    if (numbers === null || numbers.kind === 'double') return null
    const values = numbers.values.map(value => Math.trunc(value) + 0)
    return { type: 'numbers', kind: 'integer', values, bound: numbers.bound }
  }

  /** ABS, CEIL, FLOOR and ROUND. */
  private rounding(
    { name, arguments: [operand] }: ExpressionOf<'builtin'>,
    batch: Batch,
  ): NumberVector | null {
    if (operand === undefined || (name !== 'ABS' && name !== 'CEIL' && name !== 'FLOOR' && name !== 'ROUND'))
      return null
    const whole = name === 'ABS' ? null : this.quotient(name, operand, batch)
    if (whole !== null) return whole
    const numbers = this.vector(operand, batch)
    return numbers && rounded(name, numbers)
  }

  /** A field of the dates of a column. */
  private field(expression: AlgebraExpression, batch: Batch): NumberVector | null {
    const field = dateField(expression)
    const vector = field === null ? undefined : batch.get(field.variable)
    if (field === null || vector?.type !== 'ids' || !(vector.domain instanceof ColumnDomain)) return null
    const { domain, ids } = vector
    const reader = this.evaluation.memo('fields', expression, domain, () => dateFieldReader(field, domain))
    return reader === null ? null : this.ofMoments(expression, reader, ids, domain)
  }

  /** The integers of a function of moments, computed once per moment where there are not many more moments than rows. */
  private ofMoments(
    expression: AlgebraExpression,
    { first, moments, read }: DateFieldReader,
    ids: Uint32Array,
    domain: ColumnDomain,
  ): NumberVector {
    if (moments.length <= TABLE_FACTOR * ids.length + 64) {
      const table = this.evaluation.memo('moments', expression, domain, (): NumberTable => {
        const values = scratchFloat64(domain.size + 1).fill(Number.NaN)
        for (let at = 0; at < moments.length; at++) values[first + at] = read(moments[at] as number)
        return { kind: 'integer', values }
      })
      return lookedUp(table, ids)
    }
    const values = scratchFloat64(ids.length)
    for (let row = 0; row < ids.length; row++) {
      const place = (ids[row] as number) - first
      values[row] = place < 0 ? Number.NaN : read(moments[place] as number)
    }
    return presentNumbers('integer', values)
  }

  /** The values of a function for the moments or the positions of a column, or for the subjects of a graph. */
  private called(expression: AlgebraExpression, batch: Batch): NumberVector | null {
    const call = columnCall(expression)
    if (call === null) return null
    const { called, constants } = call
    const subjects = subjectCall(expression, batch, this.evaluation)
    if (subjects !== null) {
      const { values, ids } = subjects
      return values?.type === 'integers' ? lookedUp({ kind: 'integer', values: values.values }, ids) : null
    }
    const vector = batch.get(call.variable)
    if (vector?.type !== 'ids' || !(vector.domain instanceof ColumnDomain)) return null
    const { domain, ids } = vector
    const part = domain.dictionary.onlyPart()
    if (part?.kind === 'point' && called.isTest !== true) {
      const compute = called.overPoints?.(constants)
      if (compute === undefined || compute === null) return null
      const { longitudes, latitudes, first } = part
      const { coordinate } = called
      if (coordinate !== undefined)
        return coordinateNumbers(part, coordinate, vector.ids, domain, this.evaluation)
      const values = scratchFloat64(ids.length)
      for (let row = 0; row < ids.length; row++) {
        const place = (ids[row] as number) - first
        values[row] =
          place < 0 ? Number.NaN : compute(longitudes[place] as number, latitudes[place] as number)
      }
      return presentNumbers('double', values)
    }
    if (part?.kind !== 'moment') return null
    const of = { isDay: part.datatypes[0] === XSD.date, hasForms: part.forms !== null }
    const compute = called.overMoments?.(constants, of)
    if (compute === undefined || compute === null) return null
    return this.ofMoments(expression, { first: part.first, moments: part.values, read: compute }, ids, domain)
  }

  /** Any expression of one column whose values are integers or doubles, computed once for each value. */
  private ofSoleColumn(expression: AlgebraExpression, batch: Batch): NumberVector | null {
    const sole = this.scalars.soleVector(expression, batch)
    // The pool of a query grows from batch to batch: no table of it is complete.
    if (sole === null || sole.domain instanceof PoolDomain) return null
    const { domain, ids } = sole
    const isLarge = domain.size > TABLE_FACTOR * batch.size + 64
    if (isLarge && !this.evaluation.hasMemo('numbers', expression, domain))
      return this.lengths(expression, sole)
    const table = this.evaluation.memo('numbers', expression, domain, () => this.workOut(expression, domain))
    return table.numbers === null ? null : lookedUp(table.numbers, ids)
  }

  /** Lengths of texts, row by row. */
  private lengths(expression: AlgebraExpression, { domain, ids }: IdVector): NumberVector | null {
    const read = domain instanceof ColumnDomain ? lengthReader(expression, domain) : null
    if (read === null) return null
    const values = scratchFloat64(ids.length)
    for (let row = 0; row < ids.length; row++) values[row] = read(ids[row] as number)
    return presentNumbers('integer', values)
  }

  private workOut(expression: AlgebraExpression, domain: Domain): { readonly numbers: NumberTable | null } {
    const lengthOf = domain instanceof ColumnDomain ? lengthReader(expression, domain) : null
    if (lengthOf !== null) {
      const values = scratchFloat64(domain.size + 1)
      for (let code = 0; code <= domain.size; code++) values[code] = lengthOf(code)
      return { numbers: { kind: 'integer', values } }
    }
    const name = this.scalars.soleVariable(expression)
    if (name === null) return { numbers: null }
    const ids = allRows(domain.size + 1)
    const all = new Map<string, Vector>([[name, { type: 'ids', domain, ids }]])
    const scalar = this.scalars.over(expression, all, ids.length)
    const values = scratchFloat64(domain.size + 1).fill(Number.NaN)
    let kind: NumberTable['kind'] | null = null
    for (let id = 0; id <= domain.size; id++) {
      const value = scalar(id)
      if (id % 256 === 0) this.evaluation.check()
      if (value === null) continue
      if (value.type !== 'number' || value.exact !== undefined || Number.isNaN(value.value))
        return { numbers: null }
      if (value.kind === 'float' || !isCanonical(value)) return { numbers: null }
      if (kind !== null && kind !== value.kind) return { numbers: null }
      kind = value.kind
      values[id] = value.value
    }
    if (kind !== 'decimal') return { numbers: { kind: kind ?? 'integer', values } }
    const places = fractionDigits(values)
    return { numbers: places === null ? null : { kind, values, places } }
  }
}

/** The expression under which positions are cached. */
const POSITIONS: AlgebraExpression = { type: 'variable', name: 'positions' }

/** Null where a result may be NaN, or an integer beyond 2^53, or a decimal of more than 15 digits, as quotients are. */
function computed(
  operator: '+' | '-' | '*' | '/',
  left: NumberVector,
  right: NumberVector,
): NumberVector | null {
  const kind = left.kind === 'integer' && right.kind === 'integer' ? 'integer' : 'double'
  const areDoubles = left.kind === 'double' || right.kind === 'double'
  if (!areDoubles && operator === '/') return null
  const bound = eitherBound(left, right)
  if (!areDoubles && kind === 'double')
    return operator === '/' ? null : computedDecimals(operator, left, right, bound)
  const values = scratchFloat64(left.values.length)
  COMPUTE[operator](left.values, right.values, values)
  if (kind === 'integer')
    return areSafeIntegers(values, bound) ? { type: 'numbers', kind, values, bound } : null
  return areNumbers(values, bound) ? { type: 'numbers', kind, values, bound } : null
}

/** False where a number that should be bound is NaN. */
function areNumbers(values: Float64Array, bound: Uint8Array | null): boolean {
  for (let at = 0; at < values.length; at++)
    if (Number.isNaN(values[at] as number) && (bound === null || bound[at] === 1)) return false
  return true
}

/** False where a number is beyond ±2^53. Removes the sign of negative zeros, because integers have none. */
function areSafeIntegers(values: Float64Array, bound: Uint8Array | null): boolean {
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER) && (bound === null || bound[at] === 1)) return false
    if (value === 0) values[at] = 0
  }
  return true
}
