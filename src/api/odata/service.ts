import { KEY } from '../../model/edm.ts'
import { XML_DECLARATION, xmlAttribute, xmlText } from '../../model/xml.ts'
import { contextAddress, linkTypesOf, segment } from './format/links.ts'
import {
  APP,
  ATOM,
  DATA_SERVICES,
  EDM,
  EDMX,
  META,
  OLD_EDM,
  OLD_EDMX,
  type PayloadFormat,
  type ServicePlace,
  type SetSheet,
  setSheet,
  type Version,
} from './format/shape.ts'
import {
  ALIAS,
  type Annotation,
  annotationsJson,
  annotationXml,
  COMPLEX_TYPES,
  type PropertySheet,
  propertyAnnotations,
  propertySheet,
  SERVICE_CAPABILITIES,
  setAnnotations,
  setCapabilities,
} from './format/vocabulary.ts'
import {
  inJson,
  inXml,
  VOCABULARIES,
  type Vocabulary,
  vocabularyAddress,
} from './format/vocabulary-documents.ts'
import type { ODataFormat } from './negotiate.ts'
import type { DocumentResource } from './resource.ts'
import type { ServedSets } from './sets.ts'

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

/** The documents that describe the service: the service document, its metadata, or a vocabulary of these. */
export function serviceText(
  resource: DocumentResource,
  { all }: ServedSets,
  format: ODataFormat,
  place: ServicePlace,
): string {
  if (resource.type === 'vocabulary')
    return resource.format === 'xml' ? inXml(resource.vocabulary) : inJson(resource.vocabulary)
  const sheets = all.map(({ model, entry, updated }) => setSheet(model, entry.dataset.metas, updated))
  if (resource.type === 'service') return serviceDocument(sheets, { ...format, omitNulls: false }, place)
  const isJson = format.type === 'json' && format.version === '4.0'
  return isJson ? metadataJson(sheets, place) : metadataXml(sheets, place, format.version)
}

/**
 * Writes the metadata document as XML (CSDL 4.0, 3.0 and 2.0; OData service 2.2): a schema of complex types with the container, and
 * one for each set. Before 4.0 types have qualified names, for an alias is valid only in its own schema; properties have no
 * child elements, because Olingo 3.0 does not parse them.
 */
export function metadataXml(sets: readonly SetSheet[], place: ServicePlace, version: Version): string {
  const types = linkTypesOf(place)
  const isOld = version !== '4.0'
  const [edm, edmx, number] = isOld ? [OLD_EDM[version], OLD_EDMX, '1.0'] : [EDM, EDMX, '4.0']
  const limits = version === '3.0' ? ' m:MaxDataServiceVersion="3.0"' : ''
  const services = isOld ? ` xmlns:m="${DATA_SERVICES.meta}" m:DataServiceVersion="${version}"${limits}` : ''
  return [
    `${XML_DECLARATION}<edmx:Edmx Version="${number}" xmlns:edmx="${edmx}">\n`,
    ...(isOld ? [] : VOCABULARIES.map(vocabulary => reference(vocabulary, place))),
    `<edmx:DataServices${services}>\n`,
    `<Schema xmlns="${edm}" Namespace="${xmlAttribute(types)}" Alias="${ALIAS}">\n`,
    ...Object.entries(COMPLEX_TYPES).map(
      ([name, properties]) =>
        `<ComplexType Name="${name}">\n${properties.map(property => propertyXml(property, [])).join('')}</ComplexType>\n`,
    ),
    `<EntityContainer Name="${CONTAINER}"${isOld ? ' m:IsDefaultEntityContainer="true"' : ''}>\n`,
    ...sets.map(sheet => entitySetXml(sheet, isOld)),
    ...(isOld ? [] : annotationLines(SERVICE_CAPABILITIES)),
    '</EntityContainer>\n',
    ...(version === '3.0' ? sets.map(sheet => oldAnnotations(sheet, types)) : []),
    '</Schema>\n',
    ...sets.map(({ model }) => {
      const properties = model.properties.map(property =>
        propertyXml(
          propertySheet(property, version, isOld ? types : ALIAS),
          isOld ? [] : propertyAnnotations(property),
        ),
      )
      const key = `<Key><PropertyRef Name="${KEY}"/></Key>`
      return `<Schema xmlns="${edm}" Namespace="${xmlAttribute(model.namespace)}">\n<EntityType Name="${xmlAttribute(model.type)}">\n${key}\n${properties.join('')}</EntityType>\n</Schema>\n`
    }),
    '</edmx:DataServices>\n</edmx:Edmx>\n',
  ].join('')
}

function reference(vocabulary: Vocabulary, place: ServicePlace): string {
  const uri = xmlAttribute(vocabularyAddress(vocabulary, 'xml', place))
  const include = `<edmx:Include Namespace="${vocabulary.namespace}" Alias="${vocabulary.alias}"/>`
  return `<edmx:Reference Uri="${uri}">${include}</edmx:Reference>\n`
}

function entitySetXml(sheet: SetSheet, isOld: boolean): string {
  const { set, namespace, type } = sheet.model
  const start = `<EntitySet Name="${xmlAttribute(set)}" EntityType="${xmlAttribute(`${namespace}.${type}`)}"`
  if (isOld) return `${start}/>\n`
  const annotations = annotationLines([...setAnnotations(sheet), ...setCapabilities(sheet.model)])
  return `${start}>\n${annotations.join('')}</EntitySet>\n`
}

function oldAnnotations(sheet: SetSheet, types: string): string {
  const values = setAnnotations(sheet).flatMap(({ term, value }) =>
    value.type === 'text'
      ? [`<ValueAnnotation Term="${term}" String="${xmlAttribute(value.value)}"/>\n`]
      : [],
  )
  const target = xmlAttribute(`${types}.${CONTAINER}/${sheet.model.set}`)
  return `<Annotations Target="${target}">\n${values.join('')}</Annotations>\n`
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

function annotationLines(annotations: readonly Annotation[]): readonly string[] {
  return annotations.map(annotation => `${annotationXml(annotation)}\n`)
}

/** Writes the metadata document as JSON (CSDL JSON 4.01): the same model as the XML of 4.0. */
export function metadataJson(sets: readonly SetSheet[], place: ServicePlace): string {
  const types = linkTypesOf(place)
  return JSON.stringify({
    $Version: '4.01',
    $EntityContainer: `${types}.${CONTAINER}`,
    $Reference: Object.fromEntries(
      VOCABULARIES.map(vocabulary => [
        vocabularyAddress(vocabulary, 'json', place),
        { $Include: [{ $Namespace: vocabulary.namespace, $Alias: vocabulary.alias }] },
      ]),
    ),
    [types]: {
      $Alias: ALIAS,
      ...Object.fromEntries(
        Object.entries(COMPLEX_TYPES).map(([name, properties]) => [
          name,
          { $Kind: 'ComplexType', ...members(properties.map(property => [property, {}])) },
        ]),
      ),
      [CONTAINER]: {
        $Kind: 'EntityContainer',
        ...Object.fromEntries(sets.map(sheet => [sheet.model.set, entitySet(sheet)])),
        ...annotationsJson(SERVICE_CAPABILITIES),
      },
    },
    ...Object.fromEntries(sets.map(({ model }) => [model.namespace, { [model.type]: entityType(model) }])),
  })
}

function entitySet(sheet: SetSheet): unknown {
  return {
    $Collection: true,
    $Type: `${sheet.model.namespace}.${sheet.model.type}`,
    ...annotationsJson([...setAnnotations(sheet), ...setCapabilities(sheet.model)]),
  }
}

function entityType({ properties }: SetSheet['model']): unknown {
  return {
    $Kind: 'EntityType',
    $Key: [KEY],
    ...members(
      properties.map(property => [
        propertySheet(property, '4.0'),
        annotationsJson(propertyAnnotations(property)),
      ]),
    ),
  }
}

/** Properties by their names; the defaults of CSDL JSON, type string and not nullable, are omitted (section 7). */
function members(
  properties: readonly (readonly [PropertySheet, Readonly<Record<string, unknown>>])[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    properties.map(([{ name, type, nullable, precision }, annotations]) => {
      const item = /^Collection\((.*)\)$/.exec(type)?.[1]
      const single = item ?? type
      return [
        name,
        {
          ...(item === undefined ? {} : { $Collection: true }),
          ...(single === 'Edm.String' ? {} : { $Type: single }),
          ...(nullable ? { $Nullable: true } : {}),
          ...(precision === null ? {} : { $Precision: precision }),
          ...annotations,
        },
      ]
    }),
  )
}
