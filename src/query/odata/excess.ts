import { Fault } from '../../errors/errors.ts'
import type { Condition, Scalar } from '../plan.ts'

/** Conditions of one filter that are left when equal ones are merged; and of them, such as each cost a pass of their own. */
const MAX_CONDITIONS = 150
const MAX_PASSES = 20

/** Refuses filters that would keep a worker of the store for long. */
export function refuseExcessOfOData(filter: Condition | null): void {
  if (filter === null) return
  const sizes = sizeOf(filter, new Map())
  const [found, kind, max] =
    sizes.leaves > MAX_CONDITIONS
      ? [sizes.leaves, 'conditions', MAX_CONDITIONS]
      : [sizes.passes, 'computed or spatial conditions', MAX_PASSES]
  if (found > max)
    throw new Fault('ODataError', {
      reason: `The filter has ${found} ${kind}, of which at most ${max} are served.`,
    })
}

/** Refuses a value that conditions have made larger than any filter may be. */
export function refuseLarge(scalar: Scalar): void {
  const { leaves } = scalarSize(scalar, new Map())
  if (leaves > MAX_CONDITIONS)
    throw new Fault('ODataError', {
      reason: `An expression has ${leaves} conditions, of which at most ${MAX_CONDITIONS} are served.`,
    })
}

/** Conditions, and those that are computed or spatial; a condition that occurs in several places counts each time. */
interface Size {
  readonly leaves: number
  readonly passes: number
}

type Sizes = Map<Condition | Scalar, Size>

const NOTHING: Size = { leaves: 0, passes: 0 }

function sum(sizes: readonly Size[]): Size {
  return sizes.reduce(
    (total, size) => ({ leaves: total.leaves + size.leaves, passes: total.passes + size.passes }),
    NOTHING,
  )
}

/** Sizes are remembered, because parts that occur in several places are the same objects. */
function sizeOf(condition: Condition, known: Sizes): Size {
  const size = known.get(condition) ?? measured(condition, known)
  known.set(condition, size)
  return size
}

function measured(condition: Condition, known: Sizes): Size {
  switch (condition.type) {
    case 'and':
    case 'or':
      return sum(condition.operands.map(operand => sizeOf(operand, known)))
    case 'not':
      return sizeOf(condition.operand, known)
    case 'some':
      return sum([{ leaves: 0, passes: 1 }, sizeOf(condition.condition, known)])
    case 'relation':
      return sum([
        { leaves: 1, passes: 1 },
        scalarSize(condition.left, known),
        scalarSize(condition.right, known),
      ])
    case 'spatial':
    case 'near':
      return { leaves: 1, passes: 1 }
    default:
      return { leaves: 1, passes: 0 }
  }
}

function scalarSize(scalar: Scalar, known: Sizes): Size {
  const size = known.get(scalar) ?? measuredScalar(scalar, known)
  known.set(scalar, size)
  return size
}

function measuredScalar(scalar: Scalar, known: Sizes): Size {
  switch (scalar.type) {
    case 'valueCount':
      return scalar.where === undefined
        ? NOTHING
        : sum([{ leaves: 1, passes: 1 }, sizeOf(scalar.where.condition, known)])
    case 'choice':
      return sum(
        scalar.branches.flatMap(({ when, value }) => [sizeOf(when, known), scalarSize(value, known)]),
      )
    case 'truth':
      return sum([sizeOf(scalar.holds, known), sizeOf(scalar.fails, known)])
    case 'function':
      return sum(scalar.arguments.map(argument => scalarSize(argument, known)))
    case 'arithmetic':
      return sum([scalarSize(scalar.left, known), scalarSize(scalar.right, known)])
    case 'length':
    case 'lower':
    case 'datePart':
      return scalarSize(scalar.operand, known)
    default:
      return NOTHING
  }
}
