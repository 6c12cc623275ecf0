import { lookup } from '../model/lookup.ts'

/**
 * The catalogue of faults. A fault is what a caller did wrong or what the service cannot do now; anything else
 * that is thrown is a defect and answers 500. Each API renders faults in its own error body.
 *
 * Codes of the REST APIs: REST 5.
 */
export const FAULTS = {
  /** A query in ODSQL that cannot be read or understood. */
  ODSQLError: {
    status: 400,
    message: 'ODSQL query is malformed: {reason} Clause(s) containing the error(s): {clause}.',
  },
  /** A query that cannot be read, where the API tells it apart from one that cannot be understood. */
  ODSQLSyntaxError: {
    status: 400,
    message: 'ODSQL syntax exception: {reason} Clause(s) containing the error(s): {clause}.',
  },
  IncompatibleTypesInComparisonFilter: {
    status: 400,
    message: 'ODSQL query is malformed: {reason} Clause(s) containing the error(s): {clause}.',
  },
  InvalidRESTParameterError: {
    status: 400,
    message: 'Invalid value for {parameter} API parameter: {found} was found but {expected} is expected.',
  },
  BadRequest: { status: 400, message: '{reason}' },
  /** An address of OData, or one of its options, that cannot be read or does not fit the types (OData 4.0 Protocol 9.3). */
  ODataError: { status: 400, message: '{reason}' },
  /** What can be read and is not served (Protocol 9.3.1). */
  ODataUnsupported: { status: 501, message: '{reason}' },
  /** A segment that names nothing (OData service 1.4). */
  ODataSegment: { status: 404, message: "Resource not found for the segment '{segment}'" },
  /** A condition in the headers of the request does not hold (RFC 9110, section 15.5.13). */
  PreconditionFailed: { status: 412, message: '{reason}' },
  UnsupportedMediaType: { status: 415, message: '{reason}' },
  Unauthorised: { status: 401, message: '{what}: credentials are required.' },
  /** A credential that nobody is recognised by: unknown, expired or revoked (Access 1.2). */
  CredentialInvalid: { status: 401, message: '{reason}' },
  ForbiddenAccess: { status: 403, message: "You don't have permission to access the requested resource" },
  /** A form that did not come from our own page. */
  CrossSiteRequest: { status: 403, message: '{reason}' },
  NotFoundResource: { status: 404, message: 'The requested {kind} {id} does not exist.' },
  /** Somebody else has changed what is to be changed. */
  Conflict: { status: 409, message: '{reason}' },
  /** More bytes than are taken (RFC 9110, section 15.5.14). */
  ContentTooLarge: { status: 413, message: '{reason}' },
  /** A version that is not stored, or never was. */
  VersionUnknown: { status: 404, message: 'The dataset {id} has no version {version}. {retained}' },
  Gone: { status: 410, message: '{reason}' },
  MethodNotAllowed: { status: 405, message: 'Method {method} is not allowed here: use {allowed}.' },
  NotAcceptable: {
    status: 406,
    message: 'None of the accepted media types can be served. Available: {available}.',
  },
  /** What was understood and cannot be written in the format that was asked for (RFC 9110, section 15.5.21). */
  UnprocessableEntity: { status: 422, message: '{reason}' },
  TooManyAttempts: { status: 429, message: '{reason}' },
  /** The budget of work of a client is used up, and others ask. */
  TooMuchWork: {
    status: 429,
    message:
      'Your requests have used up the work that one client may ask for while others are waiting. Try again in {seconds} s.',
  },
  /** Too many answers to one client are under way. */
  TooManyAnswers: {
    status: 429,
    message:
      '{found} {what} of yours are being answered, which is as many as may be. Try again when one of them is done.',
  },
  RequestTooLong: { status: 414, message: '{reason}' },
  /** Another portal that was asked for its part of the answer gave none. */
  BadGateway: { status: 502, message: '{reason}' },
  DeadlineExceeded: { status: 503, message: 'The query took longer than {seconds} s and was stopped.' },
  StoreBusy: { status: 503, message: 'The store cannot take more queries now. Try again in a moment.' },
  /** The system refuses another file or connection. */
  TooManyOpenFiles: {
    status: 503,
    message: 'The service has too many files and connections open at once. Try again in a moment.',
  },
  StoreUnavailable: { status: 503, message: 'The store is not ready: {reason}' },
  NotPublishedYet: { status: 503, message: 'The dataset {id} is being published. Try again in a moment.' },
  DatasetDamaged: {
    status: 503,
    message: 'The dataset {id} cannot be served: the files of its published version are damaged.',
  },
  /** A list of datasets that lacks some: whoever copies it would take them for withdrawn. */
  CatalogIncomplete: {
    status: 503,
    message:
      'Datasets served so far: {served} of {expected}. The others are being loaded or published. Try again in a moment.',
  },
  InternalError: { status: 500, message: 'The service met an unexpected condition. It has been logged.' },

  /** Faults of publishing and of the command line; their status only matters where an endpoint shows them. */
  StoreFull: { status: 507, message: '{reason}' },
  LoadRefused: { status: 500, message: '{reason}' },
  ConfigInvalid: { status: 500, message: '{reason}' },
  SourceUnreadable: { status: 500, message: '{reason}' },
  MappingInvalid: { status: 500, message: '{reason}' },
  /** A file of SHACL shapes that cannot be read, or applied. */
  ShapesInvalid: { status: 500, message: '{reason}' },
  /** What accounts cannot take: its reason says what was found and what is expected. */
  AccountInvalid: { status: 400, message: '{reason}' },
  AccountUnknown: { status: 404, message: '{reason}' },
  /** The database of accounts cannot be opened, read or written now. */
  AccountsUnavailable: { status: 503, message: '{reason}' },
  Usage: { status: 500, message: '{reason}' },
} as const satisfies Record<string, { readonly status: number; readonly message: string }>

/** The name of a fault in the catalogue. */
export type FaultCode = keyof typeof FAULTS

/** Where a fault lies: a file and place in it, or a span of characters in a text. */
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

/** Something that went wrong and that the catalogue knows: thrown anywhere, rendered at the edge. */
export class Fault extends Error {
  readonly code: FaultCode
  readonly status: number
  readonly place: FaultPlace
  readonly hint: string | undefined
  /** What fills the message. */
  readonly parts: Readonly<Record<string, string | number>>

  /**
   * @param code entry of the catalogue
   * @param parts fills the `{…}` of the catalogue's message
   * @param more place of the fault and a hint in plain words
   */
  constructor(
    code: FaultCode,
    parts: Readonly<Record<string, string | number>> = {},
    more: { readonly place?: FaultPlace; readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super(fill(FAULTS[code].message, parts), more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'Fault'
    this.code = code
    this.status = FAULTS[code].status
    this.place = more.place ?? {}
    this.hint = more.hint
    this.parts = parts
  }
}

/** The same fault under another code of the catalogue. */
export function recoded(fault: Fault, code: FaultCode): Fault {
  const { parts, place, hint } = fault
  return new Fault(code, parts, { place, ...(hint === undefined ? {} : { hint }), cause: fault })
}

function fill(template: string, parts: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (_, key: string) => String(lookup(parts, key) ?? ''))
}

/** `file:line:column: ` as far as the place is known, for messages on a terminal. */
export function placeText(place: FaultPlace): string {
  const parts = [place.file, place.line, place.line === undefined ? undefined : place.column]
  const known = parts.filter(part => part !== undefined)
  return known.length === 0 ? '' : `${known.join(':')}: `
}

/** A fault as a terminal shows it: place where the message does not tell the file already, message, hint. */
export function faultText({ message, place, hint }: Fault): string {
  const described = place.file !== undefined && message.includes(place.file)
  return `${described ? '' : placeText(place)}${message}${hint === undefined ? '' : `\n  ${hint}`}`
}

/** What an error means by which the system refuses another file or connection, in words; null for any other error. */
export function openFilesText(error: unknown): string | null {
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  if (code !== 'EMFILE' && code !== 'ENFILE') return null
  const whose = code === 'EMFILE' ? 'this process' : 'this machine'
  return `${whose} has as many files and connections open at once as it may have: raise the limit (ulimit -n, LimitNOFILE of systemd)`
}

/** Longest reason that the error of a clause tells, in bytes of its JSON, so that a whole error body stays under 1 kB. */
const MAX_REASON = 700

/** A text cut to what an error body can hold. */
export function shortened(text: string): string {
  if (Buffer.byteLength(JSON.stringify(text)) <= MAX_REASON) return text
  let characters = [...text].slice(0, MAX_REASON)
  while (Buffer.byteLength(JSON.stringify(characters.join(''))) > MAX_REASON)
    characters = characters.slice(0, characters.length * 0.8)
  return `${characters.join('')}…`
}

/**
 * The fault of a clause of a query: reason in plain words, clause and span, as every error of the language tells
 * them (ODSQL 8.1).
 *
 * @param span character offsets into the text of the clause
 */
export function clauseFault(
  clause: string,
  reason: string,
  span: { readonly from: number; readonly to: number },
  hint?: string,
  code: 'ODSQLError' | 'IncompatibleTypesInComparisonFilter' = 'ODSQLError',
): Fault {
  const described = hint === undefined ? reason : `${reason} (${hint})`
  const short = shortened(described)
  const place = { from: span.from, to: span.to }
  return new Fault(code, { reason: `${short}.`, clause }, { place, ...(hint === undefined ? {} : { hint }) })
}

/**
 * The fault of an option of OData: what is wrong in plain words, and where in the text of the option as it was decoded.
 *
 * @param option with its `$`, or `path`
 * @param span character offsets into that text
 */
export function odataFault(
  option: string,
  reason: string,
  span: { readonly from: number; readonly to: number },
  code: 'ODataError' | 'ODataUnsupported' = 'ODataError',
): Fault {
  const short = shortened(reason)
  const described = `${option}, position ${span.from + 1}: ${short}.`
  return new Fault(code, { reason: described }, { place: { from: span.from, to: span.to } })
}
