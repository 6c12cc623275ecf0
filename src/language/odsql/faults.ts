import { type DeclaredFault, declareFault, Fault, shortened } from '../../errors/errors.ts'
import type { ClauseName } from './ast.ts'
import { RESERVED_WORDS } from './vocabulary.ts'

/** A query in ODSQL that cannot be parsed or resolved. */
export const ODSQL_ERROR = declareFault(
  'ODSQLError',
  400,
  'ODSQL query is malformed: {reason} Clause(s) containing the error(s): {clause}.',
)

/**
 * The fault of a clause of a query: reason in plain words, clause and span, as every error of the language has them (ODSQL 8.1).
 *
 * @param span character offsets into the text of the clause
 */
export function clauseFault(
  clause: string,
  reason: string,
  span: { readonly from: number; readonly to: number },
  hint?: string,
  declared: DeclaredFault<typeof ODSQL_ERROR.message> = ODSQL_ERROR,
): Fault {
  const described = hint === undefined ? reason : `${reason} (${hint})`
  const short = shortened(described)
  const place = { from: span.from, to: span.to }
  return new Fault(
    declared,
    { reason: `${short}.`, clause },
    { place, ...(hint === undefined ? {} : { hint }) },
  )
}

/** The fault of a syntax error: the text that the parser found at the position where it failed, with a hint. */
export function odsqlSyntaxFault(clause: ClauseName, text: string, position: number): Fault {
  const from = position + (/^\s*/.exec(text.slice(position))?.[0].length ?? 0)
  const rest = text.slice(from)
  const hint = text.trim() === '' ? 'the clause is empty' : undefined
  if (rest === '') return clauseFault(clause, 'unexpected end of line', { from, to: from }, hint)
  const found = /^(?:\w+|.)/su.exec(rest)?.[0] ?? rest.slice(0, 1)
  const excerpt = text.length > 120 ? `${text.slice(0, 120)}…` : text
  const place = { from, to: from + found.length }
  return clauseFault(
    clause,
    `unexpected ${found} at position ${from} in ${excerpt}`,
    place,
    hintFor(found, text, from),
  )
}

function hintFor(found: string, text: string, from: number): string | undefined {
  const isOpen = !text.slice(from + 1).includes(found)
  if (found === '"' || found === "'")
    return isOpen ? 'a string that is not closed' : 'a string is not allowed here'
  if (found === '`') return isOpen ? 'a back-quoted name that is not closed' : 'a name is not allowed here'
  if (found === '=' && text[from - 1] === '=') return 'write = to compare'
  if (/^not\s+(in|like)\b/i.test(text.slice(from)))
    return 'write not before the whole comparison: not field in (…)'
  if (RESERVED_WORDS.has(found.toLowerCase()))
    return `a field of this name is written in back-quotes: \`${found}\``
  if (/^\w+$/.test(found) && /\d$/.test(text.slice(0, from)))
    return 'a name that begins with a digit is written in back-quotes'
  return undefined
}
