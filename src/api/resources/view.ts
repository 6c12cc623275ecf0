import type { PageContext } from '../../site/page-context.ts'
import type { DocumentRequest, Gathered } from './document.ts'
import type { DocumentFormat } from './formats.ts'

/** The input of a page about a thing. */
export interface ResourcePage {
  readonly pageContext: PageContext
  readonly base: string
  readonly gathered: Gathered
  readonly requested: DocumentRequest
  /** Address of the document in any format, and the format that the requested address fixes. */
  readonly document: string
  readonly suffix: DocumentFormat | null
  /** The same document as JSON-LD, without the triple terms that it cannot express, for programs that read pages. */
  readonly jsonld: string
}
