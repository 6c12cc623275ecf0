import { resolveIri } from '../rdf/resolve.ts'

/** A part of the syntax tree of Traqula, whose terms are given their absolute IRIs. */
export interface SyntaxNode {
  [key: string]: unknown
  type?: string
  subType?: string
  value?: unknown
}

/**
 * Resolves the relative IRIs of a query where they stand (SPARQL 1.1 Query, section 4.1.1.2), for the library appends them
 * to their base. Gives the base of the query. Throws where one is no IRI.
 *
 * @param base what the first declaration is resolved against
 */
export function resolveTree(tree: SyntaxNode, base: string | null): string | null {
  let current = base
  const declarations = (tree.context ?? []) as readonly SyntaxNode[]
  for (const declaration of declarations) {
    resolveWithin(declaration, current)
    if (declaration.subType === 'base') current = String((declaration.value as SyntaxNode).value)
  }
  for (const [key, value] of Object.entries(tree)) if (key !== 'context') resolveWithin(value, current)
  return current
}

function resolveWithin(part: unknown, base: string | null): void {
  if (typeof part !== 'object' || part === null) return
  if (Array.isArray(part)) {
    for (const item of part) resolveWithin(item, base)
    return
  }
  const node = part as SyntaxNode
  if (node.type === 'term' && node.subType === 'namedNode' && node.prefix === undefined) {
    const resolved = resolveIri(String(node.value), base)
    if (resolved === null) throw new RangeError(`not an IRI: ${String(node.value).slice(0, 100)}`)
    node.value = resolved
    return
  }
  for (const [key, value] of Object.entries(node)) if (key !== 'loc') resolveWithin(value, base)
}
