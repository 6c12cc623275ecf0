import { CONFIG_INVALID } from '../config/faults.ts'
import { Fault, type FaultPlace, isFault, SOURCE_UNREADABLE } from '../errors/errors.ts'

/** One row of a source before its values are typed. */
export interface SourceRow {
  /** 1-based number of the record in the source; a header is not counted. */
  readonly row: number
  /** 1-based line on which the record begins, if the format has lines. */
  readonly line: number | undefined
  /** Columns by name, or the JSON object. Text formats give strings; JSON formats give any JSON value. */
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * A file, package or module that can be read repeatedly, in batches so that a long file is never completely in memory if its
 * format allows that.
 */
export interface RecordSource {
  /** Name for messages: `trees.csv`. */
  readonly name: string
  /** True for formats whose values are untyped text (CSV, TSV). */
  readonly textual: boolean
  /** Reads the names of the columns in order, if the format has a header with them. */
  readonly columns?: () => Promise<readonly string[]>
  /** The units of columns, once {@link columns} was read, if the format has a row with them. */
  readonly units?: () => ReadonlyMap<string, string>
  /** Reads from the start. Throws SourceUnreadable with file, line and column. */
  read(): AsyncIterable<readonly SourceRow[]>
  /** What was found in the latest reading that the publisher should correct, although it could be read. */
  readonly warnings?: () => readonly string[]
}

/** Approximate rows of a batch: enough to amortise its overhead, few enough to use little memory. */
export const BATCH_ROWS = 1000

/** Characters of a text, or bytes, after which a batch of fewer rows ends: geometries take several times their size in memory. */
export const BATCH_CHARACTERS = 2 ** 21

/** Rows in lists of about {@link BATCH_CHARACTERS} at most. */
export function* inPieces<Row>(
  rows: readonly Row[],
  sizeOf: (row: Row) => number,
): Generator<readonly Row[]> {
  let from = 0
  let size = 0
  for (const [at, row] of rows.entries()) {
    size += sizeOf(row)
    if (size < BATCH_CHARACTERS && at < rows.length - 1) continue
    yield rows.slice(from, at + 1)
    from = at + 1
    size = 0
  }
}

/** Advice for files whose bytes do not conform to their format. */
export const DAMAGED = 'The file is damaged: get it again, or write it again with the program that made it.'

/** The fault of a source whose content does not conform to its format, with an exact position. */
export function unreadable(reason: string, place: FaultPlace, hint?: string, cause?: unknown): Fault {
  return new Fault(
    SOURCE_UNREADABLE,
    { reason },
    { place, ...(hint === undefined ? {} : { hint }), ...(cause === undefined ? {} : { cause }) },
  )
}

/** The fault of a source with several parts, one of which has to be chosen by an option. */
export function undecided(reason: string, option: 'file' | 'sheet', file: string, hint: string): Fault {
  return new Fault(SOURCE_UNREADABLE, { reason, option }, { place: { file }, hint })
}

/** True for the fault of a source that an option decides. */
export function isUndecided(error: unknown): boolean {
  return isFault(error, SOURCE_UNREADABLE) && error.parts.option !== undefined
}

/** The fault of a file that cannot be opened or read, from the error of the system. */
export function fileUnreadable(error: unknown, file: string): Fault {
  return unreadable(
    `The file cannot be read: ${whyNot(error)}.`,
    { file },
    'Make sure that the file is there and that the server may read it.',
    error,
  )
}

function whyNot(error: unknown): string {
  const { code } = error as { readonly code?: unknown }
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'it is a folder'
  if (code === 'EACCES') return 'permission is denied'
  if (code === 'Z_BUF_ERROR') return 'the gzip data end too soon'
  return error instanceof Error ? error.message : String(error)
}

/**
 * The fault of an invalid setting in dataset.yaml.
 *
 * @param setting its path there, or within its field: `options.encoding`, `format`; the source by default
 */
export function misconfigured(reason: string, hint?: string, setting?: string): Fault {
  const parts = setting === undefined ? { reason } : { reason, setting }
  return new Fault(CONFIG_INVALID, parts, hint === undefined ? {} : { hint })
}

/** `x was found`, `U+000A was found`, `the text ends`: the second half of a message about an unexpected character. */
export function shown(character: string | undefined): string {
  if (character === undefined) return 'the text ends'
  const code = character.codePointAt(0) ?? 0
  const name =
    code > 0x20 && code !== 0x7f ? character : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  return `${name} was found`
}
