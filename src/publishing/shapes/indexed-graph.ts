import type * as RDF from '@rdfjs/types'
import { memoised } from '../../model/memoised.ts'
import { parseTriples } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'

/** Creates terms of RDF/JS (RDF/JS, "Data model"), as the validator's own factory does. */
interface TermFactory {
  readonly namedNode: (value: string) => RDF.NamedNode
  readonly blankNode: (value?: string) => RDF.BlankNode
  readonly literal: (value: string, kind?: string | RDF.NamedNode) => RDF.Literal
  readonly quad: (
    subject: RDF.Quad_Subject,
    predicate: RDF.Quad_Predicate,
    object: RDF.Quad_Object,
  ) => RDF.Quad
}

/** A term for the validator; null for a triple term, which SHACL does not support. */
function validatorTerm(term: Term, factory: TermFactory): RDF.NamedNode | RDF.BlankNode | RDF.Literal | null {
  switch (term.type) {
    case 'iri':
      return factory.namedNode(term.value)
    case 'blank':
      return factory.blankNode(term.value)
    case 'literal':
      return term.language === ''
        ? factory.literal(term.value, factory.namedNode(term.datatype))
        : factory.literal(term.value, term.language.replace(/--.*$/, ''))
    case 'triple':
      return null
  }
}

/** A unique key of a term. */
export function termKey(term: RDF.Term): string {
  switch (term.termType) {
    case 'NamedNode':
      return `<${term.value}`
    case 'Literal':
      return `"${term.language}^${term.datatype.value}"${term.value}`
    default:
      return `_${term.value}`
  }
}

/** Quads by one of their terms, which is this graph's own instance of it. */
type Index = Map<RDF.Term, RDF.Quad[]>

const NONE: readonly RDF.Quad[] = []

/**
 * A graph in memory with the RDF/JS "Dataset interface", indexed by subject, predicate and object: a validator visits every node
 * by itself, and looks up the instances of classes. Equal terms are one instance.
 */
export class IndexedGraph implements RDF.DatasetCore {
  private readonly factory: TermFactory
  private readonly terms = new Map<string, RDF.Term>()
  private readonly known = new Set<RDF.Quad>()
  private readonly subjects: Index = new Map()
  private readonly predicates: Index = new Map()
  private readonly objects: Index = new Map()
  /** Triples that were left out because their object is a triple (RDF 1.2). */
  tripleTerms = 0

  constructor(factory: TermFactory, quads: Iterable<RDF.Quad> = []) {
    this.factory = factory
    for (const quad of quads) this.add(quad)
  }

  get size(): number {
    return this.known.size
  }

  /** Adds whole lines of N-Triples. */
  addText(lines: string): void {
    for (const { subject, predicate, object } of parseTriples(lines)) {
      const [s, p, o] = [subject, predicate, object].map(term => validatorTerm(term, this.factory))
      if (s == null || p == null || o == null) this.tripleTerms += 1
      else this.add(this.factory.quad(s as RDF.Quad_Subject, p as RDF.NamedNode, o))
    }
  }

  add(quad: RDF.Quad): this {
    if (this.has(quad)) return this
    const subject = this.own(quad.subject)
    const predicate = this.own(quad.predicate)
    const object = this.own(quad.object)
    const added = this.factory.quad(
      subject as RDF.Quad_Subject,
      predicate as RDF.Quad_Predicate,
      object as RDF.Quad_Object,
    )
    this.known.add(added)
    insert(this.subjects, subject, added)
    insert(this.predicates, predicate, added)
    insert(this.objects, object, added)
    return this
  }

  delete(quad: RDF.Quad): this {
    for (const found of this.find(quad.subject, quad.predicate, quad.object)) {
      this.known.delete(found)
      remove(this.subjects, found.subject, found)
      remove(this.predicates, found.predicate, found)
      remove(this.objects, found.object, found)
    }
    return this
  }

  has({ subject, predicate, object }: RDF.Quad): boolean {
    return this.find(subject, predicate, object).length > 0
  }

  match(subject?: RDF.Term | null, predicate?: RDF.Term | null, object?: RDF.Term | null): RDF.DatasetCore {
    return new FoundQuads(this.find(subject, predicate, object), this.factory)
  }

  [Symbol.iterator](): Iterator<RDF.Quad> {
    return this.known[Symbol.iterator]()
  }

  /** The quads that match, from the shortest list that contains them all. */
  private find(
    subject: RDF.Term | null | undefined,
    predicate: RDF.Term | null | undefined,
    object: RDF.Term | null | undefined,
  ): readonly RDF.Quad[] {
    let shortest: readonly RDF.Quad[] | null = null
    const requested = [
      [this.subjects, subject],
      [this.objects, object],
      [this.predicates, predicate],
    ] as const
    for (const [index, term] of requested) {
      if (term == null) continue
      const found = index.get(term) ?? index.get(this.terms.get(termKey(term)) ?? term) ?? NONE
      if (shortest === null || found.length < shortest.length) shortest = found
      if (shortest.length === 0) return NONE
    }
    if (shortest === null) return [...this.known]
    return shortest.filter(
      quad =>
        (subject == null || quad.subject.equals(subject)) &&
        (predicate == null || quad.predicate.equals(predicate)) &&
        (object == null || quad.object.equals(object)),
    )
  }

  /** This graph's own instance of a term: the same for equal terms. */
  private own(term: RDF.Term): RDF.Term {
    return memoised(this.terms, termKey(term), () => term)
  }
}

/** The result of a lookup in a graph: it is traversed once, and rarely queried again. */
class FoundQuads implements RDF.DatasetCore {
  private readonly quads: readonly RDF.Quad[]
  private readonly factory: TermFactory

  constructor(quads: readonly RDF.Quad[], factory: TermFactory) {
    this.quads = quads
    this.factory = factory
  }

  get size(): number {
    return this.quads.length
  }

  add(): this {
    throw new Error('what was found of a graph does not change')
  }

  delete(): this {
    return this.add()
  }

  has(quad: RDF.Quad): boolean {
    return this.quads.some(each => each.equals(quad))
  }

  match(subject?: RDF.Term | null, predicate?: RDF.Term | null, object?: RDF.Term | null): RDF.DatasetCore {
    return new IndexedGraph(this.factory, this.quads).match(subject, predicate, object)
  }

  [Symbol.iterator](): Iterator<RDF.Quad> {
    return this.quads[Symbol.iterator]()
  }
}

function insert(index: Index, term: RDF.Term, quad: RDF.Quad): void {
  memoised(index, term, () => []).push(quad)
}

function remove(index: Index, term: RDF.Term, quad: RDF.Quad): void {
  const list = index.get(term)
  const at = list?.indexOf(quad) ?? -1
  if (at >= 0) list?.splice(at, 1)
}
