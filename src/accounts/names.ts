import { Fault } from '../errors/errors.ts'
import { ACCOUNT_INVALID, ACCOUNT_UNKNOWN } from './faults.ts'

const USER_NAME = /^[\p{L}\p{M}\p{N}._@+-]{1,100}$/u
const GRANT = /^(?:edit:|publish:)?(?:\*|[a-z0-9][a-z0-9_-]{0,99})$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

/** Maximum characters of labels and of names of applications. */
const LABEL_LENGTH = 200

/** Maximum quota of a user in calls a day. */
export const MAX_CALLS = 1_000_000_000

/** The fault of an invalid name. */
export function invalidName(reason: string): Fault {
  return new Fault(ACCOUNT_INVALID, { reason })
}

export function unknownName(reason: string): Fault {
  return new Fault(ACCOUNT_UNKNOWN, { reason })
}

export function unknownUser(name: string): Fault {
  return unknownName(`There is no user ${shownName(name)}`)
}

/** A name for messages: without terminal control characters, and truncated. */
export function shownName(text: string): string {
  const characters = [...text.slice(0, 400)].map(character => (CONTROL.test(character) ? '?' : character))
  return characters.length > 120 ? `${characters.slice(0, 120).join('')}…` : characters.join('')
}

/** Normalises a name: names with equal results belong to one user. */
export function folded(name: string): string {
  return name.slice(0, 1000).normalize('NFKC').toLowerCase()
}

export function checkUserName(given: string): string {
  const name = given.normalize('NFC')
  if (!USER_NAME.test(name))
    throw invalidName(
      `A user name has 1 to 100 letters, digits and . _ @ + -: "${shownName(given)}" was found`,
    )
  return name
}

/** @param least minimum length, 0 if it may be empty */
export function checkLabel(what: string, given: string, least: 0 | 1): string {
  const label = given.normalize('NFC').trim()
  const length = [...label].length
  if (length < least || length > LABEL_LENGTH)
    throw invalidName(`${what} has ${least} to ${LABEL_LENGTH} characters: ${length} were found`)
  if (CONTROL.test(label)) throw invalidName(`${what} is one line without control characters`)
  return label
}

export function checkDatasetName(dataset: string): void {
  if (!GRANT.test(dataset))
    throw invalidName(
      `A grant is the id of a dataset, or * for all, with edit: before it to edit or publish: to publish: "${shownName(dataset)}" was found`,
    )
}

export function checkQuota(quota: number | null): void {
  if (quota !== null && !(Number.isSafeInteger(quota) && quota >= 0 && quota <= MAX_CALLS))
    throw invalidName(`A quota is a whole number of calls from 0 to ${MAX_CALLS}: ${quota} was found`)
}
