import { memoised } from '../../../../model/memoised.ts'
import type { AlgebraExpression, Variable } from '../../../../sparql/algebra.ts'
import type { GraphColumns } from '../../graph.ts'
import { isStable } from '../functions/builtins.ts'

/** Cache of the rows that conditions on a scan select, for queries that are evaluated together and have the same conditions. */
export class SelectionCache {
  private readonly known = new Map<string, Uint32Array>()
  private readonly graphs = new Map<GraphColumns, number>()

  /** Tracks the successive conditions of a scan of some subjects of a graph. */
  scan(graph: GraphColumns, first: number, size: number) {
    const number = memoised(this.graphs, graph, () => this.graphs.size)
    /** The conditions so far; null where other steps have removed rows. */
    let path: string | null = `${number} ${first} ${size}`
    return {
      /** Called when other steps than conditions remove rows. */
      end: () => {
        path = null
      },
      /**
       * The rows that a condition selects from those that the previous ones selected.
       *
       * @param predicates the predicates of its variables, by their names
       */
      rows: (
        condition: AlgebraExpression,
        predicates: ReadonlyMap<string, string>,
        select: () => Uint32Array,
      ): Uint32Array => {
        const key = path === null || !isStable(condition) ? null : keyOf(condition, predicates)
        path = key === null ? null : `${path} ${key}`
        return path === null ? select() : memoised(this.known, path, select)
      },
    }
  }
}

/** A condition as text, with predicates in place of the variables of their values; null where a variable has no predicate. */
function keyOf(condition: AlgebraExpression, predicates: ReadonlyMap<string, string>): string | null {
  let isComplete = true
  const text = JSON.stringify(condition, (_, value: unknown) => {
    if (!isVariable(value)) return value
    const predicate = predicates.get(value.name)
    isComplete &&= predicate !== undefined
    return { predicate }
  })
  return isComplete ? text : null
}

function isVariable(value: unknown): value is Variable {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'variable'
}
