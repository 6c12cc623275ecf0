import type { SparqlOperation } from '../../../sparql/operation.ts'
import { isSubquery, partsOf } from './operation-parts.ts'
import { isStable } from './stable.ts'

/** The operation whose patterns are looked for first, with all others joined to what they find; null where there is none. */
export function scanningOperation(operation: SparqlOperation): SparqlOperation | null {
  switch (operation.type) {
    case 'project':
    case 'reduced':
      return scanningOperation(operation.input)
    case 'extend':
      return isStable(operation.expression) ? scanningOperation(operation.input) : null
    case 'leftJoin':
    case 'minus':
      return scanningOperation(operation.left)
    case 'graph':
      return operation.name.type === 'iri' ? scanningOperation(operation.input) : null
    case 'bgp':
      return operation.patterns.length > 0 ? operation : null
    case 'join':
    case 'filter': {
      const { patterns, paths, others } = partsOf(operation)
      if (paths.length > 0 || others.some(other => other.type === 'values' || isSubquery(other))) return null
      return patterns.length > 0 ? operation : others[0] === undefined ? null : scanningOperation(others[0])
    }
    default:
      return null
  }
}
