import type { Field } from '../model/field.ts'

/**
 * The intermediate form of every mapping: what the direct mapping, and YARRRML or RML readers, produce and what the
 * compiler turns into a function of one record. A reference names a field of the dataset, or the record's own id.
 */
export interface Mapping {
  readonly resources: readonly ResourceRule[]
}

/** One kind of resource: its subject and what is said of it. */
export interface ResourceRule {
  /** Name for messages: the mapping key in YARRRML. */
  readonly key: string
  readonly subject: TermMap
  readonly statements: readonly StatementRule[]
}

/** One predicate and object of a resource. */
export interface StatementRule {
  readonly predicate: string
  readonly object: TermMap
}

/**
 * How a term is made from a record (R2RML, section 7). A template is its segments one after the other; any absent
 * reference makes no term.
 */
export type TermMap =
  | { readonly type: 'iri'; readonly segments: readonly Segment[] }
  | {
      readonly type: 'literal'
      readonly segments: readonly Segment[]
      readonly datatype?: string
      readonly language?: string
    }
  /** The value of a field as its own type writes it: the natural mapping (mapping rules, "Datatypes"). */
  | { readonly type: 'natural'; readonly field: Field }

export type Segment =
  | { readonly type: 'constant'; readonly text: string }
  | { readonly type: 'field'; readonly field: Field }
  | { readonly type: 'recordId' }
