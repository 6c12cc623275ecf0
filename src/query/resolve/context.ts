import type { Fault } from '../../errors/errors.ts'
import type {
  Argument,
  Call,
  ClauseName,
  Expression,
  GroupItem,
  OrderItem,
  SelectItem,
  Span,
} from '../../language/odsql/ast.ts'
import { clauseFault } from '../../language/odsql/faults.ts'
import {
  BBOX_CONDITION,
  FUNCTIONS,
  type FunctionEntry,
  functionsOf,
} from '../../language/odsql/vocabulary.ts'
import type { Dataset } from '../../model/dataset.ts'
import { didYouMean } from '../../model/did-you-mean.ts'
import type { Field } from '../../model/field.ts'
import type { Language } from '../../model/language.ts'
import type { Dialect } from '../dialect.ts'
import { describedArgument, describeValue } from '../faults.ts'
import { findField, TECHNICAL, technicalNamed } from '../find-field.ts'
import type { Scalar } from '../plan.ts'

/** Context for resolving the names and literals of a query: the dataset and its options. */
export interface ResolveContext {
  readonly dataset: Pick<Dataset, 'fields'>
  /** Metadata template whose name may be left out before its fields: `title` for `default.title`. */
  readonly template?: string
  /** False for the catalog, whose technical fields are fields. */
  readonly technical: boolean
  /** IANA name; date literals without offset are local times in this zone. */
  readonly timezone: string
  readonly language: Language
  readonly dialect: Dialect
  /** Milliseconds since 1970: the value of `now`. */
  readonly now: number
}

/** Members of a dataset that the APIs report and no clause can select (REST 2.11). */
const UNQUERIED = new Set(['data_visible', 'fields', 'attachments', 'visibility', 'alternative_exports'])

/** Characters of a label that a name may have been meant to be: the cost of comparing two texts grows with both of them. */
const MAX_MEANT = 100

/** The names that one clause may use: fields, functions and labels. */
export class FieldNames {
  readonly clause: ClauseName
  readonly context: ResolveContext
  readonly labels: ReadonlyMap<string, Scalar>

  constructor(clause: ClauseName, context: ResolveContext, labels: ReadonlyMap<string, Scalar> = new Map()) {
    this.clause = clause
    this.context = context
    this.labels = labels
  }

  /** The fault of what makes no sense in the clause. */
  fault(reason: string, span: Span, hint?: string): Fault {
    return clauseFault(this.clause, reason, span, hint)
  }

  /** The field that an expression names; anything else is refused. */
  field(node: Expression): Field {
    if (node.type === 'call') this.function(node)
    if (node.type !== 'field')
      throw this.fault(`${describeValue(node)} was found where the name of a field is expected`, node.span)
    const field = this.known(node.name)
    if (field === undefined) throw this.unknownField(node.name, node.span)
    return field
  }

  /** The field of a name; undefined where there is none. */
  known(name: string): Field | undefined {
    const { dataset, template, technical } = this.context
    return findField(dataset.fields, name, template) ?? (technical ? technicalNamed(name) : undefined)
  }

  unknownField(name: string, span: Span): Fault {
    const { dataset, technical } = this.context
    if (!technical && UNQUERIED.has(name))
      return this.fault(`Field ${name} is not allowed in the current clause`, span)
    const hint = didYouMean(name, [
      ...dataset.fields.map(field => field.name),
      ...(technical ? Object.keys(TECHNICAL) : []),
      ...[...this.labels.keys()].filter(label => label.length <= MAX_MEANT),
    ])
    return this.fault(`Unknown field: ${name.slice(0, 100)}`, span, hint)
  }

  /** The entry of a function, which must be known in this clause and accept the number of arguments. */
  function(call: Call): FunctionEntry {
    const entry = call.name === 'bbox' && this.clause === 'where' ? BBOX_CONDITION : FUNCTIONS.get(call.name)
    if (entry === undefined) {
      const known = functionsOf(this.clause).map(({ name }) => name)
      const hint = didYouMean(call.name, known)
      throw this.fault(`Unknown function: ${call.name.slice(0, 100)}()`, call.span, hint)
    }
    if (!entry.uses.includes(this.clause))
      throw this.fault(
        `The function ${entry.name} is not allowed in the current clause`,
        call.span,
        `it stands in ${entry.uses.join(', ')}`,
      )
    const [least, max] = entry.arity
    if (call.arguments.length < least || call.arguments.length > max)
      throw this.fault(
        `${entry.name} was given ${call.arguments.length} arguments`,
        call.span,
        `write ${entry.signature}`,
      )
    return entry
  }

  /** The fault of an argument of another kind than the function expects; of the call where it is missing. */
  unfit(call: Call, node: Argument | undefined, expected: string): Fault {
    return this.conversionError(call, describedArgument(node), expected, node?.span ?? call.span)
  }

  /** The fault of a field of another type than the function takes. */
  unfitField(call: Call, { name, type }: Field, expected: string, span: Span): Fault {
    return this.conversionError(call, `the field ${name} of type ${type}`, expected, span)
  }

  /** A fault of one argument of a call: what was found, and what the function expects. */
  conversionError(call: Call, found: string, expected: string, span: Span): Fault {
    return this.fault(`${call.name} was given ${found} where it takes ${expected}`, span)
  }
}

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

/** What a key of an order sorts by, and its direction: a field after a minus sorts the other way. */
export function directed({ expression, descending }: OrderItem) {
  const reversed = expression.type === 'sign' && expression.negative && expression.operand.type === 'field'
  return { node: reversed ? expression.operand : expression, descending: descending !== reversed }
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
        throw clauseFault(clause, `Alias '${label.slice(0, 60)}' is declared several times`, span)
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
