import type { Fault } from '../../errors/errors.ts'
import { type Html, html } from '../../site/html.ts'

/** The fault of a clause below its field: the message, and the line of its position with a caret, unless it is about another clause. */
export function filterFaultText(fault: Fault, clause: string, text: string): Html {
  const { from } = fault.place
  const lineStart = from === undefined ? 0 : text.lastIndexOf('\n', Math.max(0, from - 1)) + 1
  const line = text.slice(lineStart).split('\n')[0] ?? ''
  const caret =
    from === undefined || text === '' || !isAbout(fault, clause)
      ? ''
      : html`<pre aria-hidden="true" dir="ltr">${line}
${' '.repeat(Math.max(0, Math.min(from - lineStart, line.length)))}^</pre>`
  const described = faultHint(fault)
  const hint = described === undefined ? '' : html`<p lang="en" dir="auto">${described}</p>`
  return html`<div class="fault" id="${clause}-fault" role="alert"><p lang="en" dir="auto">${faultReason(fault)}</p>${caret}${hint}</div>`
}

/** True if a fault is about a clause. */
export function isAbout({ parts }: Fault, clause: string): boolean {
  return String(parts.clause ?? '')
    .split(/[^\w]+/)
    .includes(clause)
}

/** The reason of a fault, without the name of the clause: the position identifies it. */
export function faultReason({ parts, message }: Fault): string {
  return typeof parts.reason === 'string' ? parts.reason : message
}

/** A hint how to fix it, if the reason does not contain one. */
export function faultHint(fault: Fault): string | undefined {
  return fault.hint === undefined || faultReason(fault).includes(fault.hint) ? undefined : fault.hint
}
