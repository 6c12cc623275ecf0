import { lookup, setMember } from '../model/lookup.ts'
import { resolveIri } from '../rdf/resolve.ts'

/** A part of the syntax tree of Traqula, whose terms are given their absolute IRIs. */
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

/** Where a part stands in the text; null for what the parser added. */
export function rangeOf({ loc }: SyntaxNode): TextRange | null {
  const { sourceLocationType, start, end } = (loc ?? {}) as Readonly<Record<string, unknown>>
  return sourceLocationType === 'source' ? { from: Number(start), to: Number(end) } : null
}

/** A relative IRI that makes none with its base, or a name that is none. */
export class NotAnIri extends RangeError {
  readonly range: TextRange | null

  constructor(node: SyntaxNode) {
    super(`not an IRI: ${String(node.value).slice(0, 100)}`)
    this.range = rangeOf(node)
  }
}

/** What the declarations of a query say. */
export interface Declarations {
  readonly base: string | null
  readonly prefixes: Readonly<Record<string, string>>
}

/**
 * Puts whole IRIs in the place of the relative IRIs and the prefixed names of a query (SPARQL 1.1 Query, section 4.1.1), for
 * the library appends the former to their base. Throws {@link NotAnIri}.
 *
 * @param base what the first declaration is resolved against
 */
export function resolveTree(tree: SyntaxNode, base: string | null): Declarations {
  let current = base
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
    node.value = resolved
    delete node.prefix
  }
}
