import { lookup } from '../model/lookup.ts'

/**
 * A declared fault: an error of the caller, or something that the service cannot do now; any other exception is a defect and
 * results in status 500. Faults of one folder are declared there, where they are thrown; those below belong to no folder.
 */
export interface DeclaredFault<Message extends string = string> {
  /** Identifies it in error bodies; the codes of all faults are distinct. */
  readonly code: string
  readonly status: number
  /** With `{…}` for the parts that the thrower supplies. */
  readonly message: Message
  /** False if a call with this fault does not count for quotas. */
  readonly isCounted: boolean
}

/**
 * Declares a fault.
 *
 * @param code as in error bodies; those of the REST APIs: REST 5
 * @param status of HTTP, even if no endpoint shows it
 * @param message with `{…}` for the parts
 */
export function declareFault<Message extends string>(
  code: string,
  status: number,
  message: Message,
  { isCounted = true }: { readonly isCounted?: boolean } = {},
): DeclaredFault<Message> {
  return { code, status, message, isCounted }
}

export const BAD_REQUEST = declareFault('BadRequest', 400, '{reason}')
export const UNAUTHORISED = declareFault('Unauthorised', 401, '{what}: credentials are required.')
export const FORBIDDEN_ACCESS = declareFault(
  'ForbiddenAccess',
  403,
  "You don't have permission to access the requested resource",
)
export const NOT_FOUND_RESOURCE = declareFault(
  'NotFoundResource',
  404,
  'The requested {kind} {id} does not exist.',
)
/** A version that is not stored, or never was. */
export const VERSION_UNKNOWN = declareFault(
  'VersionUnknown',
  404,
  'The dataset {id} has no version {version}. {retained}',
)
export const METHOD_NOT_ALLOWED = declareFault(
  'MethodNotAllowed',
  405,
  'Method {method} is not allowed here: use {allowed}.',
)
export const NOT_ACCEPTABLE = declareFault(
  'NotAcceptable',
  406,
  'None of the accepted media types can be served. Available: {available}.',
)
/** A concurrent change of the same object. */
export const CONFLICT = declareFault('Conflict', 409, '{reason}')
export const GONE = declareFault('Gone', 410, '{reason}')
/** A condition in the headers of the request does not hold (RFC 9110, section 15.5.13). */
export const PRECONDITION_FAILED = declareFault('PreconditionFailed', 412, '{reason}')
/** The content exceeds the limit (RFC 9110, section 15.5.14). */
export const CONTENT_TOO_LARGE = declareFault('ContentTooLarge', 413, '{reason}')
export const UNSUPPORTED_MEDIA_TYPE = declareFault('UnsupportedMediaType', 415, '{reason}')
/** A valid request whose result cannot be written in the requested format (RFC 9110, section 15.5.21). */
export const UNPROCESSABLE_ENTITY = declareFault('UnprocessableEntity', 422, '{reason}')
export const INTERNAL_ERROR = declareFault(
  'InternalError',
  500,
  'The service met an unexpected condition. It has been logged.',
)
/** A file that does not conform to its format, or cannot be read at all. */
export const SOURCE_UNREADABLE = declareFault('SourceUnreadable', 500, '{reason}')
/** Another portal did not provide its part of the response. */
export const BAD_GATEWAY = declareFault('BadGateway', 502, '{reason}')

/** The position of a fault: a file and a position in it, or a range of characters in a text. */
export interface FaultPlace {
  readonly file?: string
  /** 1-based. */
  readonly line?: number
  /** 1-based. */
  readonly column?: number
  /** Character offsets into the text, from inclusive, to exclusive. */
  readonly from?: number
  readonly to?: number
}

/** The values for the `{…}` of a message, by name. */
type FaultParts = Readonly<Record<string, string | number>>

/** The names in the `{…}` of a message. */
type PartName<Message extends string> = Message extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PartName<Rest>
  : never

interface FaultDetails {
  readonly place?: FaultPlace
  readonly hint?: string
  readonly cause?: unknown
}

/** The further arguments of a fault: none are required if its message has no parts. */
type FaultArguments<Message extends string> =
  PartName<Message> extends never
    ? [parts?: FaultParts, details?: FaultDetails]
    : [parts: FaultParts & Readonly<Record<PartName<Message>, string | number>>, details?: FaultDetails]

/** A declared fault that occurred: thrown anywhere, rendered by each API in its own error body. */
export class Fault<Message extends string = string> extends Error {
  readonly code: string
  readonly status: number
  readonly isCounted: boolean
  readonly place: FaultPlace
  readonly hint: string | undefined
  /** The values for the message, which are also available to handlers. */
  readonly parts: FaultParts

  /**
   * @param declared code, status and message
   * @param parts values for the `{…}` of the message
   * @param details position of the fault and a hint in plain words
   */
  constructor(declared: DeclaredFault<Message>, ...[parts = {}, details = {}]: FaultArguments<Message>) {
    const { code, status, message, isCounted } = declared
    const { place = {}, hint, cause } = details
    super(fill(message, parts), cause === undefined ? undefined : { cause })
    this.name = 'Fault'
    this.code = code
    this.status = status
    this.isCounted = isCounted
    this.place = place
    this.hint = hint
    this.parts = parts
  }
}

/** True for a fault with one of these declarations. */
export function isFault(error: unknown, ...declared: readonly DeclaredFault[]): error is Fault {
  return error instanceof Fault && declared.some(({ code }) => code === error.code)
}

/** A fault with another declaration or another hint. */
export function recoded(fault: Fault, declared: DeclaredFault, details: FaultDetails = {}): Fault {
  const { parts, place, hint } = fault
  return new Fault(declared, parts, {
    place,
    ...(hint === undefined ? {} : { hint }),
    ...details,
    cause: fault,
  })
}

function fill(template: string, parts: FaultParts): string {
  return template.replace(/\{(\w+)\}/g, (_, key: string) => String(lookup(parts, key) ?? ''))
}

/** `file:line:column: ` as far as the position is known, for messages on a terminal. */
export function placeText(place: FaultPlace): string {
  const parts = [place.file, place.line, place.line === undefined ? undefined : place.column]
  const known = parts.filter(part => part !== undefined)
  return known.length === 0 ? '' : `${known.join(':')}: `
}

/** A fault as shown on a terminal: position unless the message names the file, message, hint. */
export function faultText({ message, place, hint }: Fault): string {
  const described = place.file !== undefined && message.includes(place.file)
  return `${described ? '' : placeText(place)}${message}${hint === undefined ? '' : `\n  ${hint}`}`
}

/** Describes a system error caused by too many open files or connections; null for any other error. */
export function openFilesText(error: unknown): string | null {
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  if (code !== 'EMFILE' && code !== 'ENFILE') return null
  const whose = code === 'EMFILE' ? 'this process' : 'this machine'
  return `${whose} has as many files and connections open at once as it may have: raise the limit (ulimit -n, LimitNOFILE of systemd)`
}

/** Codes of system errors about a disk without room. */
export const DISK_FULL_CODES = ['ENOSPC', 'EDQUOT'] as const

/** True for an error that a disk without room has caused. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as NodeJS.ErrnoException
  return DISK_FULL_CODES.some(full => full === code) || isDiskFull(error.cause)
}

/** Codes of system errors of a file or folder that was named: they are no defects of the program. */
const FILE_ERRORS: ReadonlySet<unknown> = new Set(['EACCES', 'EISDIR', 'ENOTDIR', 'EPERM', 'EROFS'])

/**
 * Describes a system error that is no defect of the program: a full disk, a file or folder that cannot be read or written, too
 * many open files; null for any other error.
 */
export function systemErrorText(error: unknown): string | null {
  const { code, path, message } = (error ?? {}) as NodeJS.ErrnoException
  if (code === 'ENOSPC') return `the disk is full: ${message}`
  if (code === 'EDQUOT') return `the disk quota is used up: ${message}`
  return openFilesText(error) ?? (FILE_ERRORS.has(code) && path !== undefined ? message : null)
}

/** Maximum bytes of the JSON of a reason in the error of a clause, so that a whole error body stays under 1 kB. */
const MAX_REASON = 700

/** A text truncated to the maximum length in an error body. */
export function shortened(text: string): string {
  if (Buffer.byteLength(JSON.stringify(text)) <= MAX_REASON) return text
  let characters = [...text].slice(0, MAX_REASON)
  while (Buffer.byteLength(JSON.stringify(characters.join(''))) > MAX_REASON)
    characters = characters.slice(0, characters.length * 0.8)
  return `${characters.join('')}…`
}
