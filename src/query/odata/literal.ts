import type { ODataLiteral } from '../../language/odata/ast.ts'
import { integerValue } from '../../model/exact-json.ts'
import { dateBounds, parseDate } from '../date-literals.ts'
import { type Scope, unserved, wrong } from './scope.ts'
import {
  constantOf,
  type PrimitiveKind,
  type TypedConstant,
  type TypedExpression,
} from './typed-expression.ts'

/** The typed value of a literal. Moments and dates that do not exist in the calendar are refused. */
export function typedLiteral(node: ODataLiteral, scope: Scope): TypedExpression {
  const { value, of, span } = node
  switch (of) {
    case 'Edm.String':
      return constantOf('string', String(value))
    case 'Edm.Boolean':
      return constantOf('boolean', value === true)
    case 'Edm.Int32':
    case 'Edm.Int64':
      return typedInteger(node.text, Number(value))
    case 'Edm.Decimal':
      return constantOf('decimal', Number(value))
    case 'Edm.Double':
      return constantOf('double', Number(value))
    case 'Edm.Date':
    case 'Edm.DateTimeOffset':
      return moment(of === 'Edm.Date' ? 'date' : 'moment', String(value), span, scope)
    case 'Edm.TimeOfDay':
      return constantOf('time', secondsOf(String(value)))
    case 'Edm.Duration':
      return constantOf('duration', Number(value))
    case 'Edm.Guid':
      return constantOf('guid', String(value))
    case 'Edm.Binary':
      return constantOf('binary', String(value))
    case 'Edm.Geography':
      return constantOf('geography', String(value))
    case 'Edm.Enum':
      throw unserved(scope, 'An enumeration', span)
  }
}

/** A whole number, exact up to 64 bits. */
function typedInteger(digits: string, value: number): TypedExpression {
  const exact = /^[+-]?\d+$/.test(digits) ? integerValue(BigInt(digits.replace('+', ''))) : value
  return exact === undefined ? constantOf('decimal', value) : constantOf('int', exact)
}

function moment(
  kind: Extract<PrimitiveKind, 'date' | 'moment'>,
  text: string,
  span: ODataLiteral['span'],
  scope: Scope,
): TypedConstant {
  const constant = parseDate(text)
  if (constant === null) throw wrong(scope, `There is no day or time ${text.slice(0, 40)}`, span)
  const { start } = dateBounds(constant, kind === 'date' ? 'date' : 'datetime', 'UTC')
  return { ...constantOf(kind, start), offset: constant.offset ?? 0 }
}

function secondsOf(text: string): number {
  const [hour = 0, minute = 0, second = 0] = text.split(':').map(Number)
  return (hour * 60 + minute) * 60 + second
}
