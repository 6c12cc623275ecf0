import type { QueryOperation } from './algebra.ts'
import { resolveTree, type SyntaxNode } from './relative.ts'
import { syntaxTree } from './syntax.ts'
import { Translation } from './translate.ts'
import { nodesAt } from './tree-terms.ts'

/** A parsed query. */
export interface ParsedQuery {
  readonly query: QueryOperation
  /** The base IRI that it declares; otherwise the given one. */
  readonly base: string | null
  /** The graphs that its FROM clauses name; null where it has none. */
  readonly dataset: {
    readonly defaultGraphs: readonly string[]
    readonly namedGraphs: readonly string[]
  } | null
}

/**
 * Parses a SPARQL query into the algebra. Throws the errors of the parser, which have positions, and `NotTranslated` for what has
 * no operation.
 *
 * @param base base of relative IRIs
 */
export function parseQuery(text: string, base?: string): ParsedQuery {
  const { tree, flaw } = syntaxTree(text)
  if (flaw !== null) throw flaw
  return translateTree(text, tree, resolveTree(tree, base ?? null).base)
}

/**
 * The algebra of a query whose IRIs are resolved. Throws `NotTranslated` for what has no operation.
 *
 * @param text the text of the tree
 * @param base base that the IRIs were resolved against
 */
export function translateTree(text: string, tree: SyntaxNode, base: string | null): ParsedQuery {
  const query = new Translation(text).queryOf(tree)
  return { query, base, dataset: declaredDataset(tree) }
}

/** The graphs that the FROM clauses of a query name; null where it has none. */
export function declaredDataset(tree: SyntaxNode): ParsedQuery['dataset'] {
  const clauses = nodesAt((tree.datasets ?? {}) as SyntaxNode, 'clauses')
  if (clauses.length === 0) return null
  const graphs = (type: string) =>
    clauses.flatMap(({ clauseType, value }) =>
      clauseType === type ? String((value as SyntaxNode).value) : [],
    )
  return { defaultGraphs: graphs('default'), namedGraphs: graphs('named') }
}
