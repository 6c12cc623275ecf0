import type { ClauseName, Expression, Span } from '../../language/odsql/ast.ts'
import { clauseFault } from '../../language/odsql/faults.ts'
import type { RowData } from '../../sources/fields.ts'
import type { Plain } from './values.ts'

/** An expression of ODSQL made ready for rows, with the columns that it reads. */
export interface CompiledExpression<T> {
  readonly evaluate: (row: RowData) => T
  readonly columns: readonly string[]
}

/** A value computed from one row. */
export type ProcessorValue = (row: RowData) => Plain

/** A condition of one row: what meets an absent value does not hold. */
export type Test = (row: RowData) => boolean

/** What the compiler of an expression knows, and what it collects. */
export interface ExpressionScope {
  readonly clause: ClauseName
  readonly columns: Set<string>
  readonly readerOf: (column: string) => (row: RowData) => unknown
  /** Compiles a part of the expression that is a value. */
  readonly compile: (node: Expression) => ProcessorValue
}

/** The fault of an expression. */
export function refused(scope: ExpressionScope, reason: string, span: Span): Error {
  return clauseFault(scope.clause, reason, span)
}
