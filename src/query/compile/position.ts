import { XSD } from '../../rdf/vocab.ts'
import type { Expression } from '../../sparql/algebra.ts'
import { apply, call, literal } from '../../sparql/build.ts'
import type { Body } from './body.ts'

/** Longitude and latitude of a point, from its text: SPARQL has no function that gives them. */
export function position(
  point: Expression,
  body: Body,
): { readonly lon: () => Expression; readonly lat: () => Expression } {
  const text = body.share(`text ${JSON.stringify(point)}`, () => call('STR', point))
  const number = (name: string, digits: () => Expression) => () =>
    body.share(`${name} ${JSON.stringify(point)}`, () => apply(XSD.double, digits()))
  return {
    lon: number('lon', () => call('STRBEFORE', call('STRAFTER', text, literal('(')), literal(' '))),
    lat: number('lat', () => call('STRBEFORE', call('STRAFTER', text, literal(' ')), literal(')'))),
  }
}
