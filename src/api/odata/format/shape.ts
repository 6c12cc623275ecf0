import type { EdmValue, EntityColumn, EntityModel } from '../../../model/edm.ts'
import type { Metas, MetaValue } from '../../../model/metadata.ts'

/** The versions of OData that answers are written in. */
export type Version = '4.0' | '3.0' | '2.0'

/** The address of the service. */
export interface ServicePlace {
  /** Public address of its root, without a slash at the end: `https://host/api/odata`. */
  readonly root: string
  /** The older version of a dataset that is answered from; absent for what is in force. */
  readonly version?: { readonly dataset: string; readonly version: string } | undefined
}

/**
 * The format of an answer: verbose JSON in 3.0 and 2.0, JSON light in 4.0 and 3.0, Atom in all; the members from `level` on
 * concern only JSON light and Atom.
 */
export interface PayloadFormat {
  readonly type: 'json' | 'verbose' | 'atom'
  readonly version: Version
  /** The amount of control information in JSON light (OData JSON Format 4.0, section 3.1). */
  readonly level: 'minimal' | 'full'
  /** Writes 64-bit integers and decimals as strings, in JSON of 4.0 (JSON Format 4.0, section 3.2). */
  readonly ieee754: boolean
  /** Leaves out properties that are null (`Prefer: omit-values=nulls`, OData 4.01 Protocol 8.2.8.6). */
  readonly omitNulls: boolean
}

/** A format, and the service whose addresses answers have. */
export interface AddressedFormat extends PayloadFormat {
  readonly place: ServicePlace
}

/**
 * One entity: its key, null for a row that is no record, and a value for each column of the answer, undefined for a property
 * that it does not have.
 */
export interface EntityRow {
  readonly id: string | null
  readonly values: readonly (EdmValue | undefined)[]
}

interface Described {
  readonly model: EntityModel
  readonly columns: readonly EntityColumn[]
  /** What follows `$metadata#` in the context, see feedContext and entityContext. */
  readonly context: string
  /** `YYYY-MM-DDTHH:MM:SS[.f…]Z`. */
  readonly updated: string
}

/** A page of the entities of a set. */
export interface Feed extends Described {
  readonly title: string
  readonly rows: readonly EntityRow[]
  /** Number of all matches; null if it was not requested. */
  readonly count: number | null
  /** Absolute address of the next page. */
  readonly next: string | null
}

/** One entity by itself. */
export interface Single extends Described {
  readonly row: EntityRow
}

/** The value of one property, or of a part of it. */
export interface PropertyAnswer {
  /** The column of the value; its name is that of the last segment. */
  readonly column: EntityColumn
  readonly value: EdmValue
  /** What follows `$metadata#` in the context, see propertyContext. */
  readonly context: string
}

/** References to entities of one set: one, or a page of them. */
export type References =
  | { readonly type: 'one'; readonly set: string; readonly id: string }
  | {
      readonly type: 'page'
      readonly set: string
      readonly ids: readonly string[]
      readonly count: number | null
      readonly next: string | null
    }

/** An answer with entities, references to them, or a property. */
export type ODataAnswer =
  | { readonly type: 'feed'; readonly feed: Feed }
  | { readonly type: 'entity'; readonly entity: Single }
  | { readonly type: 'property'; readonly property: PropertyAnswer }
  | { readonly type: 'references'; readonly references: References }

/** An entity set in the service document and the metadata document. */
export interface SetSheet {
  readonly model: EntityModel
  readonly title: string
  readonly publisher: string | null
  readonly modified: string | null
  readonly keywords: readonly string[]
}

/** The description of the entity set of a dataset, from its metadata and the time of its publication. */
export function setSheet(model: EntityModel, metas: Metas, published: string): SetSheet {
  const { title, publisher, modified, keyword } = metas.default ?? {}
  return {
    model,
    title: textsOf(title)[0] ?? model.set,
    publisher: textsOf(publisher)[0] ?? null,
    modified: textsOf(modified)[0] ?? published,
    keywords: textsOf(keyword),
  }
}

function textsOf(value: MetaValue | undefined): readonly string[] {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value]
  return texts.filter((text): text is string => typeof text === 'string' && text !== '')
}
