import type { EntityModel, EntityProperty } from '../../../model/edm.ts'
import { TECHNICAL } from '../../../query/field-names.ts'
import type { Annotation } from './annotations.ts'
import type { SetSheet } from './shape.ts'

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
