import type { CsvDialect } from '../model/csv-dialect.ts'
import { RDF } from '../rdf/vocab.ts'

/**
 * The intermediate representation of every mapping: the output of the direct mapping and of the readers of YARRRML and RML, and
 * the input of the compiler, which turns it into a function of one record. A reference names a field of the dataset, or the
 * record's own id.
 */
export interface Mapping {
  readonly resources: readonly ResourceRule[]
  /** Prefixes that the document declares, with their namespaces. */
  readonly prefixes?: Readonly<Record<string, string>>
  /** The vocabulary of an RML document: `old` if it uses no term of http://w3id.org/rml/. Absent for YARRRML. */
  readonly generation?: 'old' | 'new'
}

/** A position in a mapping document. */
export interface MappingPlace {
  /** 1-based. */
  readonly line: number
  /** 1-based, in UTF-16 units. */
  readonly column: number
  readonly endLine: number
  /** 1-based, exclusive. */
  readonly endColumn: number
  /** The path to this position: `mappings.person.predicateobjects[3]`. */
  readonly path: string
}

/** One kind of resource: its subject and statements. */
export interface ResourceRule {
  /** Name for messages and links: the mapping key in YARRRML. */
  readonly key: string
  readonly subject: TermMap
  readonly statements: readonly StatementRule[]
  /** Graphs of all its statements; none means the default graph. */
  readonly graphs?: readonly TermMap[]
  /** Files of its records, if the document names any; a dataset's own mapping needs none. */
  readonly sources?: readonly LogicalSource[]
  readonly place?: MappingPlace
  /** The position of its subject. */
  readonly subjectPlace?: MappingPlace
}

/** One predicate and object of a resource. */
export interface StatementRule {
  /** An IRI, or a term map that creates one. */
  readonly predicate: string | TermMap
  readonly object: ObjectMap
  /** Graphs of this statement, in addition to those of the resource. */
  readonly graphs?: readonly TermMap[]
  /** True if the object is the subject of the triple (YARRRML, "Inverse predicates"). */
  readonly inverse?: boolean
  readonly place?: MappingPlace
  readonly predicatePlace?: MappingPlace
  readonly objectPlace?: MappingPlace
  /** The position of its datatype or language. */
  readonly markPlace?: MappingPlace
}

/** The subject of another resource rule for the same record. */
export interface MappingJoin {
  readonly type: 'link'
  /** Key of the other rule. */
  readonly resource: string
  /** The condition of the link: equal fields, of which the other rule's subject is made. It excludes fields of several values. */
  readonly joined?: { readonly fields: readonly string[]; readonly place: MappingPlace }
}

export type ObjectMap = TermMap | MappingJoin

/**
 * How a term is created from a record (R2RML, section 7). A template is the concatenation of its segments; if any reference is
 * absent, there is no term.
 */
export type TermMap =
  | {
      readonly type: 'iri'
      readonly segments: readonly Segment[]
      /**
       * The encoding of values in a template: IRI-safe by default; `uri` also escapes all non-ASCII characters, `none` leaves
       * them unchanged (RML-Core, "Term types"). A template that is one reference leaves its value unchanged.
       */
      readonly encode?: 'iri' | 'uri' | 'none'
      /** The base for relative IRIs; without it they are invalid. */
      readonly base?: string
    }
  /** Equal segments create the same blank node; without segments there is one for each record. */
  | { readonly type: 'blank'; readonly segments: readonly Segment[] }
  | {
      readonly type: 'literal'
      readonly segments: readonly Segment[]
      readonly datatype?: string | readonly Segment[]
      readonly language?: string | readonly Segment[]
    }
  /** The value of a field in its own type: the natural mapping (Mapping 1.2, 2.5). */
  | { readonly type: 'natural'; readonly field: string; readonly place?: MappingPlace }

export type Segment =
  | { readonly type: 'constant'; readonly text: string }
  | { readonly type: 'field'; readonly name: string; readonly place?: MappingPlace }
  | { readonly type: 'recordId' }

/** A file with records, as a mapping names it. */
export interface LogicalSource {
  /** Path as written in the document; files are matched by name. Null if the document leaves it to the user. */
  readonly path: string | null
  readonly formulation: 'csv' | 'json'
  /** JSONPath to the records of a JSON document; null for its root, or for a table. */
  readonly iterator: string | null
  readonly dialect?: CsvDialect
  /** The position of its name in the document. */
  readonly place?: MappingPlace
  readonly iteratorPlace?: MappingPlace
}

/** A reference of a term map to a field, with its position. */
export interface FieldReference {
  readonly name: string
  readonly place: MappingPlace | undefined
}

/** The references of an object to fields, those of its datatype and language too. */
export function fieldReferences(term: ObjectMap): readonly FieldReference[] {
  if (term.type === 'link') return []
  if (term.type === 'natural') return [{ name: term.field, place: term.place }]
  const parts = term.type === 'literal' ? [term.segments, term.datatype, term.language] : [term.segments]
  return parts.flatMap(part =>
    typeof part === 'object'
      ? part.flatMap(segment => (segment.type === 'field' ? [{ place: undefined, ...segment }] : []))
      : [],
  )
}

/** The term maps of a statement. */
export function statementTerms({ predicate, object, graphs = [] }: StatementRule): readonly TermMap[] {
  return [
    ...(typeof predicate === 'string' ? [] : [predicate]),
    ...(object.type === 'link' ? [] : [object]),
    ...graphs,
  ]
}

/**
 * True if a join over equal fields of one source leads to the subject of the same record alone: the subject is made of exactly
 * these fields, so that all records that match have it. A subject without one of them would also exist where that field is empty,
 * and matches nothing there.
 */
export function isOfSameRecord(subject: TermMap, fields: readonly string[]): boolean {
  const references = fieldReferences(subject).map(({ name }) => name)
  return (
    references.length > 0 &&
    references.every(name => fields.includes(name) && !name.includes('[*]')) &&
    fields.every(name => references.includes(name))
  )
}

/** The classes that a mapping gives its resources, each once, in order of appearance; computed ones are left out. */
export function usedClasses({ resources }: Pick<Mapping, 'resources'>): readonly string[] {
  const iris = resources.flatMap(({ statements }) =>
    statements.flatMap(({ predicate, object, inverse }) => {
      if (inverse === true || constantIri(predicate) !== RDF.type || object.type === 'link') return []
      return constantIri(object) ?? []
    }),
  )
  return [...new Set(iris)]
}

/** The properties that a mapping uses, rdf:type aside, each once, in order of appearance. */
export function usedProperties({ resources }: Mapping): readonly string[] {
  const iris = resources.flatMap(({ statements }) =>
    statements.flatMap(({ predicate }) => constantIri(predicate) ?? []),
  )
  return [...new Set(iris)].filter(iri => iri !== RDF.type)
}

/** The text of a term that is the same IRI for every record; null for any other term. */
export function constantIri(term: string | TermMap): string | null {
  if (typeof term === 'string') return term
  return term.type === 'iri' ? constantText(term.segments) : null
}

/** The text of segments without references; null if there are some. */
export function constantText(segments: readonly Segment[]): string | null {
  let text = ''
  for (const segment of segments) {
    if (segment.type !== 'constant') return null
    text += segment.text
  }
  return text
}
