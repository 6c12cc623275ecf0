import { isOrdered } from '../../../model/comparison.ts'
import { XSD } from '../../../rdf/vocab.ts'
import { type Formula, isConstantExpression } from '../../../sparql/operation.ts'
import type { Batch } from './batch.ts'
import { ColumnDomain, type Domain, PositionDomain } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import { columnCall } from './functions/extensions.ts'
import { PoolDomain } from './pool-domain.ts'
import { isComparison } from './ranges.ts'
import { type ScalarCompiler, subjectCall } from './scalar.ts'
import { type TermValue, termValue } from './value.ts'
import type { NumberVector, Vector } from './vector.ts'

/** Numbers by the numbers of the terms of a domain; NaN for what is none. */
interface NumberTable {
  readonly kind: 'integer' | 'double'
  readonly values: Float64Array
}

/** Domains with more values than this many times the rows are not worked out as a whole. */
const TABLE_FACTOR = 4

/**
 * Evaluates arithmetic over whole columns: doubles, and integers as long as they are within ±2^53. In its vectors NaN is
 * no value: what can give NaN as a value is left to the functions of rows.
 */
export class NumberKernels {
  private readonly evaluation: Evaluation
  private readonly scalars: ScalarCompiler

  constructor(evaluation: Evaluation, scalars: ScalarCompiler) {
    this.evaluation = evaluation
    this.scalars = scalars
  }

  /** The numbers of an expression; null where it is not of this kind. */
  vector(formula: Formula, batch: Batch): NumberVector | null {
    if (isConstantExpression(formula)) return constantNumbers(termValue(formula), batch.size)
    if (formula.type === 'variable') {
      const vector = batch.get(formula.name)
      return vector === undefined ? null : this.ofVector(vector, batch.size)
    }
    return this.operation(formula, batch) ?? this.called(formula, batch) ?? this.ofSoleColumn(formula, batch)
  }

  private ofVector(vector: Vector, size: number): NumberVector | null {
    switch (vector.type) {
      case 'numbers':
        return vector.kind === 'float' || vector.values.some(Number.isNaN) ? null : vector
      case 'constant':
        return vector.id === 0 ? null : constantNumbers(vector.domain.value(vector.id), size)
      case 'ids': {
        const table = this.tableOf(vector.domain)
        return table === null ? null : lookedUp(table, vector.ids)
      }
      default:
        return vector satisfies never
    }
  }

  private tableOf(domain: Domain): NumberTable | null {
    if (domain instanceof PositionDomain)
      return this.evaluation.memo('numbers', POSITIONS, domain, () => {
        const values = new Float64Array(domain.size + 1)
        for (let id = 0; id <= domain.size; id++) values[id] = id === 0 ? Number.NaN : id - 1
        return { kind: 'integer', values }
      })
    if (!(domain instanceof ColumnDomain)) return null
    const part = domain.dictionary.onlyPart()
    if (part?.kind !== 'number' || !part.exact || part.datatypes.length > 1) return null
    const [datatype] = part.datatypes
    if ((datatype !== XSD.integer && datatype !== XSD.double) || Number.isNaN(part.values[part.count - 1]))
      return null
    return this.evaluation.memo('numbers', NUMBERS, domain, () => {
      const values = new Float64Array(part.count + 1)
      values[0] = Number.NaN
      values.set(part.values, 1)
      return { kind: datatype === XSD.integer ? 'integer' : 'double', values }
    })
  }

  private operation(formula: Formula, batch: Batch): NumberVector | null {
    if (formula.type === 'binary') {
      const { operator } = formula
      if (operator !== '+' && operator !== '-' && operator !== '*' && operator !== '/') return null
      const left = this.vector(formula.left, batch)
      const right = left === null ? null : this.vector(formula.right, batch)
      return left === null || right === null ? null : computed(operator, left, right)
    }
    if (formula.type === 'function' && formula.iri === XSD.double && formula.arguments.length === 1) {
      const operand = this.vector(formula.arguments[0] as Formula, batch)
      return operand === null ? null : { ...operand, kind: 'double' }
    }
    return null
  }

  /** What a function gives for the moments or the positions of a column, or for the subjects of a graph. */
  private called(formula: Formula, batch: Batch): NumberVector | null {
    const call = columnCall(formula)
    if (call === null) return null
    const { called, constants } = call
    const subjects = subjectCall(formula, batch)
    if (subjects !== null && called.ofSubjects !== undefined) {
      const { domain, ids } = subjects
      const found = this.evaluation.memo(
        'subjects',
        formula,
        domain,
        () => called.ofSubjects?.(constants, domain.graph) ?? null,
      )
      return found?.type === 'integers' ? lookedUp({ kind: 'integer', values: found.values }, ids) : null
    }
    const vector = batch.get(call.variable)
    if (vector?.type !== 'ids' || !(vector.domain instanceof ColumnDomain)) return null
    const { domain, ids } = vector
    const part = domain.dictionary.onlyPart()
    if (part?.kind === 'point' && called.isTest !== true) {
      const compute = called.overPoints?.(constants)
      if (compute === undefined || compute === null) return null
      const { longitudes, latitudes, first } = part
      const values = new Float64Array(ids.length)
      for (let row = 0; row < ids.length; row++) {
        const place = (ids[row] as number) - first
        values[row] =
          place < 0 ? Number.NaN : compute(longitudes[place] as number, latitudes[place] as number)
      }
      return {
        type: 'numbers',
        kind: 'double',
        values,
        bound: values.some(Number.isNaN) ? boundOf(values) : null,
      }
    }
    if (part?.kind !== 'moment' || part.forms !== null) return null
    const compute = called.overMoments?.(constants, part.datatypes[0] === XSD.date)
    if (compute === undefined || compute === null) return null
    const table = this.evaluation.memo('moments', formula, domain, (): NumberTable => {
      const values = new Float64Array(part.count + 1).fill(UNKNOWN)
      values[0] = Number.NaN
      return { kind: 'integer', values }
    })
    const values = new Float64Array(ids.length)
    for (let row = 0; row < ids.length; row++) {
      const id = ids[row] as number
      let value = table.values[id] as number
      if (value === UNKNOWN) {
        value = compute(part.values[id - part.first] as number)
        table.values[id] = value
      }
      values[row] = value
    }
    return {
      type: 'numbers',
      kind: 'integer',
      values,
      bound: values.some(Number.isNaN) ? boundOf(values) : null,
    }
  }

  /** Any expression of one column whose values are integers or doubles, worked out once for each value. */
  private ofSoleColumn(formula: Formula, batch: Batch): NumberVector | null {
    const sole = this.scalars.soleVector(formula, batch)
    // The pool of a query grows from batch to batch: no table of it is whole.
    if (sole === null || sole.domain instanceof PoolDomain) return null
    if (sole.domain.size > TABLE_FACTOR * batch.size + 64) return null
    const { domain, ids } = sole
    const table = this.evaluation.memo('numbers', formula, domain, () => this.workOut(formula, domain))
    return table.numbers === null ? null : lookedUp(table.numbers, ids)
  }

  private workOut(formula: Formula, domain: Domain): { readonly numbers: NumberTable | null } {
    const name = soleName(formula)
    if (name === null) return { numbers: null }
    const ids = new Uint32Array(domain.size + 1)
    for (let id = 0; id <= domain.size; id++) ids[id] = id
    const all = new Map<string, Vector>([[name, { type: 'ids', domain, ids }]])
    const scalar = this.scalars.over(formula, all, ids.length)
    const values = new Float64Array(domain.size + 1).fill(Number.NaN)
    let kind: 'integer' | 'double' | null = null
    for (let id = 0; id <= domain.size; id++) {
      const value = scalar(id)
      if (id % 256 === 0) this.evaluation.check()
      if (value === null) continue
      if (value.type !== 'number' || value.exact !== undefined || Number.isNaN(value.value))
        return { numbers: null }
      if (value.kind !== 'integer' && value.kind !== 'double') return { numbers: null }
      if (kind !== null && kind !== value.kind) return { numbers: null }
      kind = value.kind
      values[id] = value.value
    }
    return { numbers: { kind: kind ?? 'integer', values } }
  }
}

/** A value that is not worked out yet. */
const UNKNOWN = Number.MAX_VALUE

/** Names under which tables that belong to no expression are remembered. */
const NUMBERS: Formula = { type: 'variable', name: 'numbers of a column' }
const POSITIONS: Formula = { type: 'variable', name: 'positions' }

function soleName(formula: Formula): string | null {
  switch (formula.type) {
    case 'variable':
      return formula.name
    case 'binary':
      return soleName(formula.left) ?? soleName(formula.right)
    case 'not':
    case 'minus':
    case 'plus':
      return soleName(formula.operand)
    case 'builtin':
    case 'function':
      for (const argument of formula.arguments) {
        const name = soleName(argument)
        if (name !== null) return name
      }
      return null
    case 'in':
      return soleName(formula.operand)
    default:
      return null
  }
}

function constantNumbers(value: TermValue, size: number): NumberVector | null {
  if (value.type !== 'number' || value.exact !== undefined || Number.isNaN(value.value)) return null
  if (value.kind !== 'integer' && value.kind !== 'double') return null
  return { type: 'numbers', kind: value.kind, values: new Float64Array(size).fill(value.value), bound: null }
}

function lookedUp({ kind, values }: NumberTable, ids: Uint32Array): NumberVector {
  const found = new Float64Array(ids.length)
  let isWhole = true
  for (let at = 0; at < ids.length; at++) {
    const value = values[ids[at] as number] as number
    found[at] = value
    if (Number.isNaN(value)) isWhole = false
  }
  return { type: 'numbers', kind, values: found, bound: isWhole ? null : boundOf(found) }
}

function boundOf(values: Float64Array): Uint8Array {
  const bound = new Uint8Array(values.length)
  for (let at = 0; at < values.length; at++) bound[at] = Number.isNaN(values[at]) ? 0 : 1
  return bound
}

/** Null where a result may be NaN, or an integer beyond 2^53, or a decimal. */
function computed(
  operator: '+' | '-' | '*' | '/',
  left: NumberVector,
  right: NumberVector,
): NumberVector | null {
  const kind = left.kind === 'integer' && right.kind === 'integer' ? 'integer' : 'double'
  if (kind === 'integer' && operator === '/') return null
  const [a, b] = [left.values, right.values]
  const values = new Float64Array(a.length)
  switch (operator) {
    case '+':
      for (let at = 0; at < a.length; at++) values[at] = (a[at] as number) + (b[at] as number)
      break
    case '-':
      for (let at = 0; at < a.length; at++) values[at] = (a[at] as number) - (b[at] as number)
      break
    case '*':
      for (let at = 0; at < a.length; at++) values[at] = (a[at] as number) * (b[at] as number)
      break
    case '/':
      for (let at = 0; at < a.length; at++) values[at] = (a[at] as number) / (b[at] as number)
      break
    default:
      operator satisfies never
  }
  const bound = left.bound === null && right.bound === null ? null : both(left.bound, right.bound, a.length)
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    const isPresent = bound === null || bound[at] === 1
    if (
      isPresent &&
      (Number.isNaN(value) || (kind === 'integer' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)))
    )
      return null
    // The integer zero has no sign.
    if (kind === 'integer' && value === 0) values[at] = 0
  }
  return { type: 'numbers', kind, values, bound }
}

function both(left: Uint8Array | null, right: Uint8Array | null, size: number): Uint8Array {
  const bound = new Uint8Array(size)
  for (let at = 0; at < size; at++)
    bound[at] = (left === null || left[at] === 1) && (right === null || right[at] === 1) ? 1 : 0
  return bound
}

/** Compares two numeric expressions; null where they are not of this kind. */
export function comparedNumbers(
  { operator, left, right }: Extract<Formula, { type: 'binary' }>,
  batch: Batch,
  kernels: NumberKernels,
): ((rows: Uint32Array, required: boolean) => Uint32Array) | null {
  if (!isComparison(operator)) return null
  const a = kernels.vector(left, batch)
  const b = a === null ? null : kernels.vector(right, batch)
  if (a === null || b === null) return null
  return (rows, required) => {
    const selected = new Uint32Array(rows.length)
    const [x, y] = [a.values, b.values]
    let count = 0
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as number
      const difference = (x[row] as number) - (y[row] as number)
      const [p, q] = [x[row] as number, y[row] as number]
      // NaN is no value: neither true nor false. Equal infinities have no difference.
      if (Number.isNaN(difference) && !(p === q)) continue
      const order = p < q ? -1 : p > q ? 1 : 0
      if (isOrdered(operator, order) === required) selected[count++] = row
    }
    return selected.subarray(0, count)
  }
}
