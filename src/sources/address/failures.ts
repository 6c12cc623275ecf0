import { isFault, recoded, SOURCE_UNREADABLE } from '../../errors/errors.ts'
import { words } from '../../model/words.ts'
import { unreadable } from '../source.ts'

/** A transient failure, which is retried. */
export class TransientFailure extends Error {
  readonly wait: number

  constructor(message: string, wait = 0) {
    super(message)
    this.wait = wait
  }
}

/** An address for messages: without its query, which may contain a secret. */
export function shownAddress(url: string): string {
  const { protocol, host, pathname, search } = new URL(url)
  return `${protocol}//${host}${pathname}${search === '' ? '' : '?…'}`
}

/** A name in messages about fetched data: the address in place of the file that they were saved as, which nobody knows. */
export function fetchedName(name: string, file: string, url: string): string {
  return name === file || name.startsWith(`${file}/`) ? shownAddress(url) + name.slice(file.length) : name
}

/** An error of fetched data, with the address in place of the file that they were saved as; other errors are returned unchanged. */
export function atAddress(error: unknown, file: string, url: string): unknown {
  if (!isFault(error, SOURCE_UNREADABLE) || error.place.file === undefined) return error
  const place = { ...error.place, file: fetchedName(error.place.file, file, url) }
  return recoded(error, SOURCE_UNREADABLE, { place })
}

/** The error for an address that cannot be fetched, now or later. */
export function refusedAddress(url: URL, why: string, cure?: string): Error {
  return unreadable(`The address is refused: ${why}.`, { file: shownAddress(url.href) }, cure)
}

/** Advice for failures that are common to all protocols. */
export const FETCH_CURES = {
  credentials: 'Name an environment variable that has its credentials with authorization.',
  moved: 'Ask its publisher where the file is now, and correct the url.',
} as const

/** Codes of OpenSSL and Node for certificates whose issuer is unknown here. */
const UNKNOWN_ISSUERS: ReadonlySet<unknown> = new Set(
  words(
    'CERT_UNTRUSTED DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ),
)

/** Codes for certificates that are wrong whoever issued them. */
const WRONG_CERTIFICATES: ReadonlySet<unknown> = new Set(
  words(
    'CERT_CHAIN_TOO_LONG CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REJECTED CERT_REVOKED',
    'CERT_SIGNATURE_FAILURE ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH INVALID_CA INVALID_PURPOSE',
    'PATH_LENGTH_EXCEEDED',
  ),
)

/** The error for a broken connection: transient, unless the certificate of the server cannot be verified. */
export function connectionFailure(error: Error, url: URL): Error {
  const { code } = error as NodeJS.ErrnoException
  const isUnknown = UNKNOWN_ISSUERS.has(code)
  if (!isUnknown && !WRONG_CERTIFICATES.has(code)) return new TransientFailure(error.message)
  return refusedAddress(
    url,
    `its certificate cannot be verified (${cutLine(error.message)})`,
    isUnknown
      ? 'If an own authority issued it, name the file of the certificate of the authority (PEM) in the environment variable NODE_EXTRA_CA_CERTS.'
      : 'Correct the host of the url and the clock of this machine, or ask the operator of the host to replace the certificate.',
  )
}

/** Maximum length of the text of another program in a message. */
const MAX_LENGTH = 200

/** A text of another program for a message: on one line, cut, without a full stop. */
export function cutLine(text: string): string {
  const line = text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .replace(/\.$/, '')
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line
}
