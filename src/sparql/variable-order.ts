/**
 * The variables of an answer in the order in which a query mentions them, where it selects all of them (`SELECT *`); else as they are. Comunica
 * sorts them by name.
 */
export function inOrderOfQuery(query: string, variables: readonly string[]): readonly string[] {
  if (!/^[^{]*?\bSELECT\s+(?:(?:DISTINCT|REDUCED)\s+)?\*/i.test(query)) return variables
  const mentioned = Array.from(query.matchAll(/[?$]([\p{L}\p{N}_]+)/gu), ([, name = '']) => name)
  const placeOf = (name: string) => mentioned.indexOf(name)
  return [...variables].sort((a, b) => placeOf(a) - placeOf(b))
}
