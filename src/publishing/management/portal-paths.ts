import path from 'node:path'
import { BAD_REQUEST, Fault, isFault } from '../../errors/errors.ts'

/**
 * A text with its paths from the portal folder on: publishers are not shown where that is on the machine.
 *
 * @param folders of the portal and of a draft, the longer one first
 */
export function pathsInPortal(text: string, folders: readonly string[]): string {
  return folders.reduce((shown, folder) => shown.replaceAll(`${folder}${path.sep}`, ''), text)
}

/** Does something whose faults show paths from the portal folder on. */
export async function withoutFolders<T>(folders: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isFault(error, BAD_REQUEST)) throw error
    const { message, place, hint } = error
    const shown = (text: string) => pathsInPortal(text, folders)
    throw new Fault(
      BAD_REQUEST,
      { reason: shown(message) },
      {
        place: place.file === undefined ? place : { ...place, file: shown(place.file) },
        ...(hint === undefined ? {} : { hint: shown(hint) }),
        cause: error,
      },
    )
  }
}
