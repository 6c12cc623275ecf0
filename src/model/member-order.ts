import { setMember } from './lookup.ts'

/** A prefix of a name, which writers of JSON leave out: it is random, so that no name has it. */
const PREFIX = `${crypto.getRandomValues(new Uint32Array(4)).join('-')}:`

/** Names that an object lists before all others, in the order of their numbers. */
const INDEX = /^\d{1,10}$/

/** True where an object does not list members with these names in their order. */
export function losesOrder(names: readonly string[]): boolean {
  return names.some(name => INDEX.test(name))
}

/** An object that lists members in the order of their names, of which those that are numbers get a prefix. */
export function inOrder(
  names: readonly string[],
  member: (name: string, index: number) => unknown,
): Record<string, unknown> {
  const ordered: Record<string, unknown> = {}
  names.forEach((name, index) => {
    setMember(ordered, INDEX.test(name) ? PREFIX + name : name, member(name, index))
  })
  return ordered
}

/** A name, or text of JSON, without the prefixes of {@link inOrder}. */
export function plainNames(text: string): string {
  return text.includes(PREFIX) ? text.replaceAll(PREFIX, '') : text
}
