import { lookup } from '../../model/lookup.ts'
import { lastSegment } from './document.ts'

/** Terms of vocabularies that pages name otherwise than by the end of the IRI. */
const NAMES: Readonly<Record<string, string>> = {
  'http://www.wikidata.org/prop/direct/P240': 'FAA airport code',
  'http://www.wikidata.org/prop/direct/P297': 'ISO 3166-1 alpha-2 code',
  'http://www.wikidata.org/prop/direct/P298': 'ISO 3166-1 alpha-3 code',
  'http://www.wikidata.org/prop/direct/P299': 'ISO 3166-1 numeric code',
  'http://www.wikidata.org/prop/direct/P487': 'Unicode character',
  'http://www.wikidata.org/prop/direct/P1448': 'official name',
  'http://www.wikidata.org/prop/direct/P2046': 'area in square kilometres',
  'http://www.wikidata.org/prop/direct/P2130': 'cost',
  'http://www.wikidata.org/prop/direct/P2142': 'box office',
  'http://www.opengis.net/ont/geosparql#sfTouches': 'touches',
  'http://www.opengis.net/ont/geosparql#sfWithin': 'within',
  'http://www.opengis.net/ont/geosparql#asWKT': 'position as WKT',
}

/** What people call a term of a vocabulary: `alternateName` is an alternate name. */
export function termName(iri: string): string {
  const known = lookup(NAMES, iri)
  if (known !== undefined) return known
  const end = lastSegment(iri)
  return /^[a-z]+(?:[A-Z][a-z]+)+$/.test(end)
    ? end.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
    : end.replaceAll('_', ' ')
}
