import { GEO, XSD } from '../../rdf/vocab.ts'
import { lowerBound, Texts } from './dictionary-texts.ts'
import type { DictionaryPart, OwnForms } from './file-layout.ts'
import type { SectionSource } from './sections.ts'

/** A readable part of a dictionary. Indexes in it start at 0. */
interface PartBase {
  readonly first: number
  readonly count: number
}

export interface ResourcePart extends PartBase {
  readonly kind: 'resource'
  /** Numbers of resources, ascending. */
  readonly ids: Uint32Array
}

export interface ValuePart extends PartBase {
  readonly kind: 'number' | 'moment'
  readonly values: Float64Array
  readonly datatypes: readonly string[]
  readonly types: Uint8Array | Uint32Array | null
  readonly forms: Forms | null
  readonly exact: boolean
}

export interface BooleanPart extends PartBase {
  readonly kind: 'boolean'
  readonly values: Uint8Array
  readonly forms: Forms | null
}

export interface TextPart extends PartBase {
  readonly kind: 'text'
  readonly texts: Texts
  readonly languages: readonly string[]
  readonly tags: Uint32Array | null
  /** The sections of its words, if they are in the file. */
  readonly words: (() => readonly SharedArrayBuffer[]) | null
}

export interface PointPart extends PartBase {
  readonly kind: 'point'
  readonly longitudes: Float64Array
  readonly latitudes: Float64Array
}

export interface OtherPart extends PartBase {
  readonly kind: 'other'
  readonly texts: Texts
  readonly datatypes: readonly string[]
  readonly types: Uint8Array | Uint32Array | null
}

export type DictionarySection = ResourcePart | ValuePart | BooleanPart | TextPart | PointPart | OtherPart

/** Lexical forms that differ from those of their values. */
class Forms {
  readonly places: Uint32Array
  private readonly texts: Texts

  constructor({ places, offsets, bytes }: OwnForms, source: SectionSource) {
    this.places = new Uint32Array(source.get(places))
    this.texts = new Texts(Buffer.from(source.get(bytes)), new Uint32Array(source.get(offsets)))
  }

  get(place: number): string | null {
    const at = lowerBound(this.places, place)
    return this.places[at] === place ? this.texts.get(at) : null
  }
}

export function openPart(header: DictionaryPart, first: number, source: SectionSource): DictionarySection {
  const { count } = header
  const uint32 = (section: number) => new Uint32Array(source.get(section))
  const float64 = (section: number) => new Float64Array(source.get(section))
  const texts = (part: { readonly bytes: number; readonly offsets: number }) =>
    new Texts(Buffer.from(source.get(part.bytes)), uint32(part.offsets))
  const forms = (own: OwnForms | null) => own && new Forms(own, source)
  const types = (number: number | null) => {
    if (number === null) return null
    const bytes = source.get(number)
    return bytes.byteLength === count ? new Uint8Array(bytes) : new Uint32Array(bytes)
  }
  const own = { first, count }
  const { kind } = header
  switch (kind) {
    case 'resource':
      return { kind, first, count, ids: uint32(header.ids) }
    case 'boolean':
      return { ...own, kind, values: new Uint8Array(source.get(header.values)), forms: forms(header.forms) }
    case 'number':
    case 'moment': {
      const { datatypes, exact } = header
      const values = float64(header.values)
      return {
        ...own,
        kind,
        values,
        datatypes,
        exact,
        types: types(header.types),
        forms: forms(header.forms),
      }
    }
    case 'text': {
      const { languages, words } = header
      const tags = header.tags === null ? null : uint32(header.tags)
      const sections = words && (() => words.map(section => source.get(section)))
      return { kind, first, count, texts: texts(header), languages, tags, words: sections }
    }
    case 'point':
      return { ...own, kind, longitudes: float64(header.longitudes), latitudes: float64(header.latitudes) }
    case 'other':
      return { ...own, kind, texts: texts(header), datatypes: header.datatypes, types: types(header.types) }
  }
}

/** The datatype of a literal that is not a text; {@link TRIPLE_TERM} for a triple term. */
export function datatypeOf(part: Exclude<DictionarySection, ResourcePart | TextPart>, place: number): string {
  switch (part.kind) {
    case 'boolean':
      return XSD.boolean
    case 'point':
      return GEO.wktLiteral
    default:
      return part.datatypes[part.types === null ? 0 : (part.types[place] as number)] as string
  }
}
