/**
 * The member of an object that has a name, undefined where it has none of its own. Objects are asked in this way for names
 * that come from outside, for all of them answer to `constructor` and `__proto__`; a test holds it.
 */
export function lookup<Value>(members: { readonly [name: string]: Value }, name: string): Value | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

/** Gives an object a member of its own, also one called `__proto__`, which an assignment would make its prototype. */
export function setMember<Value>(members: { [name: string]: Value }, name: string, value: Value): void {
  if (name === '__proto__')
    Object.defineProperty(members, name, { value, writable: true, enumerable: true, configurable: true })
  else members[name] = value
}
