import type { PageContext } from '../../site/page-context.ts'
import type { Gathered, Request } from './document.ts'
import type { Format } from './formats.ts'

/** What a page about a thing is made of. */
export interface Page {
  readonly pageContext: PageContext
  readonly base: string
  readonly gathered: Gathered
  readonly requested: Request
  /** Address of the document in any form, and the form that the requested address fixes. */
  readonly document: string
  readonly suffix: Format | null
  /** The same document as JSON-LD, for programs that read pages. */
  readonly jsonld: string
}
