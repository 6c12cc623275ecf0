import { words } from '../model/words.ts'
import { datasetIri, fieldIri } from '../rdf/minted-iris.ts'
import { RDF } from '../rdf/vocab.ts'
import type { Mapping, Segment, StatementRule, TermMap } from './ir.ts'

/** The classes that a mapping gives its resources, each once, in order of appearance; computed ones are left out. */
export function usedClasses(mapping: Mapping): readonly string[] {
  return unique(
    statements(mapping).flatMap(({ predicate, object, inverse }) => {
      if (inverse === true || constantIri(predicate) !== RDF.type || object.type === 'link') return []
      const iri = constantIri(object)
      return iri === null ? [] : [iri]
    }),
  )
}

/** The properties that a mapping uses, rdf:type aside, each once, in order of appearance. */
export function usedProperties(mapping: Mapping): readonly string[] {
  return unique(
    statements(mapping).flatMap(({ predicate }) => {
      const iri = constantIri(predicate)
      return iri === null || iri === RDF.type ? [] : [iri]
    }),
  )
}

/** The text of a term that is the same IRI for every record; null for any other term. */
export function constantIri(term: string | TermMap): string | null {
  if (typeof term === 'string') return term
  return term.type === 'iri' ? constantText(term.segments) : null
}

/** The text of segments without references; null if there are some. */
export function constantText(segments: readonly Segment[]): string | null {
  let text = ''
  for (const segment of segments) {
    if (segment.type !== 'constant') return null
    text += segment.text
  }
  return text
}

function statements(mapping: Mapping): readonly StatementRule[] {
  return mapping.resources.flatMap(resource => resource.statements)
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}

/** Datatypes that are suggested for an unknown name. */
export const XSD_NAMES: readonly string[] = words(
  'string integer decimal double float boolean date dateTime time duration gYear gYearMonth gMonth gDay',
  'gMonthDay anyURI int long short byte nonNegativeInteger positiveInteger dateTimeStamp',
  'dayTimeDuration yearMonthDuration hexBinary base64Binary token language normalizedString',
)

/**
 * The prefixes that a dataset's own mapping may use in addition to those of RDFa: `portal:` is the namespace of the portal's
 * resources, `field:` that of the dataset's fields as predicates.
 *
 * @param base the portal's public address without a trailing slash
 */
export function portalPrefixes(base: string, datasetId: string): Readonly<Record<string, string>> {
  return { portal: datasetIri(base, ''), field: fieldIri(base, datasetId, '') }
}

/** The codes of ISO 639-1, concatenated. */
const CODES =
  'aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo ' +
  'es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka ' +
  'kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl ' +
  'nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su ' +
  'sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu'

const KNOWN: ReadonlySet<string> = new Set(CODES.split(' '))

/** True for a language code of two letters (ISO 639-1). */
export function isLanguageCode(text: string): boolean {
  return KNOWN.has(text.toLowerCase())
}
