import type { Term } from '../../../rdf/term.ts'

/** How a dataset is queried: Comunica's type of its source; none for an endpoint, whose description lists the functions that it has. */
export interface MessageSource {
  readonly type?: 'qpf' | 'brtpf'
  readonly value: string
}

/** Message from the page to the worker: the one query that it runs. */
export interface QueryRun {
  readonly query: string
  readonly sources: readonly MessageSource[]
  /** The public address of the portal, and the one that the page was loaded from: both serve the same data. */
  readonly base: string
  readonly here: string
  /** True to return the plan of the query, with the times of its steps, instead of its answer. */
  readonly isExplained: boolean
}

/** A row of an answer: terms in the order of the variables; null if one is not bound. */
export type MessageRow = readonly (Term | null)[]

/** Messages from the worker to the page, in this order except `requests`. */
export type QueryMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'requests'; readonly count: number }
  | { readonly type: 'head'; readonly kind: 'rows' | 'triples'; readonly variables: readonly string[] }
  | { readonly type: 'rows'; readonly rows: readonly MessageRow[] }
  | { readonly type: 'truth'; readonly value: boolean }
  | { readonly type: 'plan'; readonly text: string }
  | { readonly type: 'done' }
  | QueryFault

/** An error; `offset` is the position in the text of the query. */
export interface QueryFault {
  readonly type: 'fault'
  readonly message: string
  readonly offset: number | null
  /** The HTTP status of a source that refused to answer. */
  readonly status: number | null
}
