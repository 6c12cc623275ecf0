import { type ComparisonOperator, isOrdered } from '../../../../model/comparison.ts'
import { memoised } from '../../../../model/memoised.ts'
import {
  type AlgebraExpression,
  type ExpressionOf,
  isConstantExpression,
  variablesOfExpression,
} from '../../../../sparql/algebra.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import { NotInColumns } from '../evaluation-limits.ts'
import { arithmeticFunction, negatedValue } from '../functions/arithmetic.ts'
import { BUILTINS, isStable } from '../functions/builtins.ts'
import { CASTS } from '../functions/casts.ts'
import { columnCall, extensionFunction } from '../functions/extensions.ts'
import { Batch } from '../vectors/batch.ts'
import { SubjectDomain } from '../vectors/domain.ts'
import { outlivingReuse } from '../vectors/scratch.ts'
import { equalityKey, orderOf, valuesEqual } from '../vectors/term-order.ts'
import { FALSE, integerTerm, type TermValue, TRUE, termValue, truth } from '../vectors/value.ts'
import { isBound, type Vector, vectorValueAt } from '../vectors/vector.ts'
import { effectiveBoolean } from './truths.ts'

/** The value of an expression at a row of a batch; null is an error or unbound. */
export type TermScalar = (row: number) => TermValue | null

/** Returns for each row of a batch whether a group has a solution; implemented by the evaluator. */
export type ExistsMask = (expression: ExpressionOf<'exists'>, batch: Batch) => Uint8Array

/** Domains with more values than this many times the rows of a batch get no table. */
const TABLE_FACTOR = 4

/** Compiles expressions to functions over the rows of batches. */
export class ScalarCompiler {
  private readonly evaluation: Evaluation
  readonly exists: ExistsMask
  /** False while parts of an expression are compiled that is evaluated only once per value. */
  private hasTables = true

  constructor(evaluation: Evaluation, exists: ExistsMask) {
    this.evaluation = evaluation
    this.exists = (expression, batch) => outlivingReuse(() => exists(expression, batch))
  }

  /** Compiles an expression; where it only reads one column, it is evaluated once per value. */
  compile(expression: AlgebraExpression, batch: Batch): TermScalar {
    if (expression.type === 'variable' || isConstantExpression(expression))
      return this.direct(expression, batch)
    if (readsConstants(expression, batch)) return sameForAll(this.direct(expression, batch))
    const vector = this.hasTables ? this.soleVector(expression, batch) : null
    if (vector === null) return this.direct(expression, batch)
    const { domain, ids } = vector
    if (domain.size > TABLE_FACTOR * batch.size + 64) return this.direct(expression, batch)
    const table = this.evaluation.memo(
      'values',
      expression,
      domain,
      () => new Array<TermValue | null | undefined>(domain.size + 1),
    )
    const direct = this.once(expression, batch)
    return row => {
      const id = ids[row] as number
      const known = table[id]
      if (known !== undefined) return known
      const value = direct(row)
      table[id] = value
      return value
    }
  }

  /** Compiles an expression for a caller that evaluates it once per value: no results of its parts are cached. */
  once(expression: AlgebraExpression, batch: Batch): TermScalar {
    const { hasTables } = this
    this.hasTables = false
    try {
      return this.direct(expression, batch)
    } finally {
      this.hasTables = hasTables
    }
  }

  /** Compiles an expression over given vectors. */
  over(expression: AlgebraExpression, vectors: ReadonlyMap<string, Vector>, size: number): TermScalar {
    return this.direct(expression, new Batch(size, vectors))
  }

  /** The values of the single variable of a stable expression, where they are those of a domain. */
  soleVector(expression: AlgebraExpression, batch: Batch): Extract<Vector, { type: 'ids' }> | null {
    const name = this.soleVariable(expression)
    const vector = name === null ? undefined : batch.get(name)
    return vector?.type === 'ids' ? vector : null
  }

  private readonly blankLabels = new WeakMap<object, Map<string, TermValue>>()
  private readonly soleVariables = new WeakMap<AlgebraExpression, { readonly name: string | null }>()

  /** The single variable of a stable expression; null for any other. */
  soleVariable(expression: AlgebraExpression): string | null {
    return memoised(this.soleVariables, expression, () => {
      const [name, ...others] = variablesOfExpression(expression)
      return { name: name !== undefined && others.length === 0 && isStable(expression) ? name : null }
    }).name
  }

  private direct(expression: AlgebraExpression, batch: Batch): TermScalar {
    switch (expression.type) {
      case 'iri':
      case 'literal':
      case 'blank':
      case 'triple': {
        const value = termValue(expression)
        return () => value
      }
      case 'variable': {
        const vector = batch.get(expression.name)
        return vector === undefined ? () => null : row => vectorValueAt(vector, row)
      }
      case 'binary':
        return this.binary(expression, batch)
      case 'not':
        return this.mapped(expression.operand, batch, value => {
          const holds = effectiveBoolean(value)
          return holds === null ? null : truth(!holds)
        })
      case 'minus':
        return this.mapped(expression.operand, batch, negatedValue)
      case 'plus':
        return this.mapped(expression.operand, batch, value =>
          value.type === 'number' || value.type === 'duration' ? value : null,
        )
      case 'builtin':
        return this.builtin(expression, batch)
      case 'function':
        return this.named(expression, batch)
      case 'exists': {
        const mask = this.exists(expression, batch)
        return row => truth((mask[row] === 1) !== expression.negated)
      }
      case 'in':
        return this.membership(expression, batch)
    }
  }

  /** A function of the values of an expression. */
  private mapped(
    expression: AlgebraExpression,
    batch: Batch,
    map: (value: TermValue) => TermValue | null,
  ): TermScalar {
    const operand = this.compile(expression, batch)
    return row => {
      const value = operand(row)
      return value === null ? null : map(value)
    }
  }

  private binary(expression: ExpressionOf<'binary'>, batch: Batch): TermScalar {
    const { operator } = expression
    const left = this.compile(expression.left, batch)
    const right = this.compile(expression.right, batch)
    switch (operator) {
      case '&&':
      case '||': {
        // One operand may be an error where the other one decides.
        const decisive = operator === '||'
        return row => {
          const a = effectiveBoolean(left(row))
          if (a === decisive) return truth(decisive)
          const b = effectiveBoolean(right(row))
          if (b === decisive) return truth(decisive)
          return a === null || b === null ? null : truth(!decisive)
        }
      }
      case '+':
      case '-':
      case '*':
      case '/':
        return row => {
          const a = left(row)
          const b = a === null ? null : right(row)
          return a === null || b === null ? null : arithmeticFunction(operator, a, b)
        }
      default:
        return row => {
          const a = left(row)
          const b = a === null ? null : right(row)
          return a === null || b === null ? null : comparedScalars(operator, a, b)
        }
    }
  }

  private builtin(expression: ExpressionOf<'builtin'>, batch: Batch): TermScalar {
    const args = expression.arguments.map(argument => this.compile(argument, batch))
    switch (expression.name) {
      case 'BOUND': {
        const [operand] = expression.arguments
        const vector = operand?.type === 'variable' ? batch.get(operand.name) : undefined
        return vector === undefined ? () => FALSE : row => truth(isBound(vector, row))
      }
      case 'COALESCE':
        return row => {
          for (const arg of args) {
            const value = arg(row)
            if (value !== null) return value
          }
          return null
        }
      case 'IF': {
        const [test, then, otherwise] = args
        return row => {
          const chosen = effectiveBoolean(test?.(row) ?? null)
          if (chosen === null) return null
          return (chosen ? then?.(row) : otherwise?.(row)) ?? null
        }
      }
      case 'BNODE':
        return this.blankNode(args[0], batch)
      default: {
        const call = BUILTINS.get(expression.name)
        if (call === undefined) throw new NotInColumns(`the function ${expression.name}`)
        const { evaluation } = this
        return withValues(args, values => call(evaluation.checkedFor(values), evaluation))
      }
    }
  }

  /** BNODE with a text returns one blank node for each solution and text (SPARQL 1.1 Query, section 17.4.2.9). */
  private blankNode(label: TermScalar | undefined, { origin }: Batch): TermScalar {
    const { evaluation } = this
    if (label === undefined) return () => ({ type: 'blank', value: evaluation.freshBlank() })
    const known = memoised(this.blankLabels, origin, () => new Map<string, TermValue>())
    return row => {
      const value = label(row)
      if (value?.type !== 'text' || value.language !== '') return null
      const key = `${row} ${value.value}`
      return memoised(known, key, () => ({ type: 'blank', value: evaluation.freshBlank() }))
    }
  }

  private named(expression: ExpressionOf<'function'>, batch: Batch): TermScalar {
    const cast = CASTS.get(expression.iri)
    if (cast !== undefined) {
      const [operand, ...others] = expression.arguments
      return operand === undefined || others.length > 0 ? () => null : this.mapped(operand, batch, cast)
    }
    const args = expression.arguments.map(argument => this.compile(argument, batch))
    const call = extensionFunction(expression.iri)
    // An unknown function is an error of the expression, not of the query (SPARQL 1.1 Query, section 17.6).
    if (call === null) return () => null
    const { evaluation } = this
    const overSubjects = this.ofSubjects(expression, batch)
    return overSubjects ?? withValues(args, values => call.apply(evaluation.checkedFor(values), evaluation))
  }

  /** A function of the subjects of a graph, which is computed as arrays. */
  private ofSubjects(expression: AlgebraExpression, batch: Batch): TermScalar | null {
    const found = subjectCall(expression, batch, this.evaluation)
    if (found === null) return null
    const { ids, graph, tests, values } = found
    if (tests !== null) return row => truth(tests[ids[row] as number] === 1)
    if (values === null) return () => null
    if (values.type === 'integers') return row => integerTerm(values.values[ids[row] as number] as number)
    const own = domainsOf(graph).of(values.column)
    return row => {
      const code = values.codes[ids[row] as number] as number
      return code === 0 ? null : own.value(code)
    }
  }

  private membership(expression: ExpressionOf<'in'>, batch: Batch): TermScalar {
    const operand = this.compile(expression.operand, batch)
    const { keys, others } = listedKeys(expression)
    const [all, further] = [expression.items, others].map(items =>
      items.map(item => this.compile(item, batch)),
    )
    const found = expression.negated ? FALSE : TRUE
    const missing = expression.negated ? TRUE : FALSE
    return row => {
      const value = operand(row)
      if (value === null) return null
      const key = equalityKey(value)
      if (key !== null && keys.has(key)) return found
      let hasError = false
      for (const item of (key === null ? all : further) ?? []) {
        const other = item(row)
        const equal = other === null ? null : valuesEqual(value, other)
        if (equal === true) return found
        hasError ||= equal === null
      }
      return hasError ? null : missing
    }
  }
}

/** The results of a function over the subjects of a graph; null for any other expression, and for other subjects. */
export function subjectCall(expression: AlgebraExpression, batch: Batch, evaluation: Evaluation) {
  const call = columnCall(expression)
  const { overSubjects, ofSubjects } = call?.called ?? {}
  if (call === null || (overSubjects === undefined && ofSubjects === undefined)) return null
  const vector = batch.get(call.variable)
  if (vector?.type !== 'ids' || !(vector.domain instanceof SubjectDomain)) return null
  const { ids, domain } = vector
  const { graph } = domain
  const { tests, values } = evaluation.memo('subjects', expression, domain, () => ({
    tests: overSubjects?.(call.constants, graph, evaluation) ?? null,
    values: ofSubjects?.(call.constants, graph) ?? null,
  }))
  return { ids, graph, tests, values }
}

/** A comparison of two values; null is an error. */
function comparedScalars(operator: ComparisonOperator, left: TermValue, right: TermValue): TermValue | null {
  if (operator === '=' || operator === '!=') {
    const equal = valuesEqual(left, right)
    return equal === null ? null : truth(equal === (operator === '='))
  }
  const order = orderOf(left, right)
  return order === null ? null : truth(isOrdered(operator, order))
}

/** True where an expression is the same for all rows of a batch. */
export function readsConstants(expression: AlgebraExpression, batch: Batch): boolean {
  if (!isStable(expression)) return false
  for (const name of variablesOfExpression(expression)) if (batch.get(name)?.type !== 'constant') return false
  return true
}

/** A function with the same value for all rows, computed for the first. */
function sameForAll(scalar: TermScalar): TermScalar {
  let known: TermValue | null | undefined
  return row => {
    if (known === undefined) known = scalar(row)
    return known
  }
}

function withValues(
  args: readonly TermScalar[],
  call: (values: readonly TermValue[]) => TermValue | null,
): TermScalar {
  const [first, second, ...others] = args
  if (first !== undefined && second !== undefined && others.length === 0)
    return row => {
      const left = first(row)
      const right = left === null ? null : second(row)
      return left === null || right === null ? null : call([left, right])
    }
  return row => {
    const values: TermValue[] = []
    for (const arg of args) {
      const value = arg(row)
      if (value === null) return null
      values.push(value)
    }
    return call(values)
  }
}

interface ListedKeys {
  readonly keys: ReadonlySet<string>
  /** The items without a key: a value with a key is compared with these alone. */
  readonly others: readonly AlgebraExpression[]
}

const LISTS = new WeakMap<ExpressionOf<'in'>, ListedKeys>()

/** The keys of the items of IN, by which values are found in long lists. */
export function listedKeys(expression: ExpressionOf<'in'>): ListedKeys {
  return memoised(LISTS, expression, () => {
    const keys = new Set<string>()
    const others = expression.items.filter(item => {
      const key = isConstantExpression(item) ? equalityKey(termValue(item)) : null
      if (key !== null) keys.add(key)
      return key === null
    })
    return { keys, others }
  })
}
