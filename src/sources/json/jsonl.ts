import { BATCH_CHARACTERS, BATCH_ROWS, type RecordSource, type SourceRow, unreadable } from '../source.ts'
import { fileNameOf, readText, type TextFile } from '../text/text.ts'
import { DoubleKeys } from './double-keys.ts'
import { type JsonObject, parseJson } from './json.ts'

/** A file of JSON Lines, or a sequence of JSON texts (RFC 7464): each line is an object and a record; blank lines are skipped. */
export function jsonlSource(file: TextFile): RecordSource {
  const keys = new DoubleKeys()
  return {
    name: fileNameOf(file),
    textual: false,
    read: () => readRows(file, keys),
    warnings: () => keys.warnings(),
  }
}

/** Maximum characters of one line. */
const MAX_LINE = 1 << 28

async function* readRows(file: TextFile, keys: DoubleKeys): AsyncIterable<readonly SourceRow[]> {
  let batch: SourceRow[] = []
  let row = 0
  let line = 0
  let characters = 0
  keys.clear()
  for await (const lines of readLines(file)) {
    for (const whole of lines) {
      line++
      // The sign at the beginning of each text of a sequence is a blank in a line.
      const text = whole.startsWith('\u001e') ? ` ${whole.slice(1)}` : whole
      if (text.trim() === '') continue
      const data = objectOf(text, line, fileNameOf(file))
      keys.note(text, data, line, 1)
      batch.push({ row: ++row, line, data })
      characters += text.length
      if (batch.length < BATCH_ROWS && characters < BATCH_CHARACTERS) continue
      yield batch
      batch = []
      characters = 0
    }
  }
  if (batch.length > 0) yield batch
}

/** Lines end with LF or CRLF; a carriage return at the end is a blank in JSON. */
async function* readLines(file: TextFile): AsyncIterable<readonly string[]> {
  const buffered: string[] = []
  let cachedLength = 0
  let line = 1
  for await (const text of readText(file)) {
    const lines = text.split('\n')
    const rest = lines.pop() as string
    if (lines.length > 0) {
      lines[0] = buffered.join('') + lines[0]
      buffered.length = cachedLength = 0
      line += lines.length
      yield lines
    }
    if (rest !== '') buffered.push(rest)
    cachedLength += rest.length
    if (cachedLength > MAX_LINE)
      throw unreadable(
        'The line is too long for a record.',
        { file: fileNameOf(file), line, column: 1 },
        'Put one record on each line.',
      )
  }
  if (buffered.length > 0) yield [buffered.join('')]
}

function objectOf(text: string, line: number, name: string): JsonObject {
  const value = parseJson(text, name, line)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  const column = text.length - text.trimStart().length + 1
  throw unreadable(
    'A record must be an object.',
    { file: name, line, column },
    'Make each record an object: { "name": "A" }.',
  )
}
