import { unreadable } from '../unreadable.ts'

/** A transient failure, which is retried. */
export class Passing extends Error {
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

/** The error for an address that cannot be fetched, now or later. */
export function refusedAddress(url: URL, why: string, cure?: string): Error {
  return unreadable(`The address is refused: ${why}.`, { file: shownAddress(url.href) }, cure)
}

/** Advice for failures that are common to all protocols. */
export const FETCH_CURES = {
  credentials: 'Name an environment variable that has its credentials with authorization.',
  moved: 'Ask its publisher where the file is now, and correct the url.',
} as const
