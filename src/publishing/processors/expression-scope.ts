import type { ClauseName, Expression, Span } from '../../language/odsql/ast.ts'
import { clauseFault } from '../../language/odsql/faults.ts'
import type { RowData } from '../../sources/fields.ts'
import type { Plain } from './values.ts'

/** A compiled expression of ODSQL, with the columns that it reads. */
export interface CompiledExpression<T> {
  readonly evaluate: (row: RowData) => T
  readonly columns: readonly string[]
}

/** A value computed from one row. */
export type ProcessorValue = (row: RowData) => Plain

/** A condition of one row: false if it compares an absent value. */
export type Test = (row: RowData) => boolean

/** The context of the compiler of an expression, and what it collects. */
export interface ExpressionScope {
  readonly clause: ClauseName
  readonly columns: Set<string>
  readonly readerOf: (column: string) => (row: RowData) => unknown
  /** Compiles a subexpression that is a value. */
  readonly compile: (node: Expression) => ProcessorValue
}

/** The fault of an expression. */
export function refused(scope: ExpressionScope, reason: string, span: Span): Error {
  return clauseFault(scope.clause, reason, span)
}
