import type { GroupItem, SelectItem } from '../../language/odsql/ast.ts'
import { malformed } from '../faults.ts'

/**
 * The key of an expression without label: its source text (ODSQL 4.4); for a field its name without back-quotes.
 *
 * @param text the clause
 */
export function expressionKey(item: SelectItem | GroupItem, text: string): string {
  const { expression } = item
  if (expression?.type === 'field') return expression.name
  const { from, to } = expression === null ? item.span : outer(expression.span, text)
  return text.slice(from, to).trim()
}

/** Strings and quoted names stay unchanged; blanks and the case of functions and keywords are normalised. */
const PIECE =
  /("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)|\b(?:\w+(?=\s*[('"])|(?:true|false|null)\b)|\s*,\s*|\s*\(\s*|\s+\)|\s+/gis

/** The normalised text of an expression. Names of fields and units of time keep their case, which distinguishes them. */
export function spelling(key: string): string {
  return key.replace(
    PIECE,
    (found, quoted: string | undefined) => quoted ?? (found.trim().toLowerCase() || ' '),
  )
}

/** The span including surrounding parentheses: `(a + b)` is parsed as `a + b`. */
function outer(span: { readonly from: number; readonly to: number }, text: string) {
  let { from, to } = span
  for (;;) {
    const before = /\(\s*$/.exec(text.slice(0, from))
    const after = /^\s*\)/.exec(text.slice(to))
    if (before === null || after === null) return { from, to }
    from -= before[0].length
    to += after[0].length
  }
}

/**
 * Refuses a label that occurs twice in the clauses of one query, or that is the name of another field in them. A field of `select`
 * may name a label of `group_by`.
 */
export function refuseDoubles(select: readonly SelectItem[], groups: readonly GroupItem[]): void {
  const known = new Set<string>()
  const keys = fieldNames(groups)
  for (const [clause, items, fields] of [
    ['group_by', groups, keys],
    ['select', select, new Set([...keys, ...fieldNames(select)])],
  ] as const)
    for (const { label, expression, span } of items) {
      if (label === null) continue
      const isOwnName = expression?.type === 'field' && expression.name === label
      if (known.has(label) || (fields.has(label) && !isOwnName))
        throw malformed(clause, `Alias '${label.slice(0, 60)}' is declared several times`, span)
      known.add(label)
    }
}

function fieldNames(items: readonly (SelectItem | GroupItem)[]): ReadonlySet<string> {
  return new Set(
    items.flatMap(({ label, expression }) =>
      label === null && expression?.type === 'field' ? [expression.name] : [],
    ),
  )
}
