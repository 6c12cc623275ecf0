import type { CsvDialect } from '../model/csv-dialect.ts'

/**
 * The intermediate form of every mapping: what the direct mapping and the readers of YARRRML and RML produce, and what the
 * compiler turns into a function of one record. A reference names a field of the dataset, or the record's own id.
 */
export interface Mapping {
  readonly resources: readonly ResourceRule[]
  /** Prefixes that the document declares, with their namespaces. */
  readonly prefixes?: Readonly<Record<string, string>>
  /** The vocabulary of a document of RML: `old` where it has none of http://w3id.org/rml/. Absent for YARRRML. */
  readonly generation?: 'old' | 'new'
}

/** Where something stands in a mapping document. */
export interface MappingPlace {
  /** 1-based. */
  readonly line: number
  /** 1-based, in UTF-16 units. */
  readonly column: number
  readonly endLine: number
  /** 1-based, exclusive. */
  readonly endColumn: number
  /** What stands there: `mappings.person.predicateobjects[3]`. */
  readonly path: string
}

/** One kind of resource: its subject and what is said of it. */
export interface ResourceRule {
  /** Name for messages and links: the mapping key in YARRRML. */
  readonly key: string
  readonly subject: TermMap
  readonly statements: readonly StatementRule[]
  /** Graphs of all its statements; none is the default graph. */
  readonly graphs?: readonly TermMap[]
  /** Files that its records come from, where the document names any; a dataset's own mapping needs none. */
  readonly sources?: readonly LogicalSource[]
  readonly place?: MappingPlace
  /** Where its subject stands. */
  readonly subjectPlace?: MappingPlace
}

/** One predicate and object of a resource. */
export interface StatementRule {
  /** An IRI, or how one is made. */
  readonly predicate: string | TermMap
  readonly object: ObjectMap
  /** Graphs of this statement, beside those of the resource. */
  readonly graphs?: readonly TermMap[]
  /** True where the object is the subject of the triple (YARRRML, "Inverse predicates"). */
  readonly inverse?: boolean
  readonly place?: MappingPlace
  readonly predicatePlace?: MappingPlace
  readonly objectPlace?: MappingPlace
  /** Where its datatype or language stands. */
  readonly markPlace?: MappingPlace
}

/** The subject of another resource rule, made of the same record. */
export interface MappingJoin {
  readonly type: 'link'
  /** Key of the other rule. */
  readonly resource: string
}

export type ObjectMap = TermMap | MappingJoin

/**
 * How a term is made from a record (R2RML, section 7). A template is its segments one after the other; any absent
 * reference makes no term.
 */
export type TermMap =
  | {
      readonly type: 'iri'
      readonly segments: readonly Segment[]
      /**
       * What becomes of values in a template: IRI-safe by default; `uri` escapes all beyond ASCII too, `none` takes them as
       * they are (RML-Core, "Term types"). A template that is one reference takes its value as it is.
       */
      readonly encode?: 'iri' | 'uri' | 'none'
      /** What relative IRIs are resolved on; without it they are invalid. */
      readonly base?: string
    }
  /** Equal segments make the same blank node; without segments there is one for each record. */
  | { readonly type: 'blank'; readonly segments: readonly Segment[] }
  | {
      readonly type: 'literal'
      readonly segments: readonly Segment[]
      readonly datatype?: string | readonly Segment[]
      readonly language?: string | readonly Segment[]
    }
  /** The value of a field as its own type writes it: the natural mapping (mapping rules, "Datatypes"). */
  | { readonly type: 'natural'; readonly field: string; readonly place?: MappingPlace }

export type Segment =
  | { readonly type: 'constant'; readonly text: string }
  | { readonly type: 'field'; readonly name: string; readonly place?: MappingPlace }
  | { readonly type: 'recordId' }

/** A file with records, as a mapping names it. */
export interface LogicalSource {
  /** Path as it is written; files are matched by their names. Null where the document leaves it to who runs it. */
  readonly path: string | null
  readonly formulation: 'csv' | 'json'
  /** JSONPath to the records of a JSON document; null for its root, or for a table. */
  readonly iterator: string | null
  readonly dialect?: CsvDialect
  /** Where the document names it. */
  readonly place?: MappingPlace
}
