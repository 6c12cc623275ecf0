import { lookup, setMember } from '../model/lookup.ts'
import { resolveIri } from '../rdf/resolve.ts'

/** A node of the syntax tree of Traqula, in which the IRIs are made absolute. */
export interface SyntaxNode {
  [key: string]: unknown
  type?: string
  subType?: string
  value?: unknown
}

/** A part of a text, as character offsets. */
export interface TextRange {
  readonly from: number
  readonly to: number
}

/** The position of a node in the text; null for nodes that the parser added. */
export function rangeOf({ loc }: SyntaxNode): TextRange | null {
  const { sourceLocationType, start, end } = (loc ?? {}) as Readonly<Record<string, unknown>>
  return sourceLocationType === 'source' ? { from: Number(start), to: Number(end) } : null
}

/** A relative IRI that gives no IRI with its base, or an invalid name. */
export class NotAnIri extends RangeError {
  readonly range: TextRange | null

  constructor(node: SyntaxNode) {
    super(`not an IRI: ${String(node.value).slice(0, 100)}`)
    this.range = rangeOf(node)
  }
}

/** Maximum characters of all IRIs of a query: a long base or prefix is in each of those that are short in its text. */
export const MAX_RESOLVED = 10_000_000

/** A query whose IRIs have more than {@link MAX_RESOLVED} characters in all. */
export class IrisTooLong extends RangeError {
  constructor() {
    super(`the IRIs of the query have more than ${MAX_RESOLVED} characters in all`)
  }
}

/** The declarations of a query. */
export interface Declarations {
  readonly base: string | null
  readonly prefixes: Readonly<Record<string, string>>
}

/**
 * Replaces the relative IRIs and prefixed names of a query by absolute IRIs (SPARQL 1.1 Query, section 4.1.1), because the
 * library only appends relative IRIs to their base. Throws {@link NotAnIri}, {@link IrisTooLong}.
 *
 * @param base the base of the first declaration
 */
export function resolveTree(tree: SyntaxNode, base: string | null): Declarations {
  let current = base
  let characters = 0
  const prefixes: Record<string, string> = Object.create(null)
  const done = new Set<SyntaxNode>()
  for (const declaration of (tree.context ?? []) as readonly SyntaxNode[]) {
    resolveWithin(declaration)
    const iri = String((declaration.value as SyntaxNode | undefined)?.value)
    if (declaration.subType === 'base') current = iri
    if (declaration.subType === 'prefix') setMember(prefixes, String(declaration.key), iri)
  }
  for (const [key, value] of Object.entries(tree)) if (key !== 'context') resolveWithin(value)
  return { base: current, prefixes }

  function resolveWithin(part: unknown): void {
    if (typeof part !== 'object' || part === null) return
    const node = part as SyntaxNode
    if (node.type !== 'term' || node.subType !== 'namedNode') {
      for (const [key, value] of Object.entries(node)) if (key !== 'loc') resolveWithin(value)
      return
    }
    if (done.has(node)) return
    done.add(node)
    const { prefix } = node
    const resolved =
      prefix === undefined
        ? resolveIri(String(node.value), current)
        : (lookup(prefixes, String(prefix)) ?? '') + String(node.value)
    if (resolved === null) throw new NotAnIri(node)
    characters += resolved.length
    if (characters > MAX_RESOLVED) throw new IrisTooLong()
    node.value = resolved
    delete node.prefix
  }
}
