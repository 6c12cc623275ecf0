import { KEY } from '../../../model/edm.ts'
import { XML_DECLARATION, xmlAttribute } from '../../../model/xml.ts'
import { linkTypesOf } from './links.ts'
import { EDM, EDMX } from './namespaces.ts'
import { CONTAINER } from './service.ts'
import type { ServicePlace, SetSheet } from './shape.ts'
import {
  ALIAS,
  type Annotation,
  annotationXml,
  COMPLEX_TYPES,
  type PropertySheet,
  propertyAnnotations,
  propertySheet,
  SERVICE_CAPABILITIES,
  setAnnotations,
  setCapabilities,
} from './vocabulary.ts'
import { VOCABULARIES, vocabularyAddress } from './vocabulary-documents.ts'

/** Writes the metadata document of 4.0 (CSDL 4.0): a schema of complex types with the container, and one for each set. */
export function metadataXml(sets: readonly SetSheet[], place: ServicePlace): string {
  const types = linkTypesOf(place)
  return [
    `${XML_DECLARATION}<edmx:Edmx Version="4.0" xmlns:edmx="${EDMX}">\n`,
    ...VOCABULARIES.map(vocabulary => {
      const uri = xmlAttribute(vocabularyAddress(vocabulary, 'xml', place))
      const include = `<edmx:Include Namespace="${vocabulary.namespace}" Alias="${vocabulary.alias}"/>`
      return `<edmx:Reference Uri="${uri}">${include}</edmx:Reference>\n`
    }),
    '<edmx:DataServices>\n',
    `<Schema xmlns="${EDM}" Namespace="${xmlAttribute(types)}" Alias="${ALIAS}">\n`,
    ...Object.entries(COMPLEX_TYPES).map(
      ([name, properties]) =>
        `<ComplexType Name="${name}">\n${properties.map(property => propertyXml(property, [])).join('')}</ComplexType>\n`,
    ),
    `<EntityContainer Name="${CONTAINER}">\n`,
    ...sets.map(entitySet),
    ...SERVICE_CAPABILITIES.map(annotationLine),
    '</EntityContainer>\n</Schema>\n',
    ...sets.map(schema),
    '</edmx:DataServices>\n</edmx:Edmx>\n',
  ].join('')
}

function entitySet(sheet: SetSheet): string {
  const { set, namespace, type } = sheet.model
  const annotations = [...setAnnotations(sheet), ...setCapabilities(sheet.model)].map(annotationLine).join('')
  return `<EntitySet Name="${xmlAttribute(set)}" EntityType="${xmlAttribute(`${namespace}.${type}`)}">\n${annotations}</EntitySet>\n`
}

function schema({ model }: SetSheet): string {
  const properties = model.properties.map(property =>
    propertyXml(propertySheet(property, '4.0'), propertyAnnotations(property)),
  )
  return [
    `<Schema xmlns="${EDM}" Namespace="${xmlAttribute(model.namespace)}">\n`,
    `<EntityType Name="${xmlAttribute(model.type)}">\n<Key><PropertyRef Name="${KEY}"/></Key>\n`,
    ...properties,
    '</EntityType>\n</Schema>\n',
  ].join('')
}

function propertyXml(
  { name, type, nullable, precision }: PropertySheet,
  annotations: readonly Annotation[],
): string {
  const facets = `${nullable ? '' : ' Nullable="false"'}${precision === null ? '' : ` Precision="${precision}"`}`
  const start = `<Property Name="${xmlAttribute(name)}" Type="${xmlAttribute(type)}"${facets}`
  if (annotations.length === 0) return `${start}/>\n`
  return `${start}>${annotations.map(annotationXml).join('')}</Property>\n`
}

function annotationLine(annotation: Annotation): string {
  return `${annotationXml(annotation)}\n`
}
