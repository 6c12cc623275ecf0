import type { AlgebraExpression, OperationOf } from '../../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluation.ts'
import { PositionDomain } from './domain.ts'
import { isScratchReused } from './scratch.ts'
import {
  type ConstantVector,
  copiedVector,
  gathered,
  gatherValues,
  type IdVector,
  idAt,
  isBound,
  sliceVector,
  type Vector,
} from './vector.ts'

/** A vector that is computed from the rows of another batch: lazily, and only for the rows that remain on first use. */
export class Deferred {
  readonly input: Batch
  readonly expression: AlgebraExpression
  readonly make: (input: Batch) => Vector

  constructor(input: Batch, expression: AlgebraExpression, make: (input: Batch) => Vector) {
    this.input = input
    this.expression = expression
    this.make = make
  }

  /** The same vector for another batch. */
  of(input: Batch): Deferred {
    return new Deferred(input, this.expression, this.make)
  }
}

/** Some rows of a vector of another batch, which are read on first use. */
class Selected {
  readonly of: Batch
  readonly name: string
  readonly rows: Uint32Array

  constructor(of: Batch, name: string, rows: Uint32Array) {
    this.of = of
    this.name = name
    this.rows = rows
  }

  make(): Vector {
    const vector = this.of.get(this.name) as Vector
    const known = gathers.get(vector)?.get(this.rows)
    if (known !== undefined) return known
    const made = gatherValues(vector, this.rows)
    if (!isScratchReused()) {
      const others = gathers.get(vector) ?? new WeakMap<Uint32Array, Vector>()
      gathers.set(vector, others.set(this.rows, made))
    }
    return made
  }
}

/** Cache of vectors of selected rows: a batch with more variables selects the same rows of the same vectors, and reads them once. */
const gathers = new WeakMap<Vector, WeakMap<Uint32Array, Vector>>()

type Source = Vector | (() => Vector) | Deferred | Selected

/** A selection of fewer than one in this many rows is composed with an earlier unread selection, instead of reading that first. */
const FEW_PART = 2

/** A sequence of solutions: a vector for each variable, each computed on first use. */
export class Batch {
  readonly size: number
  /** The same for batches with the same solutions and more or fewer variables. */
  readonly origin: object
  private readonly vectors: Map<string, Source>

  constructor(size: number, vectors: ReadonlyMap<string, Source>, origin?: object) {
    this.size = size
    this.vectors = new Map(vectors)
    this.origin = origin ?? this
  }

  get variables(): readonly string[] {
    return [...this.vectors.keys()]
  }

  has(variable: string): boolean {
    return this.vectors.has(variable)
  }

  /** The values of a variable; undefined where no row binds it. */
  get(variable: string): Vector | undefined {
    const source = this.vectors.get(variable)
    if (typeof source === 'function') return this.keep(variable, source())
    if (source instanceof Deferred) return this.keep(variable, source.make(source.input))
    if (source instanceof Selected) return this.keep(variable, source.make())
    return source
  }

  private keep(variable: string, vector: Vector): Vector {
    this.vectors.set(variable, vector)
    return vector
  }

  /** Reads all variables. False where one is deferred, because it should only be computed for the rows that remain. */
  read(): boolean {
    for (const [name, source] of this.vectors) {
      if (source instanceof Deferred) return false
      const vector = this.get(name)
      if (vector?.type === 'numbers') void vector.values
    }
    return true
  }

  /** A copy of the solutions in its own memory. */
  copied(): Batch {
    return new Batch(
      this.size,
      new Map(this.variables.map(name => [name, copiedVector(this.get(name) as Vector)])),
    )
  }

  /** A variable whose values have not been computed yet; null for any other. */
  deferred(variable: string): Deferred | null {
    const source = this.vectors.get(variable)
    return source instanceof Deferred ? source : null
  }

  /** The numbers of terms, and the selected rows of them that are the values of a variable, if these have not been read yet; else null. */
  unread(variable: string): { readonly vector: IdVector; readonly rows: Uint32Array } | null {
    const source = this.vectors.get(variable)
    if (!(source instanceof Selected)) return null
    const vector = source.of.get(source.name)
    return vector?.type === 'ids' ? { vector, rows: source.rows } : null
  }

  /** The same solutions with additional variables, or new values of variables of the same name. */
  with(more: Iterable<readonly [string, Source]>): Batch {
    const vectors = new Map<string, Source>()
    // Unread variables are read from this batch, so that they are computed once.
    for (const [name, source] of this.vectors)
      vectors.set(name, typeof source === 'function' ? () => this.get(name) as Vector : source)
    for (const [name, source] of more) vectors.set(name, source)
    return new Batch(this.size, vectors, this.origin)
  }

  /** The same solutions with only these variables. */
  only(variables: Iterable<string>): Batch {
    const vectors = new Map<string, Source>()
    for (const name of variables) {
      const source = this.vectors.get(name)
      // Read from this batch, so that it is computed once.
      if (source !== undefined)
        vectors.set(
          name,
          typeof source === 'function' || source instanceof Selected
            ? () => this.get(name) as Vector
            : source,
        )
    }
    return new Batch(this.size, vectors)
  }

  renamed(names: ReadonlyMap<string, string>): Batch {
    const vectors = new Map<string, Source>()
    for (const name of this.vectors.keys())
      vectors.set(names.get(name) ?? name, () => this.get(name) as Vector)
    return new Batch(this.size, vectors)
  }

  /** The given rows, in the given order; a row may occur several times. */
  rows(rows: Uint32Array): Batch {
    return this.partWith(rows, new Map())
  }

  private partWith(rows: Uint32Array, parts: BatchParts): Batch {
    const isFew = FEW_PART * rows.length < this.size
    const composed = new Map<Uint32Array, Uint32Array>()
    const rowsOf = (before: Uint32Array): Uint32Array => {
      const known = composed.get(before) ?? gathered(before, rows)
      composed.set(before, known)
      return known
    }
    const vectors = new Map<string, Source>()
    for (const [name, source] of this.vectors)
      vectors.set(
        name,
        source instanceof Deferred
          ? source.of(sharedPart(source.input, parts, input => input.partWith(rows, parts)))
          : source instanceof Selected && isFew
            ? new Selected(source.of, source.name, rowsOf(source.rows))
            : new Selected(this, name, rows),
      )
    return new Batch(rows.length, vectors)
  }

  /** The rows from one index to another. */
  slice(from: number, to: number): Batch {
    if (from === 0 && to >= this.size) return this
    return this.sliceWith(from, Math.min(to, this.size), new Map())
  }

  private sliceWith(from: number, end: number, parts: BatchParts): Batch {
    const vectors = new Map<string, Source>()
    for (const [name, source] of this.vectors)
      vectors.set(
        name,
        source instanceof Deferred
          ? source.of(sharedPart(source.input, parts, input => input.sliceWith(from, end, parts)))
          : () => sliceVector(this.get(name) as Vector, from, end),
      )
    return new Batch(end - from, vectors)
  }
}

/** The same rows of batches that variables of one batch, and those of their inputs, are worked out of. */
type BatchParts = Map<Batch, Batch>

/** Inputs of inputs are shared as well: otherwise each variable that is worked out of another doubles the work. */
function sharedPart(input: Batch, parts: BatchParts, part: (input: Batch) => Batch): Batch {
  const own = parts.get(input) ?? part(input)
  parts.set(input, own)
  return own
}

/** The single solution that binds nothing. */
export const UNIT_BATCH = new Batch(1, new Map())

let consecutive = new Uint32Array(0)

/** The numbers from one to below another, in shared memory that must not be written to. */
export function numbersFrom(first: number, end: number): Uint32Array {
  if (end > consecutive.length) {
    const { length } = consecutive
    consecutive = new Uint32Array(Math.max(end, length + Math.min(length, MAX_ADDED)))
    for (let number = 0; number < consecutive.length; number++) consecutive[number] = number
  }
  return consecutive.subarray(first, end)
}

/** Numbers by which they grow at most, if no more are requested. */
const MAX_ADDED = 2 ** 22

/** The numbers from 0 to below a size; see {@link numbersFrom}. */
export function allRows(size: number): Uint32Array {
  return numbersFrom(0, size)
}

export function isUnit(batch: Batch): boolean {
  return batch.size === 1 && batch.variables.length === 0
}

/** The numbers of rows as a vector. */
export function rowVector(size: number): Vector {
  const ids = new Uint32Array(size)
  for (let row = 0; row < size; row++) ids[row] = row + 1
  return { type: 'ids', domain: new PositionDomain(size), ids }
}

export function* rowsOf(vector: IdVector | ConstantVector, size: number): Generator<number> {
  for (let at = 0; at < size; at++) yield idAt(vector, at) - 1
}

/** Partitions solutions by which of some variables they bind; a partition lacks the variables that it does not bind. */
export function* partsByBinding(batch: Batch, names: readonly string[]): Generator<Batch> {
  if (batch.size === 0) return
  const [name, ...others] = names
  if (name === undefined) {
    yield batch
    return
  }
  const vector = batch.get(name) as Vector
  const rows = allRows(batch.size)
  const unbound = batch.rows(rows.filter(row => !isBound(vector, row)))
  yield* partsByBinding(batch.rows(rows.filter(row => isBound(vector, row))), others)
  yield* partsByBinding(unbound.only(unbound.variables.filter(each => each !== name)), others)
}

/** The solutions of VALUES. */
export function inlineData({ variables, rows }: OperationOf<'values'>, { pool }: Evaluation): Batch {
  const vectors = variables.map((name, at) => {
    const ids = Uint32Array.from(rows, row => (row[at] == null ? 0 : pool.intern(row[at])))
    return [name, { type: 'ids', domain: pool, ids } satisfies Vector] as const
  })
  // A variable without any value equals an absent one.
  return new Batch(
    rows.length,
    new Map(vectors.filter(([, { ids }]) => ids.some(id => id !== 0) || rows.length === 0)),
  )
}

/** An expression and its input batch; for a deferred variable those of its own expression. */
export function deferredSource(
  expression: AlgebraExpression,
  batch: Batch,
): { readonly expression: AlgebraExpression; readonly input: Batch } {
  const deferred = expression.type === 'variable' ? batch.deferred(expression.name) : null
  return deferred === null
    ? { expression, input: batch }
    : { expression: deferred.expression, input: deferred.input }
}
