import { Type } from 'typebox'

/** A setting with a duration in seconds. */
export function seconds(description: string) {
  return Type.Optional(Type.Number({ minimum: 0.1, maximum: 86_400, description }))
}
