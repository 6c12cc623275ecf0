import { CONFIG_INVALID } from '../config/faults.ts'
import { isFault, recoded, SOURCE_UNREADABLE } from '../errors/errors.ts'
import { atAddress, fetchedName } from '../sources/address/failures.ts'
import type { Definition } from './definition.ts'

/**
 * Gives the fault of a setting its position in dataset.yaml: that of the setting that it names, else of the source. The fault of
 * fetched data gets their address. Other errors are returned unchanged.
 */
export function placedFault(error: unknown, definition: Definition): unknown {
  const { source, remote, placeOf } = definition
  if (remote !== null && source.path !== undefined && isFault(error, SOURCE_UNREADABLE))
    return atAddress(error, source.path, remote.url)
  if (!isFault(error, CONFIG_INVALID) || error.place.file !== undefined) return error
  const { setting } = error.parts
  const kind = (['path', 'package', 'module'] as const).find(each => source[each] !== undefined)
  const path =
    typeof setting === 'string' ? setting.split('.') : ['source', ...(kind === undefined ? [] : [kind])]
  return recoded(error, CONFIG_INVALID, { place: placeOf(path) })
}

/** Does something with the source of a dataset, whose faults then have their places. */
export async function withPlaces<T>(definition: Definition, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw placedFault(error, definition)
  }
}

/** The name of a source in messages: the address of fetched data. */
export function sourceName(name: string, { source, remote }: Definition): string {
  return remote === null || source.path === undefined ? name : fetchedName(name, source.path, remote.url)
}
