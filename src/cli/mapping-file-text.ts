import { readFileSync, statSync } from 'node:fs'
import { Fault, SOURCE_UNREADABLE } from '../errors/errors.ts'
import { MAPPING_INVALID } from '../mapping/diagnostic.ts'

/** Maximum bytes of a mapping file; the readers have a lower limit of their own. */
const MAX_MAPPING = 2 ** 22

/**
 * The text of a mapping file. Throws SourceUnreadable for a file that is missing, a folder or not readable, MappingInvalid for one
 * that is too large or UTF-16.
 */
export function mappingFileText(file: string): string {
  const bytes = bytesOf(file)
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (isUtf16)
    throw invalid(
      file,
      'The mapping is written in UTF-16, mappings are read as UTF-8: save it in that encoding.',
    )
  return bytes.toString('utf8')
}

function bytesOf(file: string): Buffer {
  try {
    const { size } = statSync(file)
    if (size > MAX_MAPPING) throw invalid(file, `A file of ${size} bytes is no mapping.`)
    return readFileSync(file)
  } catch (error) {
    if (error instanceof Fault) throw error
    const code = (error as NodeJS.ErrnoException).code
    const why =
      code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a folder' : String(code)
    throw new Fault(SOURCE_UNREADABLE, { reason: `The mapping cannot be read: ${why}.` }, { place: { file } })
  }
}

function invalid(file: string, reason: string): Fault {
  return new Fault(MAPPING_INVALID, { reason }, { place: { file } })
}
