import type { FieldType } from '../../model/field.ts'
import { messageKey } from '../../site/page-context.ts'

/** The types of fields as visitors and publishers read them. */
export const TYPE_NAMES: Readonly<Record<FieldType, string>> = {
  text: messageKey('Text'),
  int: messageKey('Whole number'),
  double: messageKey('Decimal number'),
  boolean: messageKey('Yes or no'),
  date: messageKey('Date'),
  datetime: messageKey('Date and time'),
  geo_point_2d: messageKey('Point on the map'),
  geo_shape: messageKey('Shape on the map'),
}
