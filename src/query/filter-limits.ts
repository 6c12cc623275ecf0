import { Fault } from '../errors/errors.ts'
import { ODATA_ERROR } from '../language/odata/faults.ts'
import { type Condition, planParts, type Scalar } from './plan.ts'

/** Conditions of one filter after equal ones are merged; and the number of those that each cost a separate pass. */
const MAX_CONDITIONS = 150
const MAX_PASSES = 20

/** What in a filter would occupy a worker of the store for long, in words; null for nothing. */
export function excessOf(filter: Condition | null): string | null {
  if (filter === null) return null
  const { leaves, passes } = sizeOf(filter, new Map())
  if (leaves > MAX_CONDITIONS) return `${leaves} conditions, of which at most ${MAX_CONDITIONS} are served`
  return passes > MAX_PASSES
    ? `${passes} computed or spatial conditions, of which at most ${MAX_PASSES} are served`
    : null
}

/** Refuses filters of OData that would occupy a worker of the store for long. */
export function refuseExcessOfOData(filter: Condition | null): void {
  const excess = excessOf(filter)
  if (excess !== null) throw new Fault(ODATA_ERROR, { reason: `The filter has ${excess}.` })
}

/** Refuses a value with more conditions than a filter may have. */
export function refuseLarge(scalar: Scalar): void {
  const { leaves } = sizeOf(scalar, new Map())
  if (leaves > MAX_CONDITIONS)
    throw new Fault(ODATA_ERROR, {
      reason: `An expression has ${leaves} conditions, of which at most ${MAX_CONDITIONS} are served.`,
    })
}

const sizes = new WeakMap<Condition | Scalar, number>()

/** Values and conditions of which one is made; what occurs in several places counts each time. */
export function planSize(node: Condition | Scalar): number {
  const known = sizes.get(node)
  if (known !== undefined) return known
  const size = planParts(node).reduce((sum, part) => sum + planSize(part), 1)
  sizes.set(node, size)
  return size
}

/** Conditions, and those that are computed or spatial; a condition that occurs in several places counts each time. */
interface Size {
  readonly leaves: number
  readonly passes: number
}

/** Sizes are cached, because parts that occur in several places are the same objects. */
function sizeOf(node: Condition | Scalar, known: Map<Condition | Scalar, Size>): Size {
  const before = known.get(node)
  if (before !== undefined) return before
  let { leaves, passes } = ownSize(node)
  for (const part of planParts(node)) {
    const size = sizeOf(part, known)
    leaves += size.leaves
    passes += size.passes
  }
  known.set(node, { leaves, passes })
  return { leaves, passes }
}

/** The size of a condition or value without its parts. */
function ownSize(node: Condition | Scalar): Size {
  switch (node.type) {
    case 'some':
      return { leaves: 0, passes: 1 }
    case 'valueCount':
      return node.where === undefined ? { leaves: 0, passes: 0 } : { leaves: 1, passes: 1 }
    case 'relation':
    case 'spatial':
    case 'near':
      return { leaves: 1, passes: 1 }
    case 'compare':
    case 'between':
    case 'oneOf':
    case 'present':
    case 'words':
    case 'like':
    case 'startsWith':
    case 'always':
      return { leaves: 1, passes: 0 }
    default:
      return { leaves: 0, passes: 0 }
  }
}
