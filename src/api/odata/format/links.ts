import type { EntityColumn } from '../../../model/edm.ts'
import { typesNamespace } from '../../../model/edm.ts'
import { optionNamed } from '../options.ts'
import { split } from '../request.ts'
import { type ServicePlace, typeText, type Version } from './shape.ts'

/** One segment of a path, with quotes and parentheses unescaped (OData 4.0 URL Conventions, section 2). */
export function segment(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** The path of an entity below the root, with its key as a literal: `cities('r1')`. */
export function entityPath(set: string, id: string): string {
  return `${segment(set)}('${segment(id.replaceAll("'", "''"))}')`
}

/** The query of the address of a set or an entity: the version that is answered from, if it is an older one. */
export function versionQuery({ version }: ServicePlace): string {
  return version === undefined ? '' : `?version=${segment(version.version)}`
}

/**
 * The absolute address of the metadata document with a fragment: a context URL. An older version has a document with its own
 * types, because those of today do not describe it (JSON Format 4.0, section 10).
 */
export function contextAddress({ root, version }: ServicePlace, context = ''): string {
  const query =
    version === undefined ? '' : `?dataset=${segment(version.dataset)}&version=${segment(version.version)}`
  return `${root}/$metadata${query}${context === '' ? '' : `#${context}`}`
}

/** The absolute address of an entity, in the version that is answered from. */
export function entityAddress(place: ServicePlace, set: string, id: string): string {
  return `${place.root}/${entityPath(set, id)}${versionQuery(place)}`
}

/** The namespace of the complex types of the service, derived from its host. */
export function linkTypesOf({ root }: ServicePlace): string {
  return typesNamespace(new URL(root).hostname)
}

/**
 * The context of entities of a set (OData 4.0 Protocol 10.2 and 10.7; JSON Format 3.0).
 *
 * @param selected selected names and paths, null for all; none where rows have no property in common (Data Aggregation
 *   4.0, section 3.1.1)
 */
export function feedContext(set: string, selected: readonly string[] | null, version: Version): string {
  if (selected === null) return segment(set)
  if (selected.length === 0 && version === '4.0') return `${segment(set)}(@Core.AnyStructure)`
  return version === '4.0'
    ? `${segment(set)}(${pathList(selected)})`
    : `${segment(set)}&$select=${pathList(selected)}`
}

/** The context of one entity (Protocol 10.3 and 10.8), see {@link feedContext}. */
export function entityContext(set: string, selected: readonly string[] | null, version: Version): string {
  if (version === '4.0') return `${feedContext(set, selected, version)}/$entity`
  return `${segment(set)}/@Element${selected === null ? '' : `&$select=${pathList(selected)}`}`
}

/**
 * The context of a property of an entity (Protocol 10.12; in 3.0 only its type).
 *
 * @param path names of the property and of its part
 */
export function propertyContext(
  set: string,
  id: string,
  path: readonly string[],
  column: EntityColumn,
  version: Version,
  place: ServicePlace,
): string {
  if (version !== '4.0') return typeText(column, version, linkTypesOf(place))
  return `${entityPath(set, id)}/${path.map(segment).join('/')}`
}

function pathList(paths: readonly string[]): string {
  return paths.map(path => path.split('/').map(segment).join('/')).join(',')
}

/** The option of next links that names the version that the first page was read from. */
export const SNAPSHOT = 'snapshot'

/**
 * The absolute address of the next page: the verbatim request with the version of this page, unless the request names it, and another
 * `$skiptoken`, which counts the entities passed (OData service 2.4).
 *
 * @param below verbatim path and query of the request, below the root of the service
 */
export function nextLink(
  { root, version }: Pick<ServicePlace, 'root' | 'version'>,
  below: string,
  passed: number,
  current: string,
): string {
  const { path, query } = split(below)
  const others = query.split('&').filter(option => {
    const name = option === '' ? '' : optionNamed(option)
    return name !== '' && name !== 'skiptoken' && name !== SNAPSHOT
  })
  const snapshot = version === undefined ? [`${SNAPSHOT}=${encodeURIComponent(current)}`] : []
  return `${root}${path}?${[...others, ...snapshot, `$skiptoken=${passed}`].join('&')}`
}
