/**
 * The columns file of a graph: sections of typed arrays one after another, each aligned to eight bytes, then the header as JSON,
 * then the offset of the header: a graph is opened by reading the last bytes and the header, without any section.
 */
export const COLUMNS_FORMAT = 2

/** Subjects are numbered from 0; terms of a dictionary and resources from 1, so that 0 is no value. */
export const ABSENT = 0

/**
 * The datatype of triple terms (RDF 1.2 Concepts, section 3.1) in a dictionary, where they are stored among the other literals
 * with their N-Triples as text. It is not an IRI, so no literal of a file has it.
 */
export const TRIPLE_TERM = '<<()>>'

/** Number of a section in {@link GraphHeader.sections}. */
export type SectionNumber = number

export interface FileSection {
  readonly offset: number
  /** Bytes. */
  readonly length: number
  /** CRC-32 of the bytes. */
  readonly check: number
}

/** A run of resources in the order of their text. */
export type ResourceSegment =
  /** A prefix and forty hexadecimal digits, stored as twenty bytes. */
  | {
      readonly kind: 'digest'
      readonly count: number
      readonly first: string
      readonly last: string
      readonly prefix: string
      readonly bytes: SectionNumber
    }
  /** Front-coded text in blocks: the first of each block is complete, others omit the prefix that they share with the previous one. */
  | {
      readonly kind: 'text'
      readonly count: number
      readonly first: string
      readonly last: string
      readonly bytes: SectionNumber
      readonly blocks: SectionNumber
    }

/** The IRIs and blank nodes of a graph, sorted: blank nodes (`_:label`) before IRIs, each by code point. */
export interface ResourcesHeader {
  readonly count: number
  readonly blanks: number
  readonly segments: readonly ResourceSegment[]
}

/** Lexical forms that differ from the canonical ones of their values, by their indexes in the part. */
export interface OwnForms {
  readonly places: SectionNumber
  readonly offsets: SectionNumber
  readonly bytes: SectionNumber
}

/** A run of a dictionary: terms of one kind in the order of SPARQL, section 15.1, and then by their text. */
export type DictionaryPart =
  /** Numbers of resources of the graph. */
  | { readonly kind: 'resource'; readonly count: number; readonly ids: SectionNumber }
  /** xsd:boolean. */
  | {
      readonly kind: 'boolean'
      readonly count: number
      readonly values: SectionNumber
      readonly forms: OwnForms | null
    }
  /** Numbers and moments by value: numbers themselves, dates and moments as seconds since 1970-01-01T00:00:00Z. */
  | {
      readonly kind: 'number' | 'moment'
      readonly count: number
      readonly values: SectionNumber
      /** Datatypes, and the datatype of each value if there are several. */
      readonly datatypes: readonly string[]
      readonly types: SectionNumber | null
      readonly forms: OwnForms | null
      /** False where some values do not equal those of their lexical forms exactly. */
      readonly exact: boolean
      readonly min: number
      readonly max: number
    }
  /** xsd:string and rdf:langString, by text and then by language. */
  | {
      readonly kind: 'text'
      readonly count: number
      readonly offsets: SectionNumber
      readonly bytes: SectionNumber
      /** Language tags, and the tag of each text, from 1; 0 for none. Null where all are xsd:string. */
      readonly languages: readonly string[]
      readonly tags: SectionNumber | null
      /** The words of the texts (store/columns/words.ts): offsets, bytes, starts and indexes; null where they are not stored. */
      readonly words: readonly SectionNumber[] | null
    }
  /** geo:wktLiteral of points, `POINT(lon lat)`, in the order of their text. */
  | {
      readonly kind: 'point'
      readonly count: number
      readonly longitudes: SectionNumber
      readonly latitudes: SectionNumber
    }
  /** Any other literal, by text and then by datatype, including triple terms ({@link TRIPLE_TERM}). */
  | {
      readonly kind: 'other'
      readonly count: number
      readonly offsets: SectionNumber
      readonly bytes: SectionNumber
      readonly datatypes: readonly string[]
      readonly types: SectionNumber | null
    }

export interface DictionaryHeader {
  readonly count: number
  readonly parts: readonly DictionaryPart[]
}

/** A predicate: the codes of its values by subject. */
export interface ColumnHeader {
  readonly predicate: string
  readonly triples: number
  /** Subjects with a value. */
  readonly rows: number
  /** Subjects of the rows in ascending order; null where there is a row for each subject of the graph. */
  readonly subjects: SectionNumber | null
  /** The index of the first code of each row; null where a row has one code, {@link ABSENT} for none. */
  readonly offsets: SectionNumber | null
  readonly codes: SectionNumber
  /** Number of its dictionary; columns with the same values share one. */
  readonly dictionary: number
  /** Rows whose source repeats a value: the complete lists of codes of those subjects. */
  readonly repeats: {
    readonly subjects: SectionNumber
    readonly offsets: SectionNumber
    readonly codes: SectionNumber
  } | null
}

export interface GraphHeader {
  readonly format: number
  readonly triples: number
  /** CRC-32 of the N-Triples; absent in files of earlier releases. */
  readonly text?: number
  /** Subjects, in source order, including those without any triple. */
  readonly subjects: number
  readonly resources: ResourcesHeader
  readonly subjectResources: SectionNumber
  readonly columns: readonly ColumnHeader[]
  readonly dictionaries: readonly DictionaryHeader[]
  readonly sections: readonly FileSection[]
}

/** Resources of a block of text. */
export const BLOCK = 8

/** Bytes of the prefix-free part of a digest. */
export const DIGEST_BYTES = 20

export const MAGIC = 'LODECOL1'
