/** A function that computes its answer once for each object. */
export function oncePerObject<Given extends object, Value>(
  make: (given: Given) => Value,
): (given: Given) => Value {
  const known = new WeakMap<Given, Value>()
  return given => memoised(known, given, () => make(given))
}

/** Items in lists by their keys. */
export function groupedBy<Key, Item>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) memoised(groups, keyOf(item), () => []).push(item)
  return groups
}

/** The value of a key in a map: made and added where the map lacks it. */
export function memoised<Key, Value>(
  known: { readonly get: (key: Key) => Value | undefined; readonly set: (key: Key, value: Value) => unknown },
  key: Key,
  make: () => Value,
): Value {
  const before = known.get(key)
  if (before !== undefined) return before
  const value = make()
  known.set(key, value)
  return value
}
