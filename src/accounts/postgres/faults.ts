import { Fault, isFault } from '../../errors/errors.ts'
import { ACCOUNTS_UNAVAILABLE } from '../faults.ts'

/** Reasons of external errors, by the prefix of the SQLSTATE. */
const REASONS = [
  ['28', 'refuses the user or the password'],
  ['3D000', 'does not exist: create it, or correct the setting accounts'],
  ['42501', 'does not let this user do it: the user needs to own the database, or the right CREATE on it'],
  ['22P05', 'cannot store these characters: it needs the encoding UTF8'],
  ['53300', 'has no free connection'],
  ['53', 'has not enough memory, disk or connections'],
  ['25006', 'is read-only: a standby cannot serve as the database of accounts'],
  ['25P0', 'was waited for too long'],
  ['55P03', 'is being written by another process: try again in a moment'],
  ['40', 'is being written by another process: try again in a moment'],
  ['57014', 'took too long'],
  ['57', 'is being stopped or started'],
  ['08', 'was disconnected'],
  ['58', 'met an error of its disk'],
  ['XX', 'is damaged: restore a backup'],
] as const

/** Permanent errors: a setting or the database has to be changed. */
const LASTING = /^(?:28|3D000|42501|25006)/

/**
 * Converts external errors to faults; any other error is a defect and returned unchanged. Of the driver's error only the code
 * is reported: its message may contain the address with its password. Anonymous clients get only the message.
 *
 * @param where the database for operators, without credentials
 */
export function faultOf(error: unknown, where: string): unknown {
  if (error instanceof Fault || !(error instanceof Error)) return error
  const code = codeOf(error)
  const reason = isSqlState(code)
    ? REASONS.find(([begin]) => code.startsWith(begin))?.[1]
    : reasonOfConnection(error, code)
  if (reason === undefined) return error
  const described = { reason: `the database of accounts ${reason}` }
  return new Fault(ACCOUNTS_UNAVAILABLE, described, { hint: `It is ${where}.`, cause: causeOf(error, code) })
}

/** True for transient errors, after which a retry may succeed. */
export function isPassing(error: unknown): boolean {
  if (!isFault(error, ACCOUNTS_UNAVAILABLE)) return false
  const { cause } = error
  return cause instanceof Error && !LASTING.test(codeOf(cause)) && !isOfFile(cause)
}

/** True if the connection is unusable after the error; errors reported by the server leave it intact. */
export function isBroken(error: unknown): boolean {
  const code = error instanceof Error ? codeOf(error) : ''
  return !(error instanceof Fault) && !(isSqlState(code) && !/^(?:08|57|25)/.test(code))
}

/** True for codes of a server, not of the operating system (`EPIPE`). */
function isSqlState(code: string): boolean {
  return /^(?!E)[0-9A-Z]{5}$/.test(code)
}

/** True if a certificate or a key of the address cannot be read. */
function isOfFile(error: Error): boolean {
  return (error as NodeJS.ErrnoException).syscall === 'open'
}

function codeOf(error: Error): string {
  const { code, errors } = error as { readonly code?: unknown; readonly errors?: readonly unknown[] }
  if (typeof code === 'string') return code
  // A host name with several addresses gives an error for each.
  const [first] = errors ?? []
  return first instanceof Error ? codeOf(first) : ''
}

/** The reason of a connection error of the driver or the operating system. */
function reasonOfConnection(error: Error, code: string): string | undefined {
  if (isOfFile(error)) return `needs a file that cannot be read: ${code}. Correct the setting accounts`
  if (/^(?:E[A-Z_]+|ERR_(?:TLS|SSL)\w*|CERT_\w+|\w*SELF_SIGNED\w*|UNABLE_TO_\w+)$/.test(code))
    return `cannot be reached: ${code}`
  const { message } = error
  if (/SSL/.test(message)) return 'does not offer TLS: correct sslmode in the setting accounts'
  if (/timeout|timed out/i.test(message)) return 'does not answer in time'
  if (/SASL|password/i.test(message)) return 'asks for a password, and none was given'
  if (/terminated|closed|ended|not queryable/i.test(message)) return 'was disconnected'
  return undefined
}

/** The error without the parts that may reveal the address. */
function causeOf(error: Error, code: string): Error {
  const { syscall, stack } = error as NodeJS.ErrnoException
  const places = stack?.split('\n').filter(line => line.startsWith('    at '))
  return Object.assign(new Error(code === '' ? 'connection' : code), {
    code,
    syscall,
    stack: places?.join('\n'),
  })
}
