/**
 * The own member of an object with a name, undefined where it has none. Names from outside must be looked up in this way, because
 * all objects have `constructor` and `__proto__`; a test enforces it.
 */
export function lookup<Value>(members: { readonly [name: string]: Value }, name: string): Value | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

/** Sets an own member of an object, even one called `__proto__`, which an assignment would make its prototype. */
export function setMember<Value>(members: { [name: string]: Value }, name: string, value: Value): void {
  if (name === '__proto__')
    Object.defineProperty(members, name, { value, writable: true, enumerable: true, configurable: true })
  else members[name] = value
}
