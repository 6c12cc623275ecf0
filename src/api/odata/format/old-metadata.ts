import { KEY } from '../../../model/edm.ts'
import { XML_DECLARATION, xmlAttribute } from '../../../model/xml.ts'
import { linkTypesOf } from './links.ts'
import { DATA_SERVICES, OLD_EDM, OLD_EDMX } from './namespaces.ts'
import { CONTAINER } from './service.ts'
import type { ServicePlace, SetSheet, Version } from './shape.ts'
import { ALIAS, COMPLEX_TYPES, type PropertySheet, propertySheet, setAnnotations } from './vocabulary.ts'

type OldVersion = Exclude<Version, '4.0'>

/**
 * Writes the metadata document of 3.0 or 2.0 (CSDL 3.0 and 2.0; OData service 2.2). Types have qualified names, for an alias
 * is valid only in its own schema; properties have no child elements, because Olingo 3.0 does not parse them.
 */
export function oldMetadataXml(sets: readonly SetSheet[], place: ServicePlace, version: OldVersion): string {
  const types = linkTypesOf(place)
  const edm = OLD_EDM[version]
  const limits = version === '3.0' ? ' m:MaxDataServiceVersion="3.0"' : ''
  return [
    `${XML_DECLARATION}<edmx:Edmx Version="1.0" xmlns:edmx="${OLD_EDMX}">\n`,
    `<edmx:DataServices xmlns:m="${DATA_SERVICES.meta}" m:DataServiceVersion="${version}"${limits}>\n`,
    `<Schema xmlns="${edm}" Namespace="${xmlAttribute(types)}" Alias="${ALIAS}">\n`,
    ...Object.entries(COMPLEX_TYPES).map(
      ([name, properties]) =>
        `<ComplexType Name="${name}">\n${properties.map(propertyXml).join('')}</ComplexType>\n`,
    ),
    `<EntityContainer Name="${CONTAINER}" m:IsDefaultEntityContainer="true">\n`,
    ...sets.map(({ model: { set, namespace, type } }) => {
      const name = xmlAttribute(`${namespace}.${type}`)
      return `<EntitySet Name="${xmlAttribute(set)}" EntityType="${name}"/>\n`
    }),
    '</EntityContainer>\n',
    ...(version === '3.0' ? sets.map(sheet => annotations(sheet, types)) : []),
    '</Schema>\n',
    ...sets.map(sheet => schema(sheet, version, types)),
    '</edmx:DataServices>\n</edmx:Edmx>\n',
  ].join('')
}

function annotations(sheet: SetSheet, types: string): string {
  const values = setAnnotations(sheet).flatMap(({ term, value }) =>
    value.type === 'text'
      ? [`<ValueAnnotation Term="${term}" String="${xmlAttribute(value.value)}"/>\n`]
      : [],
  )
  const target = xmlAttribute(`${types}.${CONTAINER}/${sheet.model.set}`)
  return `<Annotations Target="${target}">\n${values.join('')}</Annotations>\n`
}

function schema({ model }: SetSheet, version: OldVersion, types: string): string {
  return [
    `<Schema xmlns="${OLD_EDM[version]}" Namespace="${xmlAttribute(model.namespace)}">\n`,
    `<EntityType Name="${xmlAttribute(model.type)}">\n<Key><PropertyRef Name="${KEY}"/></Key>\n`,
    ...model.properties.map(property => propertyXml(propertySheet(property, version, types))),
    '</EntityType>\n</Schema>\n',
  ].join('')
}

function propertyXml({ name, type, nullable }: PropertySheet): string {
  const facets = nullable ? '' : ' Nullable="false"'
  return `<Property Name="${xmlAttribute(name)}" Type="${xmlAttribute(type)}"${facets}/>\n`
}
