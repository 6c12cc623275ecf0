import { XML_DECLARATION } from '../../../model/xml.ts'
import { EDM, EDMX, type ServicePlace } from './shape.ts'

/** Path segment of the vocabulary documents, below the root of the service. */
export const VOCABULARY_SEGMENT = '$vocabularies'

export type VocabularyFormat = 'xml' | 'json'

/** A term with the type of its value and the elements of a model that it applies to (CSDL 4.0, section 14.1). */
interface Term {
  readonly type: string
  readonly appliesTo: 'EntityContainer' | 'EntitySet' | null
}

/** The terms and types of an OASIS vocabulary that this service uses. */
export interface Vocabulary {
  readonly namespace: string
  readonly alias: string
  readonly enumerations: Readonly<Record<string, readonly string[]>>
  /** Properties of complex types, with their types. */
  readonly complexTypes: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly terms: Readonly<Record<string, Term>>
}

const flag = { type: 'Edm.Boolean', appliesTo: 'EntityContainer' } as const
const restriction = (type: string) =>
  ({ type: `Org.OData.Capabilities.V1.${type}`, appliesTo: 'EntitySet' }) as const

/** The vocabularies that the metadata document refers to, as far as the service uses them. */
export const VOCABULARIES: readonly Vocabulary[] = [
  {
    namespace: 'Org.OData.Core.V1',
    alias: 'Core',
    enumerations: {},
    complexTypes: {},
    terms: {
      Description: { type: 'Edm.String', appliesTo: null },
      ODataVersions: { type: 'Edm.String', appliesTo: 'EntityContainer' },
    },
  },
  {
    namespace: 'Org.OData.Capabilities.V1',
    alias: 'Capabilities',
    enumerations: { ConformanceLevelType: ['Minimal', 'Intermediate', 'Advanced'] },
    complexTypes: {
      InsertRestrictionsType: { Insertable: 'Edm.Boolean' },
      UpdateRestrictionsType: { Updatable: 'Edm.Boolean' },
      DeleteRestrictionsType: { Deletable: 'Edm.Boolean' },
      ExpandRestrictionsType: { Expandable: 'Edm.Boolean' },
      FilterRestrictionsType: { NonFilterableProperties: 'Collection(Edm.PropertyPath)' },
      SortRestrictionsType: { NonSortableProperties: 'Collection(Edm.PropertyPath)' },
    },
    terms: {
      ConformanceLevel: {
        type: 'Org.OData.Capabilities.V1.ConformanceLevelType',
        appliesTo: 'EntityContainer',
      },
      KeyAsSegmentSupported: flag,
      BatchSupported: flag,
      CrossJoinSupported: flag,
      ComputeSupported: flag,
      FilterFunctions: { type: 'Collection(Edm.String)', appliesTo: 'EntityContainer' },
      InsertRestrictions: restriction('InsertRestrictionsType'),
      UpdateRestrictions: restriction('UpdateRestrictionsType'),
      DeleteRestrictions: restriction('DeleteRestrictionsType'),
      ExpandRestrictions: restriction('ExpandRestrictionsType'),
      FilterRestrictions: restriction('FilterRestrictionsType'),
      SortRestrictions: restriction('SortRestrictionsType'),
    },
  },
  {
    namespace: 'Org.OData.Aggregation.V1',
    alias: 'Aggregation',
    enumerations: {},
    complexTypes: { ApplySupportedBase: { Transformations: 'Collection(Edm.String)' } },
    terms: {
      ApplySupportedDefaults: {
        type: 'Org.OData.Aggregation.V1.ApplySupportedBase',
        appliesTo: 'EntityContainer',
      },
    },
  },
]

/** The address of the document of a vocabulary: the service's own, so that clients need no other host. */
export function vocabularyAddress(
  { namespace }: Vocabulary,
  format: VocabularyFormat,
  { root }: ServicePlace,
): string {
  return `${root}/${VOCABULARY_SEGMENT}/${namespace}.${format}`
}

/** Writes a vocabulary as a document of its own (CSDL 4.0). */
export function inXml({ namespace, alias, enumerations, complexTypes, terms }: Vocabulary): string {
  const members = (names: readonly string[]) =>
    names.map((name, value) => `<Member Name="${name}" Value="${value}"/>`).join('')
  const properties = (types: Readonly<Record<string, string>>) =>
    Object.entries(types)
      .map(([name, type]) => `<Property Name="${name}" Type="${type}"${ifCollection(type)}/>`)
      .join('')
  return [
    `${XML_DECLARATION}<edmx:Edmx Version="4.0" xmlns:edmx="${EDMX}">\n<edmx:DataServices>\n`,
    `<Schema xmlns="${EDM}" Namespace="${namespace}" Alias="${alias}">\n`,
    ...Object.entries(enumerations).map(
      ([name, names]) => `<EnumType Name="${name}">${members(names)}</EnumType>\n`,
    ),
    ...Object.entries(complexTypes).map(
      ([name, types]) => `<ComplexType Name="${name}">${properties(types)}</ComplexType>\n`,
    ),
    ...Object.entries(terms).map(([name, { type, appliesTo }]) => {
      const target = appliesTo === null ? '' : ` AppliesTo="${appliesTo}"`
      return `<Term Name="${name}" Type="${type}"${ifCollection(type)}${target}/>\n`
    }),
    '</Schema>\n</edmx:DataServices>\n</edmx:Edmx>\n',
  ].join('')
}

function ifCollection(type: string): string {
  return type.startsWith('Collection(') ? ' Nullable="false"' : ''
}

/** Writes a vocabulary as a document of its own (CSDL JSON 4.01). */
export function inJson({ namespace, alias, enumerations, complexTypes, terms }: Vocabulary): string {
  const each = <From>(entries: Readonly<Record<string, From>>, write: (from: From) => unknown) =>
    Object.fromEntries(Object.entries(entries).map(([name, from]) => [name, write(from)]))
  return JSON.stringify({
    $Version: '4.01',
    [namespace]: {
      $Alias: alias,
      ...each(enumerations, names => ({
        $Kind: 'EnumType',
        ...Object.fromEntries(names.map((name, value) => [name, value])),
      })),
      ...each(complexTypes, types => ({ $Kind: 'ComplexType', ...each(types, typeJson) })),
      ...each(terms, ({ type, appliesTo }) => ({
        $Kind: 'Term',
        ...typeJson(type),
        ...(appliesTo === null ? {} : { $AppliesTo: [appliesTo] }),
      })),
    },
  })
}

/** Omits type string, the default of CSDL JSON; only collections are not nullable, as is the default of XML. */
function typeJson(type: string): Readonly<Record<string, unknown>> {
  const item = /^Collection\((.*)\)$/.exec(type)?.[1]
  const single = item ?? type
  return {
    ...(item === undefined ? { $Nullable: true } : { $Collection: true }),
    ...(single === 'Edm.String' ? {} : { $Type: single }),
  }
}
