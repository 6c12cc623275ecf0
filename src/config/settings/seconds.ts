import { Type } from 'typebox'

/** A setting that is a time in seconds. */
export function seconds(description: string) {
  return Type.Optional(Type.Number({ minimum: 0.1, maximum: 86_400, description }))
}
