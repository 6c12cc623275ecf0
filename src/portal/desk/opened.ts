import { type Html, html } from '../../site/html.ts'
import { messageKey } from '../../site/page-context.ts'

/** A form of an older text than the one that is there now. */
export const CHANGED_SINCE = messageKey('This was changed after the page was opened.')

/** The text that a form is made from. */
export interface OpenedText {
  /** Digest of the text: a change of the text by others is noticed when the form is saved. */
  readonly opened: string
  readonly isOutdated: boolean
}

/**
 * The text that a form in a page is made from. A browser that goes back restores what was entered, but no hidden field: so the address
 * of the page has the digest, and input for a text that was changed since is refused as it would have been then.
 *
 * @param current digest of the text as it is now
 * @param given digest in the address; repeated, it is of no text
 */
export function openedText(current: string, given: unknown): OpenedText {
  const opened = String(given ?? current)
  return { opened, isOutdated: opened !== current }
}

/** The address of the page of a form, with the digest of its text. */
export function addressOfText(address: string, digest: string): string {
  return `${address}${address.includes('?') ? '&' : '?'}opened=${digest}`
}

/**
 * The digest of the text that a form is made from.
 *
 * @param isUnsaved true for a form with input that was not saved: its page is left only after a question
 */
export function openedField(opened: string, isUnsaved: boolean): Html {
  return html`<input type="hidden" name="opened" value="${opened}"${isUnsaved ? html` data-unsaved` : ''}>
`
}
