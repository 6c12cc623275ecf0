import { KEY } from '../../../model/edm.ts'
import { XML_DECLARATION, xmlAttribute, xmlText } from '../../../model/xml.ts'
import { typesOf } from './links.ts'
import { ALIAS, COMPLEX_TYPES, type PropertySheet, propertySheet } from './model.ts'
import { DATA_SERVICES, OLD_EDM, OLD_EDMX } from './namespaces.ts'
import { CONTAINER } from './service.ts'
import type { Place, SetSheet } from './shape.ts'
import { setAnnotations } from './vocabulary.ts'

/** Writes the metadata document of 3.0 (CSDL 3.0; facts on OData, 4.2). */
export function oldMetadataXml(sets: readonly SetSheet[], place: Place): string {
  const types = typesOf(place)
  return [
    `${XML_DECLARATION}<edmx:Edmx Version="1.0" xmlns:edmx="${OLD_EDMX}">\n`,
    `<edmx:DataServices xmlns:m="${DATA_SERVICES.meta}" m:DataServiceVersion="3.0" m:MaxDataServiceVersion="3.0">\n`,
    `<Schema xmlns="${OLD_EDM}" Namespace="${xmlAttribute(types)}" Alias="${ALIAS}">\n`,
    ...Object.entries(COMPLEX_TYPES).map(
      ([name, properties]) =>
        `<ComplexType Name="${name}">\n${properties.map(property => propertyXml(property, null)).join('')}</ComplexType>\n`,
    ),
    `<EntityContainer Name="${CONTAINER}" m:IsDefaultEntityContainer="true">\n`,
    ...sets.map(({ model: { set, namespace, type } }) => {
      const name = xmlAttribute(`${namespace}.${type}`)
      return `<EntitySet Name="${xmlAttribute(set)}" EntityType="${name}"/>\n`
    }),
    '</EntityContainer>\n',
    ...sets.map(sheet => annotations(sheet, types)),
    '</Schema>\n',
    ...sets.map(schema),
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

function schema({ model }: SetSheet): string {
  return [
    `<Schema xmlns="${OLD_EDM}" Namespace="${xmlAttribute(model.namespace)}">\n`,
    `<EntityType Name="${xmlAttribute(model.type)}">\n<Key><PropertyRef Name="${KEY}"/></Key>\n`,
    ...model.properties.map(property =>
      propertyXml(propertySheet(property, '3.0'), property.field.description),
    ),
    '</EntityType>\n</Schema>\n',
  ].join('')
}

function propertyXml({ name, type, nullable }: PropertySheet, description: string | null): string {
  const facets = nullable ? '' : ' Nullable="false"'
  const start = `<Property Name="${xmlAttribute(name)}" Type="${xmlAttribute(type)}"${facets}`
  if (description === null || description === '') return `${start}/>\n`
  return `${start}><Documentation><Summary>${xmlText(description)}</Summary></Documentation></Property>\n`
}
