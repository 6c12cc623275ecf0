import type { Term } from '../../../rdf/term.ts'

/** How a dataset is queried: Comunica's type of its source. */
export interface MessageSource {
  readonly type: 'qpf' | 'brtpf' | 'sparql'
  readonly value: string
}

/** Message from the page to the worker: the one query that it runs. */
export interface QueryRun {
  readonly query: string
  readonly sources: readonly MessageSource[]
  /** The public address of the portal, and the one that the page was loaded from: they are the same data. */
  readonly base: string
  readonly here: string
  /** True where the plan of the query is wanted, with the times that its steps took, in the place of its answer. */
  readonly isExplained: boolean
}

/** A row of an answer: terms in the order of the variables; null where one is not bound. */
export type MessageRow = readonly (Term | null)[]

/** Messages from the worker to the page, in this order but for `requests`. */
export type QueryMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'requests'; readonly count: number }
  | { readonly type: 'head'; readonly kind: 'rows' | 'triples'; readonly variables: readonly string[] }
  | { readonly type: 'rows'; readonly rows: readonly MessageRow[] }
  | { readonly type: 'truth'; readonly value: boolean }
  | { readonly type: 'plan'; readonly text: string }
  | { readonly type: 'done' }
  | QueryFault

/** What went wrong; `offset` is the place in the text of the query. */
export interface QueryFault {
  readonly type: 'fault'
  readonly message: string
  readonly offset: number | null
  /** The status with which a source refused to answer. */
  readonly status: number | null
}
