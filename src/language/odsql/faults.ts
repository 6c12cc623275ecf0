import { type DeclaredFault, declareFault, Fault, shortened } from '../../errors/errors.ts'

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
