import { unreadable } from '../unreadable.ts'

/** A failure that may be gone the next time. */
export class Passing extends Error {
  readonly wait: number

  constructor(message: string, wait = 0) {
    super(message)
    this.wait = wait
  }
}

/** An address as it may be shown: without its query, which may hold a secret. */
export function shownAddress(url: string): string {
  const { protocol, host, pathname, search } = new URL(url)
  return `${protocol}//${host}${pathname}${search === '' ? '' : '?…'}`
}

/** The error for an address that is not fetched, and will not be the next time. */
export function refusedAddress(url: URL, why: string, cure?: string): Error {
  return unreadable(`The address is refused: ${why}.`, { file: shownAddress(url.href) }, cure)
}

/** What to do about failures that every protocol has. */
export const FETCH_CURES = {
  credentials: 'Name an environment variable that has its credentials with authorization.',
  moved: 'Ask its publisher where the file is now, and correct the url.',
} as const
