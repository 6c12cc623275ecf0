import { KEY } from '../../../model/edm.ts'
import { linkTypesOf } from './links.ts'
import { CONTAINER } from './service.ts'
import type { ServicePlace, SetSheet } from './shape.ts'
import {
  ALIAS,
  annotationsJson,
  COMPLEX_TYPES,
  type PropertySheet,
  propertyAnnotations,
  propertySheet,
  SERVICE_CAPABILITIES,
  setAnnotations,
  setCapabilities,
} from './vocabulary.ts'
import { VOCABULARIES, vocabularyAddress } from './vocabulary-documents.ts'

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
