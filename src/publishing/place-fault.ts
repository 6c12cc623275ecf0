import { CONFIG_INVALID } from '../config/faults.ts'
import { isFault, recoded } from '../errors/errors.ts'
import type { Definition } from './definition.ts'

/**
 * Gives the fault of a setting its position in dataset.yaml: that of the setting that it names, else of the source. Other errors
 * are returned unchanged.
 */
export function placedFault(error: unknown, { source, placeOf }: Definition): unknown {
  if (!isFault(error, CONFIG_INVALID) || error.place.file !== undefined) return error
  const { setting } = error.parts
  const kind = (['path', 'package', 'module'] as const).find(each => source[each] !== undefined)
  const path =
    typeof setting === 'string' ? setting.split('.') : ['source', ...(kind === undefined ? [] : [kind])]
  return recoded(error, CONFIG_INVALID, { place: placeOf(path) })
}
