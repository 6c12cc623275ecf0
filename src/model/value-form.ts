import type { FieldType } from './field.ts'
import type { Geometry, Value } from './value.ts'
import { parseWkt } from './wkt.ts'

/** The value of a field from the lexical form of the direct mapping. */
export function valueOfForm(form: string, type: FieldType): Value {
  switch (type) {
    case 'text':
    case 'date':
    case 'datetime':
      return form
    case 'int': {
      const number = Number(form)
      return Number.isSafeInteger(number) || !/^-?\d+$/.test(form) ? number : BigInt(form)
    }
    case 'double':
      return Number(form)
    case 'boolean':
      return form === 'true'
    case 'geo_point_2d': {
      const [lon, lat] = POINT.exec(form)?.slice(1).map(Number) ?? []
      return lon === undefined || lat === undefined ? null : { lon, lat }
    }
    case 'geo_shape':
      return (parseWkt(form) ?? null) as Geometry | null
  }
}

const POINT = /^POINT\((\S+) (\S+)\)$/
