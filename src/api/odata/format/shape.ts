import type { ColumnType, EdmValue, EntityColumn, EntityModel } from '../../../model/edm.ts'
import type { Metas, MetaValue } from '../../../model/metadata.ts'

/** Namespaces of XML that OData writes (Atom Format 4.0, section 2; CSDL 4.0, section 3). */
export const ATOM = 'http://www.w3.org/2005/Atom'
export const APP = 'http://www.w3.org/2007/app'
export const EDMX = 'http://docs.oasis-open.org/odata/ns/edmx'
export const EDM = 'http://docs.oasis-open.org/odata/ns/edm'
export const META = 'http://docs.oasis-open.org/odata/ns/metadata'
export const DATA = 'http://docs.oasis-open.org/odata/ns/data'
export const SCHEME = 'http://docs.oasis-open.org/odata/ns/scheme'

/** Those of 3.0 and 2.0, which have CSDL of their own. */
export const OLD_EDMX = 'http://schemas.microsoft.com/ado/2007/06/edmx'
export const OLD_EDM = {
  '3.0': 'http://schemas.microsoft.com/ado/2009/11/edm',
  '2.0': 'http://schemas.microsoft.com/ado/2008/09/edm',
} as const
export const DATA_SERVICES = {
  data: 'http://schemas.microsoft.com/ado/2007/08/dataservices',
  meta: 'http://schemas.microsoft.com/ado/2007/08/dataservices/metadata',
  scheme: 'http://schemas.microsoft.com/ado/2007/08/dataservices/scheme',
} as const

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

/** Types of 4.0 that have another name in 3.0 (OData service 2.3). */
const OLD_TYPES: Partial<Readonly<Record<ColumnType, string>>> = {
  'Edm.Date': 'Edm.DateTime',
  'Edm.TimeOfDay': 'Edm.Time',
  'Edm.Duration': 'Edm.Time',
}

/**
 * The qualified name of the type of a column in the metadata document of a version.
 *
 * @param types namespace of the complex types
 */
export function typeText(
  { type, collection }: Pick<EntityColumn, 'type' | 'collection'>,
  version: Version,
  types: string,
): string {
  const known = version !== '4.0' ? (OLD_TYPES[type] ?? type) : type
  const name = known.replace(/^Ods\./, () => `${types}.`)
  return collection ? `Collection(${name})` : name
}

/** The same for an instance annotation: 4.0 leaves out `Edm.` and begins with `#` (JSON Format 4.0, 4.5.3). */
export function typeFragment(
  column: Pick<EntityColumn, 'type' | 'collection'>,
  version: Version,
  types: string,
): string {
  const text = typeText(column, version, types)
  return version !== '4.0' ? text : `#${text.replace(/^(Collection\()?Edm\./, '$1')}`
}

/** The parts of a point that a column has, in their order. */
export function membersOf({ members }: EntityColumn): readonly ('latitude' | 'longitude')[] {
  return MEMBERS.filter(member => members === null || members.includes(member))
}

const MEMBERS = ['latitude', 'longitude'] as const

/** The type of a part of a point. */
export const MEMBER_TYPE = { type: 'Edm.Double', collection: false } as const

/** The value of a point. */
export type PointValue = { readonly latitude: number; readonly longitude: number }

/** Maximum digits before or after the decimal point of a double: as many as identify it uniquely. */
const MAX_DIGITS = 17

/** A double as XML Schema and the texts of OData have it: `INF`, `-INF`, `NaN`, with an exponent if it has many digits. */
export function doubleText(value: number): string {
  if (Number.isFinite(value)) {
    const text = String(value)
    const isLong = text.length > MAX_DIGITS && text.split(/[-.e]/).some(part => part.length > MAX_DIGITS)
    return isLong ? value.toExponential() : text
  }
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'INF' : '-INF'
}

/** A decimal in digits, without exponent. */
export function decimalText(value: number): string {
  const text = Number.isFinite(value) ? String(value) : doubleText(value)
  if (!text.includes('e')) return text
  return Math.abs(value) >= 1e21 ? String(BigInt(value)) : value.toFixed(20).replace(/\.?0+$/, '')
}

/** A number of seconds as `xs:dayTimeDuration`, to the microsecond. */
export function durationText(seconds: number): string {
  const millionths = Math.round(Math.abs(seconds) * 1e6)
  const whole = Math.floor(millionths / 1e6)
  const parts = [
    [Math.floor(whole / 3600) % 24, 'H'],
    [Math.floor(whole / 60) % 60, 'M'],
    [Number(`${whole % 60}.${String(millionths % 1e6).padStart(6, '0')}`), 'S'],
  ] as const
  const days = Math.floor(whole / 86_400)
  const time = parts.map(([amount, unit]) => (amount === 0 ? '' : `${decimalText(amount)}${unit}`)).join('')
  const date = days === 0 ? '' : `${days}D`
  if (date === '' && time === '') return 'PT0S'
  return `${seconds < 0 ? '-' : ''}P${date}${time === '' ? '' : `T${time}`}`
}

/** A time of day as the duration since midnight, which is what Edm.Time of 3.0 is. */
function timeDuration(time: string): string {
  const [hours = '0', minutes = '0', seconds = '0'] = time.split(':')
  const parts = [
    [hours, 'H'],
    [minutes, 'M'],
    [seconds, 'S'],
  ] as const
  const text = parts
    .map(([digits, unit]) => (Number(digits) === 0 ? '' : `${digits.replace(/^0(?=\d)/, '')}${unit}`))
    .join('')
  return `PT${text === '' ? '0S' : text}`
}

/**
 * The text of a single primitive value, the same in XML, in JSON between quotes, and by itself.
 * A boolean is `true` or `false`; before 4.0 a date is a date-time without zone. Clients of 2.0 read only milliseconds, which
 * is also the precision of its JSON.
 */
export function primitiveText(
  value: string | number | bigint | boolean,
  { type }: Typed,
  version: Version,
): string {
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') {
    if (type === 'Edm.Duration') return durationText(value)
    return type === 'Edm.Double' ? doubleText(value) : decimalText(value)
  }
  if (version === '4.0') return value
  if (type === 'Edm.Date') return `${value}T00:00:00`
  if (type === 'Edm.DateTimeOffset' && version === '2.0') return value.replace(/(\.\d{3})\d+/, '$1')
  return type === 'Edm.TimeOfDay' ? timeDuration(value) : value
}

type Typed = Pick<EntityColumn, 'type'>

/** The text of a property by itself (`/$value`, Protocol 11.2.4.1); undefined for what is not primitive. */
export function rawText(value: EdmValue, column: EntityColumn, version: Version): string | undefined {
  if (value === null || typeof value === 'object') return undefined
  return primitiveText(value, column, version)
}

/** The texts of the values of an entity; a property that it does not have has none. */
export function valuesText(
  writers: readonly ((value: EdmValue) => string)[],
  values: EntityRow['values'],
): string {
  let text = ''
  for (let index = 0; index < writers.length; index++) {
    const value = values[index]
    if (value !== undefined) text += writers[index]?.(value)
  }
  return text
}
