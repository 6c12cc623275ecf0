import { nearest } from '../model/did-you-mean.ts'
import { isFacetSort } from '../query/facets.ts'
import type { DeclaredDataset } from './definition-schema.ts'

/** The annotations with a meaning of their own, and what their arguments may be. */
const KNOWN: ReadonlyMap<
  string,
  readonly [expected: string, isValid: (argument: unknown) => boolean] | null
> = new Map([
  ['facet', null],
  ['disjunctive', null],
  ['hierarchical', null],
  ['facetsort', ['count, -count, alphanum, -alphanum, num or -num', isFacetSort]],
  ['id', null],
  ['sortable', null],
  ['multivalued', null],
  ['unit', null],
  ['decimals', ['a whole number of 0 to 20', isDecimals]],
  ['timeserie_precision', ['year, month, day, hour or minute', isPrecision]],
  ['has_thumbnails', null],
])

function isDecimals(argument: unknown): boolean {
  return /^(?:1?\d|20)$/.test(String(argument))
}

function isPrecision(argument: unknown): boolean {
  return /^(?:year|month|day|hour|minute)$/.test(String(argument))
}

/** Annotations that are probably misspelt, and arguments without a meaning: fields have both, but nothing follows from them. */
export function* annotationProblems({
  fields = [],
}: DeclaredDataset): Generator<{ readonly path: readonly string[]; readonly message: string }> {
  for (const [at, { annotations = {} }] of fields.entries())
    for (const [name, given] of Object.entries(annotations)) {
      const path = ['fields', String(at), 'annotations', name]
      const known = KNOWN.get(name)
      if (known === undefined) {
        const near = nearest(name, KNOWN.keys())
        if (near !== undefined)
          yield { path, message: `no annotation is called ${name}, did you mean ${near}?` }
      } else if (known !== null && given !== false) {
        const [expected, isValid] = known
        const [argument] = [given].flat()
        if (!isValid(argument))
          yield {
            path,
            message: `${path.join('.')} is ${JSON.stringify(argument) ?? 'empty'}: ${expected} is expected`,
          }
      }
    }
}
