import { type EntityModel, type EntityProperty, KEY } from '../../../model/edm.ts'
import { xmlAttribute, xmlText } from '../../../model/xml.ts'
import { TECHNICAL } from '../../../query/find-field.ts'
import { type SetSheet, typeText, type Version } from './shape.ts'

const DISPLAY_NAME = 'Org.OData.Display.V1.DisplayName'

/** The publisher's metadata of a dataset (OData service 3.1). */
export function setAnnotations({ title, publisher, modified, keywords }: SetSheet): readonly Annotation[] {
  return [
    ...text('Org.OData.Publication.V1.PublisherName', publisher),
    ...text('Org.OData.Publication.V1.LastModified', modified),
    ...text('Org.OData.Publication.V1.Keywords', keywords.length === 0 ? null : keywords.join(', ')),
    ...text(DISPLAY_NAME, title),
  ]
}

/**
 * The capabilities of a set (Capabilities vocabulary): it is read-only, and its shapes, which are texts of GeoJSON, are only compared
 * with null and with geometries.
 */
export function setCapabilities({ properties }: EntityModel): readonly Annotation[] {
  const shapes = properties.filter(({ field }) => field.type === 'geo_shape').map(({ name }) => name)
  return [
    restriction('InsertRestrictions', 'Insertable'),
    restriction('UpdateRestrictions', 'Updatable'),
    restriction('DeleteRestrictions', 'Deletable'),
    restriction('ExpandRestrictions', 'Expandable'),
    ...excluded('FilterRestrictions', 'NonFilterableProperties', shapes),
    ...excluded('SortRestrictions', 'NonSortableProperties', shapes),
  ]
}

/** Functions that filters can call (OData 4.0 URL Conventions 5.1.1.4 to 5.1.1.10 and 5.1.1.13). */
const FILTER_FUNCTIONS = [
  ['concat', 'contains', 'endswith', 'indexof', 'length', 'matchesPattern', 'startswith', 'substring'],
  ['tolower', 'toupper', 'trim'],
  ['date', 'day', 'fractionalseconds', 'hour', 'maxdatetime', 'mindatetime', 'minute', 'month', 'now'],
  ['second', 'time', 'totaloffsetminutes', 'totalseconds', 'year'],
  ['ceiling', 'floor', 'round'],
  ['cast', 'isof', 'geo.distance', 'geo.intersects', 'geo.length', 'any', 'all'],
].flat()

/** Transformations of `$apply` that are served (Aggregation 4.0, section 3). */
const TRANSFORMATIONS = [
  'aggregate',
  'groupby',
  'filter',
  'compute',
  'concat',
  'identity',
  'topcount',
  'topsum',
  'toppercent',
  'bottomcount',
  'bottomsum',
  'bottompercent',
]

/** The capabilities of the service as a whole (OData service 3.2). */
export const SERVICE_CAPABILITIES: readonly Annotation[] = [
  ...text('Core.ODataVersions', '4.0'),
  {
    term: 'Capabilities.ConformanceLevel',
    value: { type: 'member', of: 'Org.OData.Capabilities.V1.ConformanceLevelType', value: 'Intermediate' },
  },
  flag('Capabilities.KeyAsSegmentSupported', false),
  flag('Capabilities.BatchSupported', false),
  flag('Capabilities.CrossJoinSupported', false),
  flag('Capabilities.ComputeSupported', true),
  {
    term: 'Capabilities.FilterFunctions',
    value: { type: 'texts', value: FILTER_FUNCTIONS },
  },
  {
    term: 'Aggregation.ApplySupportedDefaults',
    value: { type: 'record', value: { Transformations: TRANSFORMATIONS } },
  },
]

/** Annotations of a property: its description, and its label if that differs from its name. */
export function propertyAnnotations({ name, field }: EntityProperty): readonly Annotation[] {
  const isOwn = !Object.values<unknown>(TECHNICAL).includes(field)
  return [
    ...text('Core.Description', field.description === '' ? null : field.description),
    ...text(DISPLAY_NAME, isOwn && field.label !== name && field.label !== '' ? field.label : null),
  ]
}

function text(term: string, value: string | null): readonly Annotation[] {
  return value === null ? [] : [{ term, value: { type: 'text', value } }]
}

function flag(term: string, value: boolean): Annotation {
  return { term, value: { type: 'flag', value } }
}

function restriction(term: string, part: string): Annotation {
  return { term: `Capabilities.${term}`, value: { type: 'record', value: { [part]: false } } }
}

function excluded(term: string, part: string, properties: readonly string[]): readonly Annotation[] {
  if (properties.length === 0) return []
  return [{ term: `Capabilities.${term}`, value: { type: 'paths', value: { [part]: properties } } }]
}

/** The value of an annotation (CSDL 4.0, section 14): constants, lists of texts, records of them and of properties. */
type AnnotationValue =
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'flag'; readonly value: boolean }
  /** A member of an enumeration by its qualified name. */
  | { readonly type: 'member'; readonly of: string; readonly value: string }
  | { readonly type: 'texts'; readonly value: readonly string[] }
  | { readonly type: 'record'; readonly value: Readonly<Record<string, boolean | readonly string[]>> }
  /** A record with lists of properties of the annotated element. */
  | { readonly type: 'paths'; readonly value: Readonly<Record<string, readonly string[]>> }

/** An annotation of an element of the model with a term of a vocabulary. */
export interface Annotation {
  readonly term: string
  readonly value: AnnotationValue
}

/** Writes an annotation as an element of CSDL 4.0. */
export function annotationXml({ term, value }: Annotation): string {
  const start = `<Annotation Term="${xmlAttribute(term)}"`
  switch (value.type) {
    case 'text':
      return `${start} String="${xmlAttribute(value.value)}"/>`
    case 'flag':
      return `${start} Bool="${value.value}"/>`
    case 'member':
      return `${start} EnumMember="${xmlAttribute(`${value.of}/${value.value}`)}"/>`
    case 'texts':
      return `${start}>${collectionXml(value.value)}</Annotation>`
    case 'record':
    case 'paths': {
      const element = value.type === 'paths' ? 'PropertyPath' : 'String'
      const parts = Object.entries(value.value).map(([name, part]) => {
        const property = `<PropertyValue Property="${xmlAttribute(name)}"`
        return typeof part === 'boolean'
          ? `${property} Bool="${part}"/>`
          : `${property}>${collectionXml(part, element)}</PropertyValue>`
      })
      return `${start}><Record>${parts.join('')}</Record></Annotation>`
    }
  }
}

function collectionXml(texts: readonly string[], element: 'String' | 'PropertyPath' = 'String'): string {
  return `<Collection>${texts.map(text => `<${element}>${xmlText(text)}</${element}>`).join('')}</Collection>`
}

/** Annotations as members of CSDL JSON 4.01 (section 14.3). */
export function annotationsJson(annotations: readonly Annotation[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(annotations.map(({ term, value }) => [`@${term}`, value.value]))
}

/** Alias of the namespace of complex types (OData service 1.3). */
export const ALIAS = 'Ods'

/** A property of a type in the metadata document. */
export interface PropertySheet {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
  /** Fractional digits of the seconds of a date-time; 4.0 defaults to none (CSDL 4.0, section 6.2.3). */
  readonly precision: number | null
}

/** Digits of a second that moments of the sources have at most. */
const PRECISION = 9

/** The complex types of the service (OData service 1.3). */
export const COMPLEX_TYPES: Readonly<Record<string, readonly PropertySheet[]>> = {
  GeoPoint2D: [plain('latitude', 'Edm.Double'), plain('longitude', 'Edm.Double')],
  Image: [
    plain('width', 'Edm.Int32'),
    plain('format', 'Edm.String'),
    plain('id', 'Edm.String'),
    plain('height', 'Edm.Int32'),
  ],
}

/**
 * A property of an entity: the key and collections are not nullable. 2.0 has no collections: there they are strings.
 *
 * @param types prefix of the names of complex types
 */
export function propertySheet(property: EntityProperty, version: Version, types = ALIAS): PropertySheet {
  const { name, type } = property
  const collection = property.collection && version !== '2.0'
  return {
    name,
    type: typeText({ type, collection }, version, types),
    nullable: !collection && name !== KEY,
    precision: version === '4.0' && type === 'Edm.DateTimeOffset' ? PRECISION : null,
  }
}

function plain(name: string, type: string): PropertySheet {
  return { name, type, nullable: true, precision: null }
}
