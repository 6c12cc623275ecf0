import { nearest } from '../model/did-you-mean.ts'

/** Longer names are not looked for: the work grows with the square of their length. */
const MAX_LENGTH = 40

/** The candidate that a name was probably meant to be (see `nearest`); none for a very long name. */
export function nearName(name: string, candidates: Iterable<string>): string | undefined {
  return name.length > MAX_LENGTH ? undefined : nearest(name, candidates)
}
