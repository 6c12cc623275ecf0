import { words } from './words.ts'
/** The types that a field of a dataset can have. */
export const FIELD_TYPES = words('text int double boolean date datetime geo_point_2d geo_shape')

/** The type of a field, which determines its values in a record, in the store and in an answer. */
export type FieldType = (typeof FIELD_TYPES)[number]

/** Annotations of a field by its publisher in addition to its type: each key is a flag or a list of arguments. */
export type Annotations = Readonly<Record<string, readonly (string | number | boolean)[]>>

/** One field of a dataset, as every API describes it. */
export interface Field {
  /** Identifier: `[a-z0-9_]+` for a record field; a catalog field is `template.metadata`. */
  readonly name: string
  readonly label: string
  readonly type: FieldType
  readonly description: string | null
  readonly annotations: Annotations
  /** True where a record holds an array of values. Only text fields can. */
  readonly multivalued: boolean
}

/** Creates a field from its name and type; the label is the name by default. */
export function field(
  name: string,
  type: FieldType,
  more: Partial<Omit<Field, 'name' | 'type'>> = {},
): Field {
  return { name, type, label: name, description: null, annotations: {}, multivalued: false, ...more }
}

/** True for the two types of geometry. */
export function isGeo(type: FieldType): boolean {
  return type === 'geo_point_2d' || type === 'geo_shape'
}

/** True for the types whose values have arithmetic. */
export function isNumeric(type: FieldType): boolean {
  return type === 'int' || type === 'double'
}

const NUMBERED_NAME =
  /(?:^|[._])(?:(?:object|[fgu])?id|code|(?<!(?:^|[._])(?:per|pro|je|par|por|al|all|a)_)(?:year|[a-z]*jahr|[a-z]*jaar|annee|anno|ano|any|urtea?|ar|rok))$/

/** True for a field whose numbers are names: identifiers, codes and years have no thousands separators and no sum. */
export function isNumberedName({ name, annotations }: Pick<Field, 'name' | 'annotations'>): boolean {
  return annotations.id !== undefined || NUMBERED_NAME.test(name)
}

/** True for a field whose numbers are quantities. */
export function isQuantity(field: Field): boolean {
  return isNumeric(field.type) && !isNumberedName(field)
}

/** True for the types of moments and days. */
export function isTemporal(type: FieldType): boolean {
  return type === 'date' || type === 'datetime'
}

/** The displayed precision of the dates of a field where it is coarser than a day (REST 2.12). */
export type CoarsePrecision = 'year' | 'month'

/** The precision that a publisher declares for the dates of a field; null where whole days or moments are displayed. */
export function coarsePrecision({
  type,
  annotations,
}: Pick<Field, 'type' | 'annotations'>): CoarsePrecision | null {
  const [precision] = isTemporal(type) ? (annotations.timeserie_precision ?? []) : []
  return precision === 'year' || precision === 'month' ? precision : null
}

/** Finds a field by its exact name. */
export function fieldNamed(fields: readonly Field[], name: string): Field | undefined {
  return fields.find(known => known.name === name)
}
