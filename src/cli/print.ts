import { fstatSync, write } from 'node:fs'
import { ignoreRejection } from '../errors/ignore-rejection.ts'

/** Control characters, which a terminal takes as commands (CWE-150), and overrides of the direction of the text around them. */
const CONTROLS = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu

/** Also characters that are not visible. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** A foreign text for a cell of a table: control characters and invisible ones as `\u001b`. */
export function escapedText(text: string): string {
  return text.replace(INVISIBLE, escaped)
}

/** A text for a terminal that may quote foreign ones: control characters as `\u001b`, but tabs and line ends. JSON stays the same JSON. */
export function terminalText(text: string): string {
  return text.replace(CONTROLS, (found, at: number) =>
    found === '\n' || found === '\t' || (found === '\r' && text[at + 1] === '\n') ? found : escaped(found),
  )
}

function escaped(character: string): string {
  const digits = (character.codePointAt(0) ?? 0).toString(16)
  return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`
}

/** Prints a text for people, or JSON, on standard output. */
export function printText(text: string): void {
  process.stdout.write(terminalText(text))
}

/** Prints a text for people on standard error. */
export function printError(text: string): void {
  process.stderr.write(terminalText(text))
}

/** A text as one word of a shell, in quotes. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A path as one word of a shell, in quotes where it needs them. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : shellQuoted(text)
}

/** A number with its noun, in the plural where it is not one. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** Rows as lines whose columns are aligned. @param numbers columns to align on the right */
export function columnsText(rows: readonly (readonly string[])[], numbers: readonly number[] = []): string {
  const lengthOf = (cell = '') => [...cell].length
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map(row => lengthOf(row[at]))))
  const padded = (cell: string, at: number) => {
    const room = ' '.repeat((widths[at] ?? 0) - lengthOf(cell))
    return numbers.includes(at) ? room + cell : cell + room
  }
  return rows.map(row => `${row.map(padded).join('  ').trimEnd()}\n`).join('')
}

/** Prints JSON on standard output. */
export function printJson(value: unknown): void {
  printText(`${JSON.stringify(value, null, 2)}\n`)
}

/** Prints a document on standard output: unchanged if it goes to a file or another program, as {@link terminalText} on a terminal. */
export function printDocument(text: string): void {
  process.stdout.write(process.stdout.isTTY === true ? terminalText(text) : text)
}

/**
 * Writes a document to standard output as fast as it is read; ends the process if the reader closes it. A piece is written while
 * the next one is created: its buffer may be reused once the piece after that is requested.
 */
export async function print(pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  const writePiece = fstatSync(process.stdout.fd).isFile() ? writeToFile : writeToStream
  const decoder = new TextDecoder()
  let writing: Promise<void> = Promise.resolve()
  try {
    for await (const piece of pieces) {
      // Also before an empty one, because the buffer of the previous piece may be reused from now on.
      await writing
      if (piece.length === 0) continue
      writing = writePiece(process.stdout.isTTY === true ? terminalText(textOf(piece, decoder)) : piece)
      void ignoreRejection(writing, 'it is awaited before the next piece')
    }
    await writing
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    process.exit(0)
  }
}

function textOf(piece: string | Uint8Array, decoder: TextDecoder): string {
  return typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
}

function writeToStream(piece: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(piece, error => (error == null ? resolve() : reject(error)))
  })
}

/** Writes without blocking the thread that creates the pieces, as a stream of a file would. */
async function writeToFile(piece: string | Uint8Array): Promise<void> {
  const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
  for (let at = 0; at < bytes.length; ) at += await writeSome(bytes.subarray(at))
}

function writeSome(bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(process.stdout.fd, bytes, (error, count) => (error === null ? resolve(count) : reject(error)))
  })
}
