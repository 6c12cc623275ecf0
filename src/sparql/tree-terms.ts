import { lookup } from '../model/lookup.ts'
import type { Literal, NamedNode, Term } from '../rdf/term.ts'
import { RDF, XSD } from '../rdf/vocab.ts'
import type { Node, Path, Variable } from './algebra.ts'
import type { SyntaxNode } from './relative.ts'
import { type PatternParts, type TripleNodePart, tripleOf } from './triple-nodes.ts'

/** A query with a construct that has no operation here. */
export class NotTranslated extends Error {
  constructor(what: string) {
    super(`no operation for ${what}`)
    this.name = 'NotTranslated'
  }
}

/** A triple pattern of the syntax, whose predicate may be a path. */
export interface PathParts extends Omit<PatternParts, 'predicate'> {
  readonly predicate: TripleNodePart | SyntaxNode
}

/** The nodes within a node, under a name. */
export const nodesAt = (node: SyntaxNode, name: string): readonly SyntaxNode[] =>
  (lookup(node, name) ?? []) as readonly SyntaxNode[]

export const isVariable = ({ type, subType }: SyntaxNode): boolean =>
  type === 'term' && subType === 'variable'

export const isPath = ({ type }: SyntaxNode | TripleNodePart): boolean => type === 'path'

/** How a blank node of a pattern is translated: to a variable where it stands for any term, to itself in templates. */
export type NodeOfBlank = (label: string) => Node

/** The term, variable or triple of a node. Throws {@link NotTranslated}. */
export function partOf(node: SyntaxNode, blank: NodeOfBlank): TripleNodePart {
  switch (node.subType) {
    case 'namedNode':
      return { type: 'iri', value: String(node.value) }
    case 'variable':
      return { type: 'variable', name: String(node.value) }
    case 'blankNode':
      return blank(String(node.label))
    case 'literal':
      return literalOf(node)
    case 'triple': {
      const [subject, predicate, object] = [node.subject, node.predicate, node.object] as SyntaxNode[]
      if (subject === undefined || predicate === undefined || object === undefined) break
      return tripleOf(partOf(subject, blank), partOf(predicate, blank), partOf(object, blank))
    }
  }
  throw new NotTranslated(`a term of type ${node.subType}`)
}

/** Languages are compared without regard to case (RDF 1.1 Concepts, section 3.3): they are in lower case. */
function literalOf({ value, langOrIri }: SyntaxNode): Literal {
  const text = String(value)
  if (langOrIri === undefined || langOrIri === '')
    return { type: 'literal', value: text, datatype: XSD.string, language: '' }
  if (typeof langOrIri !== 'string')
    return { type: 'literal', value: text, datatype: String((langOrIri as SyntaxNode).value), language: '' }
  const isDirected = /--(?:ltr|rtl)$/.test(langOrIri)
  return {
    type: 'literal',
    value: text,
    datatype: isDirected ? RDF.dirLangString : RDF.langString,
    language: langOrIri.toLowerCase(),
  }
}

/** The term of a node that is no variable, no blank node and no triple with such. Throws {@link NotTranslated}. */
export function groundTerm(node: SyntaxNode): Term {
  const part = partOf(node, noBlank)
  if (part.type === 'variable' || part.type === 'tripleNode') throw new NotTranslated(`a ${part.type} here`)
  return part
}

const noBlank: NodeOfBlank = () => {
  throw new NotTranslated('a blank node here')
}

/** The name of a graph or a service. Throws {@link NotTranslated}. */
export function nameOf(node: SyntaxNode): NamedNode | Variable {
  const part = partOf(node, noBlank)
  if (part.type === 'iri' || part.type === 'variable') return part
  throw new NotTranslated(`a graph named by a ${part.type}`)
}

/**
 * The triple patterns of nodes in the order of the recommendation: of collections and blank nodes with properties in the subject,
 * then in the object, then the pattern itself, and its annotations (SPARQL 1.2 Query, sections 4.2.4 and 18.3.2.1).
 */
export function triplesOf(nodes: readonly SyntaxNode[], blank: NodeOfBlank): readonly PathParts[] {
  const found: PathParts[] = []
  for (const node of nodes) addTriples(node, blank, found)
  return found
}

function addTriples(node: SyntaxNode, blank: NodeOfBlank, found: PathParts[]): void {
  if (node.type === 'tripleCollection') {
    addCollection(node, blank, found)
    return
  }
  const [subject, object] = [node.subject, node.object].map(each => endOf(each as SyntaxNode, blank, found))
  const predicate = node.predicate as SyntaxNode
  if (subject === undefined || object === undefined) throw new NotTranslated('a triple without its parts')
  const triple = { subject, predicate: isPath(predicate) ? predicate : partOf(predicate, blank), object }
  found.push(triple)
  const annotations = nodesAt(node, 'annotations')
  if (annotations.length === 0) return
  const term = termOf(triple)
  const reified = new Set<string>()
  for (const annotation of annotations) {
    const isBlock = annotation.type === 'tripleCollection'
    const reifier = partOf((isBlock ? annotation.identifier : annotation.val) as SyntaxNode, blank)
    const key = JSON.stringify(reifier)
    if (!reified.has(key)) found.push(reification(reifier, term))
    reified.add(key)
    if (isBlock) addCollection(annotation, blank, found)
  }
}

/** The subject or the object of a triple pattern: of a collection its first node. */
function endOf(node: SyntaxNode, blank: NodeOfBlank, found: PathParts[]): TripleNodePart {
  if (node.type !== 'tripleCollection') return partOf(node, blank)
  addCollection(node, blank, found)
  return partOf(node.identifier as SyntaxNode, blank)
}

function addCollection(node: SyntaxNode, blank: NodeOfBlank, found: PathParts[]): void {
  for (const each of nodesAt(node, 'triples')) addTriples(each, blank, found)
  if (node.subType !== 'reifiedTriple') return
  const last = found.pop()
  if (last !== undefined) found.push(reification(partOf(node.identifier as SyntaxNode, blank), termOf(last)))
}

const reification = (subject: TripleNodePart, object: TripleNodePart): PathParts => ({
  subject,
  predicate: { type: 'iri', value: RDF.reifies },
  object,
})

function termOf({ subject, predicate, object }: PathParts): TripleNodePart {
  if (isPath(predicate)) throw new NotTranslated('a path in a triple term')
  return tripleOf(subject, predicate as TripleNodePart, object)
}

const CLOSURES = { '*': 'zeroOrMore', '+': 'oneOrMore', '?': 'zeroOrOne' } as const

/** The path of a node (SPARQL 1.1 Query, section 18.2.2.3). Throws {@link NotTranslated}. */
export function pathOf(node: SyntaxNode): Path {
  if (!isPath(node)) return { type: 'link', iri: String(node.value) }
  const items = nodesAt(node, 'items')
  const [first] = items
  if (first === undefined) throw new NotTranslated('an empty path')
  switch (node.subType) {
    case '^':
      return { type: 'inverse', path: pathOf(first) }
    case '/':
      return { type: 'sequence', paths: flat(items.map(pathOf), 'sequence') }
    case '|':
      return { type: 'alternative', paths: flat(items.map(pathOf), 'alternative') }
    case '!':
      return negatedPath(first.subType === '|' ? nodesAt(first, 'items') : [first])
    default: {
      const type = lookup(CLOSURES, String(node.subType))
      if (type === undefined) throw new NotTranslated(`the path ${node.subType}`)
      return { type, path: pathOf(first) }
    }
  }
}

/** Paths within a path of the same type are its own. */
const flat = (paths: readonly Path[], type: 'sequence' | 'alternative'): readonly Path[] =>
  paths.flatMap(path => (path.type === type ? path.paths : [path]))

/** A path of any predicate but some, and the inverse of any but others. */
function negatedPath(items: readonly SyntaxNode[]): Path {
  const irisOf = (nodes: readonly SyntaxNode[]) => nodes.map(({ value }) => String(value))
  const negated = (iris: readonly string[]): Path => ({ type: 'negated', iris })
  const forward = items.filter(item => !isPath(item))
  const inverse = items.filter(isPath).flatMap(item => nodesAt(item, 'items'))
  const inverted: Path = { type: 'inverse', path: negated(irisOf(inverse)) }
  if (inverse.length === 0) return negated(irisOf(forward))
  return forward.length === 0
    ? inverted
    : { type: 'alternative', paths: [negated(irisOf(forward)), inverted] }
}
