import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { ACCOUNT_INVALID } from '../accounts/faults.ts'
import { Fault } from '../errors/errors.ts'
import { printError } from './print.ts'

/** Maximum bytes of standard input for the line of the password. */
const MAX_LINE_LENGTH = 64 * 1024

/**
 * The password of a command without one on its command line: prompted twice on a terminal, without echo; otherwise the first line
 * of standard input, or null if that is empty.
 */
export async function readPassword(): Promise<string | null> {
  if (process.stdin.isTTY !== true) return readLine(process.stdin)
  const [first, second] = [await ask('Password: '), await ask('Once more: ')]
  if (first !== second) throw new Fault(ACCOUNT_INVALID, { reason: 'The two passwords are not equal' })
  return first
}

/** A random password of 120 bits. */
export function randomPassword(): string {
  return randomBytes(15).toString('base64url')
}

/** The first line, without its line end; null if there is no input. */
async function readLine(input: AsyncIterable<unknown>): Promise<string | null> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of input) {
    const bytes = Buffer.from(piece as Uint8Array)
    pieces.push(bytes)
    length += bytes.length
    if (bytes.includes(0x0a) || length > MAX_LINE_LENGTH) break
  }
  if (length === 0) return null
  const [line = ''] = Buffer.concat(pieces).toString('utf8').split(/\r?\n/, 1)
  return line
}

function ask(prompt: string): Promise<string> {
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 })
  printError(prompt)
  return new Promise((resolve, reject) => {
    const stop = () => {
      printError('\n')
      reject(new Fault(ACCOUNT_INVALID, { reason: 'No password was given' }))
    }
    lines.once('close', stop)
    lines.once('SIGINT', () => lines.close())
    lines.question('', answer => {
      lines.off('close', stop)
      lines.close()
      printError('\n')
      resolve(answer)
    })
  })
}
