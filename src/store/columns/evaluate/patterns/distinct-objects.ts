import type { Column } from '../../column.ts'
import type { Dictionary } from '../../dictionary.ts'
import type { DictionarySection } from '../../dictionary-parts.ts'
import type { GraphColumns } from '../../graph.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import type { Domain } from '../vectors/domain.ts'
import { PoolDomain } from '../vectors/pool-domain.ts'

/** A column and its graph. */
export interface ColumnOfGraph {
  readonly graph: GraphColumns
  readonly column: Column
}

type TakeIn = (domain: Domain, isTaken: Uint8Array, from: number, to: number) => void

/** The codes of a dictionary that are in use. */
interface UsedCodes extends ColumnOfGraph {
  readonly isUsed: Uint8Array
}

/** The number of distinct values of columns: values that can only be in one dictionary or graph are not compared with others. */
export function distinctObjects(columns: readonly ColumnOfGraph[], evaluation: Evaluation): number {
  const used = usedCodes(columns, evaluation)
  const [first, ...more] = used.values()
  if (first === undefined || more.length === 0) return first === undefined ? 0 : ones(first.isUsed)
  let bytes = 0
  const pool = new PoolDomain(more => {
    bytes += more
    evaluation.allocate(more)
  })
  /** Adds some terms of a domain to the pool. */
  const takeIn: TakeIn = (domain, isTaken, from, to) => {
    for (let id = from; id < to; id++) {
      if (isTaken[id] === 0) continue
      evaluation.advance(16)
      pool.internOf(domain, id)
    }
  }
  const own = distinctResources(used, takeIn) + distinctLiterals(used, takeIn)
  const count = own + pool.size
  evaluation.release(bytes)
  return count
}

/** A dictionary may also have values of other columns. */
function usedCodes(
  columns: readonly ColumnOfGraph[],
  evaluation: Evaluation,
): ReadonlyMap<Dictionary, UsedCodes> {
  const used = new Map<Dictionary, UsedCodes>()
  for (const { graph, column } of columns) {
    const { codes, dictionary } = column
    const isUsed = used.get(dictionary)?.isUsed ?? new Uint8Array(dictionary.count + 1)
    evaluation.advance(codes.length)
    for (let at = 0; at < codes.length; at++) isUsed[codes[at] as number] = 1
    isUsed[0] = 0
    used.set(dictionary, { graph, column, isUsed })
  }
  return used
}

/** Counts the resources of graphs that share none with others; those of other graphs are added to the pool. */
function distinctResources(used: ReadonlyMap<Dictionary, UsedCodes>, takeIn: TakeIn): number {
  const objects = new Map<GraphColumns, Uint8Array>()
  for (const [{ parts }, { graph, isUsed }] of used)
    for (const part of parts) {
      if (part.kind !== 'resource') continue
      const isObject = objects.get(graph) ?? new Uint8Array(graph.resources.count + 1)
      for (let at = 0; at < part.count; at++)
        if (isUsed[part.first + at] === 1) isObject[part.ids[at] as number] = 1
      objects.set(graph, isObject)
    }
  let count = 0
  for (const [graph, isObject] of objects) {
    const isShared = [...objects.keys()].some(
      other => other !== graph && other.resources.overlaps(graph.resources),
    )
    if (isShared) takeIn(domainsOf(graph).resources, isObject, 1, isObject.length)
    else count += ones(isObject)
  }
  return count
}

/** Counts literals in the same way, by part of a dictionary. */
function distinctLiterals(used: ReadonlyMap<Dictionary, UsedCodes>, takeIn: TakeIn): number {
  let count = 0
  for (const [dictionary, { graph, column, isUsed }] of used)
    for (const part of dictionary.parts) {
      if (part.kind === 'resource') continue
      const end = part.first + part.count
      const isShared = [...used.keys()].some(
        ({ parts }) => parts !== dictionary.parts && parts.some(other => canShare(part, other)),
      )
      if (isShared) takeIn(domainsOf(graph).of(column), isUsed, part.first, end)
      else count += ones(isUsed.subarray(part.first, end))
    }
  return count
}

/** False for parts that have no literal in common. */
function canShare(part: DictionarySection, other: DictionarySection): boolean {
  if (part.kind === 'other' || other.kind === 'other') return other.kind !== 'resource'
  if (part.kind !== other.kind) return false
  return (
    !('datatypes' in part && 'datatypes' in other) ||
    part.datatypes.some(each => other.datatypes.includes(each))
  )
}

/** The number of flags that are set. */
export function ones(flags: Uint8Array): number {
  let count = 0
  for (let at = 0; at < flags.length; at++) count += flags[at] as number
  return count
}
