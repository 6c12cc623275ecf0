import { XML_DECLARATION, xmlAttribute, xmlText } from '../../../model/xml.ts'
import { contextAddress, segment } from './links.ts'
import { APP, ATOM, META } from './namespaces.ts'
import type { PayloadFormat, ServicePlace, SetSheet, Version } from './shape.ts'

/** Name of the entity container with all sets. */
export const CONTAINER = 'Container'

/** Writes the service document: the list of entity sets (OData service 1.2). */
export function serviceDocument(
  sets: readonly SetSheet[],
  { type, version }: PayloadFormat,
  place: ServicePlace,
): string {
  switch (type) {
    case 'json':
      return version === '4.0' ? json(sets, place) : oldJson(sets, place)
    case 'verbose':
      return JSON.stringify({ d: { EntitySets: sets.map(({ model }) => model.set) } })
    case 'atom':
      return atom(sets, version, place)
  }
}

function json(sets: readonly SetSheet[], place: ServicePlace): string {
  return JSON.stringify({
    '@odata.context': contextAddress(place),
    value: sets.map(({ model, title }) => ({
      name: model.set,
      kind: 'EntitySet',
      url: segment(model.set),
      title,
    })),
  })
}

function oldJson(sets: readonly SetSheet[], place: ServicePlace): string {
  return JSON.stringify({
    'odata.metadata': contextAddress(place),
    value: sets.map(({ model }) => ({ name: model.set, url: segment(model.set) })),
  })
}

/** AtomPub (RFC 5023, section 8; Atom Format 4.0, section 5.3). */
function atom(sets: readonly SetSheet[], version: Version, place: ServicePlace): string {
  const isOld = version !== '4.0'
  const context = xmlAttribute(contextAddress(place))
  const described = isOld ? '' : ` xmlns:m="${META}" m:context="${context}"`
  const collections = sets.map(({ model, title }) => {
    const name = isOld ? '' : ` m:name="${xmlAttribute(model.set)}"`
    const shown = xmlText(isOld ? model.set : title)
    return `<collection href="${xmlAttribute(segment(model.set))}"${name}><atom:title type="text">${shown}</atom:title></collection>\n`
  })
  return [
    XML_DECLARATION,
    `<service xml:base="${xmlAttribute(`${place.root}/`)}" xmlns="${APP}" xmlns:atom="${ATOM}"${described}>\n`,
    `<workspace>\n<atom:title type="text">${CONTAINER}</atom:title>\n`,
    ...collections,
    '</workspace>\n</service>\n',
  ].join('')
}
