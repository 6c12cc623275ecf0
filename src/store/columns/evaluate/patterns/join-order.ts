import {
  type AlgebraExpression,
  type Node,
  type TriplePatternNode,
  variablesOfExpression,
} from '../../../../sparql/algebra.ts'
import type { GraphColumns } from '../../graph.ts'
import type { PatternGroup } from './equality-join.ts'
import { componentsOf } from './graph-components.ts'
import { type PathPattern, variablesIn, variablesOfPattern } from './operation-parts.ts'
import { estimatedSubjects } from './scan.ts'
import { type ColumnLink, linkOf } from './star.ts'

/** A step of the evaluation of triple patterns: its new bindings, and the conditions that can be tested afterwards. */
export type BlockStep = { readonly filters: readonly AlgebraExpression[] } & (
  | {
      readonly type: 'star'
      readonly subject: Node
      readonly links: readonly ColumnLink[]
      /** How its subjects are found: by a scan of all, from their variable or constant, or from a known value of a link. */
      readonly via: 'scan' | 'subject' | ColumnLink
    }
  | { readonly type: 'open'; readonly pattern: TriplePatternNode }
  | { readonly type: 'path'; readonly pattern: PathPattern }
  | { readonly type: 'filter' }
)

type Item =
  | { readonly type: 'star'; readonly subject: Node; readonly links: readonly ColumnLink[] }
  | { readonly type: 'open'; readonly pattern: TriplePatternNode }
  | { readonly type: 'path'; readonly pattern: PathPattern }

/** Cost of following a link for one row, relative to scanning one subject. */
export const LOOK_UP = 4

/**
 * Orders the triple patterns of a group: those about one subject are one step, and of the steps that are connected with bound
 * variables the next is the one that leaves the fewest solutions, by the exact counts of the columns.
 */
export function planBlock(
  group: Omit<PatternGroup, 'needed'>,
  known: ReadonlySet<string>,
  graphs: readonly GraphColumns[],
): readonly BlockStep[] {
  return planned(group, known, graphs).steps
}

/** The estimated number of solutions of triple patterns, for one solution of the variables that are known. */
export function estimatedSolutions(
  patterns: readonly TriplePatternNode[],
  known: ReadonlySet<string>,
  graphs: readonly GraphColumns[],
): number {
  return planned({ patterns, paths: [], filters: [] }, known, graphs).rows
}

function planned(
  { patterns, paths, filters }: Omit<PatternGroup, 'needed'>,
  known: ReadonlySet<string>,
  graphs: readonly GraphColumns[],
): { readonly steps: readonly BlockStep[]; readonly rows: number } {
  const items: Item[] = [
    ...stars(patterns),
    ...patterns
      .filter(pattern => pattern.predicate.type !== 'iri')
      .map(pattern => ({ type: 'open', pattern }) as const),
    ...paths.map(pattern => ({ type: 'path', pattern }) as const),
  ]
  const bound = new Set(known)
  const waiting = new Map(filters.map(condition => [condition, variablesOfExpression(condition)]))
  const ready = (): readonly AlgebraExpression[] => {
    const found = [...waiting].filter(([, names]) => [...names].every(name => bound.has(name)))
    for (const [condition] of found) waiting.delete(condition)
    return found.map(([condition]) => condition)
  }
  const steps: BlockStep[] = []
  const constantFilters = ready()
  if (constantFilters.length > 0) steps.push({ type: 'filter', filters: constantFilters })
  let rows = 1
  while (items.length > 0) {
    const costs = items.map(item => estimate(item, bound, rows, [...waiting.keys()], graphs))
    const best = costs.reduce((least, cost, at) => (cost < (costs[least] as number) ? at : least), 0)
    const [item] = items.splice(best, 1) as [Item]
    const step = stepOf(item, bound, graphs)
    rows = Math.max(1, costs[best] as number)
    for (const name of variablesOfItem(item)) bound.add(name)
    steps.push({ ...step, filters: ready() })
  }
  // A condition on variables that nothing binds is an error, unless it tests whether they are bound.
  if (waiting.size > 0) steps.push({ type: 'filter', filters: [...waiting.keys()] })
  return { steps, rows }
}

function stars(patterns: readonly TriplePatternNode[]): readonly Extract<Item, { type: 'star' }>[] {
  const bySubject = new Map<string, { subject: Node; links: ColumnLink[] }>()
  for (const pattern of patterns) {
    const link = linkOf(pattern)
    if (link === null) continue
    const key = `${pattern.subject.type} ${pattern.subject.type === 'variable' ? pattern.subject.name : pattern.subject.value}`
    const star = bySubject.get(key) ?? { subject: pattern.subject, links: [] }
    if (!star.links.some(known => isSameLink(known, link))) star.links.push(link)
    bySubject.set(key, star)
  }
  return [...bySubject.values()].map(star => ({ type: 'star', ...star }))
}

function isSameLink(left: ColumnLink, right: ColumnLink): boolean {
  return left.predicate === right.predicate && JSON.stringify(left.object) === JSON.stringify(right.object)
}

function isKnown(node: Node, bound: ReadonlySet<string>): boolean {
  return node.type !== 'variable' || bound.has(node.name)
}

function stepOf(item: Item, bound: ReadonlySet<string>, graphs: readonly GraphColumns[]) {
  if (item.type !== 'star') return item
  return { ...item, via: accessOf(item, bound, graphs) }
}

function accessOf(
  { subject, links }: Extract<Item, { type: 'star' }>,
  bound: ReadonlySet<string>,
  graphs: readonly GraphColumns[],
): 'scan' | 'subject' | ColumnLink {
  if (isKnown(subject, bound)) return 'subject'
  const joined = links.filter(({ object }) => object.type === 'variable' && bound.has(object.name))
  const [first, ...others] = joined
  if (first === undefined) return 'scan'
  return others.reduce((best, link) => (fanOut(link, graphs) < fanOut(best, graphs) ? link : best), first)
}

/** Average number of subjects per value of a link. */
function fanOut({ predicate }: ColumnLink, graphs: readonly GraphColumns[]): number {
  let [triples, values] = [0, 0]
  for (const graph of graphs) {
    const column = graph.column(predicate)
    triples += column?.header.triples ?? 0
    values += column?.dictionary.count ?? 0
  }
  return triples / Math.max(1, values)
}

/** Estimated number of solutions after a step. */
function estimate(
  item: Item,
  bound: ReadonlySet<string>,
  rows: number,
  filters: readonly AlgebraExpression[],
  graphs: readonly GraphColumns[],
): number {
  switch (item.type) {
    case 'star': {
      const access = accessOf(item, bound, graphs)
      const components = componentsOf(item.links, graphs)
      const subjects = components.reduce(
        (sum, component) =>
          sum +
          (component.length === 1
            ? estimatedSubjects(component[0] as GraphColumns, item.links, filters)
            : Math.max(
                ...component.map(graph =>
                  estimatedSubjects(
                    graph,
                    item.links.filter(link => graph.column(link.predicate) !== undefined),
                    filters,
                  ),
                ),
              )),
        0,
      )
      const growth = item.links.reduce((product, link) => product * valuesPerSubject(link, bound, graphs), 1)
      if (access === 'scan') return Math.max(1, rows) * subjects * growth * (rows > 1 ? LOOK_UP : 1)
      const all = components.flat().reduce((sum, graph) => sum + graph.subjects, 0)
      const part = all === 0 ? 0 : Math.min(1, subjects / all)
      if (access === 'subject') return rows * growth * Math.max(part, 1e-6)
      return rows * fanOut(access, graphs) * growth * Math.max(part, 1e-6)
    }
    case 'open': {
      const { subject, object } = item.pattern
      const triples = graphs.reduce((sum, graph) => sum + graph.triples, 0)
      if (isKnown(subject, bound)) return rows * 20
      return isKnown(object, bound) ? rows * 1000 : rows * triples
    }
    case 'path': {
      const { subject, object } = item.pattern
      const ends = Number(isKnown(subject, bound)) + Number(isKnown(object, bound))
      const triples = graphs.reduce((sum, graph) => sum + graph.triples, 0)
      return ends === 2 ? rows * 2 : ends === 1 ? rows * 100 : rows * Math.max(1, triples)
    }
  }
}

function valuesPerSubject(
  { predicate, object }: ColumnLink,
  bound: ReadonlySet<string>,
  graphs: readonly GraphColumns[],
): number {
  if (isKnown(object, bound)) return 1
  let [triples, rows] = [0, 0]
  for (const graph of graphs) {
    const column = graph.column(predicate)
    triples += column?.header.triples ?? 0
    rows += column?.header.rows ?? 0
  }
  return rows === 0 ? 1 : Math.max(1, triples / rows)
}

function variablesOfItem(item: Item): readonly string[] {
  if (item.type === 'open') return variablesOfPattern(item.pattern)
  return variablesIn(
    item.type === 'path'
      ? [item.pattern.subject, item.pattern.object]
      : [item.subject, ...item.links.map(({ object }) => object)],
  )
}
