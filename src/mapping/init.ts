import type { DatasetStatistics, FieldStatistics } from '../model/dataset.ts'
import { type Field, isGeo } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'
import { propertyName } from '../rdf/minted-iris.ts'
import { type InitKind, initKindOf, nameForms, singular, wordsOf } from './init/kind.ts'
import {
  type InitTerm,
  isLatitude,
  isLongitude,
  NAME_WORDS,
  NAMESPACES,
  type TermPart,
  termNamed,
} from './init/terms.ts'
import {
  type DraftResource,
  type DraftStatement,
  type Identity,
  identityOf,
  mappingText,
  reference,
} from './init/write.ts'

/** The dataset for which a first mapping is generated. */
export interface DatasetToMap {
  readonly id: string
  readonly fields: readonly Field[]
  /** Names of the fields that identify a record; empty if its content does. */
  readonly identity: readonly string[]
  readonly statistics?: DatasetStatistics
  /** Language of the dataset's texts, as ISO 639-1 code. */
  readonly language?: string | null
}

/**
 * Generates a first mapping of a dataset as YARRRML, for its publisher to edit: the class of the records, a label, properties of
 * well-known vocabularies if the names of the fields match, and the dataset's own for the others. It has no errors, whatever
 * fields a dataset has.
 */
export function firstMapping(dataset: DatasetToMap): string {
  const kind = initKindOf(dataset.id, dataset.fields)
  const identity = identityOf(dataset)
  const sorted = sortFields(dataset, kind)
  const key = freshKey(kind.word, [])
  const label = labelOf(dataset, sorted, identity, kind)
  const parts: DraftResource[] = []
  const main: DraftStatement[] = [
    { predicate: 'a', object: kind.type, comment: classComment(kind) },
    label,
    ...sorted.main,
  ]
  const link = (part: DraftResource, predicate: string) => {
    parts.push(part)
    main.push({ predicate, object: part.key, comment: `a link: the resource "${part.key}" below` })
  }
  const subjectOf = (word: string) => `portal:${encodeURIComponent(dataset.id)}/${word}/${identity.template}`
  const describe = (word: string, type: string, statements: readonly DraftStatement[]): DraftResource => {
    const fresh = freshKey(word, [key, ...parts.map(part => part.key)])
    return {
      key: fresh,
      subject: subjectOf(fresh),
      statements: [
        { predicate: 'a', object: type },
        { predicate: 'rdfs:label', object: `${sentence(word)} of ${label.object}` },
        ...statements,
      ],
    }
  }
  if (sorted.address.length > 0)
    link(describe('address', 'schema:PostalAddress', sorted.address), 'schema:address')
  if (sorted.offer.length > 0) link(describe('offer', 'schema:Offer', sorted.offer), 'schema:offers')
  const geometries = sorted.geometries
  if (geometries.length > 0) main.splice(1, 0, { predicate: 'a', object: 'geo:Feature' })
  for (const { word, statement } of geometries)
    link(describe(word, 'geo:Geometry', [statement]), 'geo:hasGeometry')
  const resource: DraftResource = {
    key,
    subject: subjectOf(key),
    comment: identity.comment,
    statements: main,
  }
  return mappingText(dataset.id, [resource, ...parts], NAMESPACES)
}

/** A key that is not taken yet, and that YAML does not read as null. */
function freshKey(word: string, taken: readonly string[]): string {
  let key = word
  for (let n = 2; taken.includes(key) || key === 'null'; n++) key = `${word}_${n}`
  return key
}

function classComment({ type, category }: InitKind): string {
  if (category !== 'thing') return 'what the records are: choose a closer class where there is one'
  return `no class is known for "${type.replace('field:', '')}": one of the dataset's own`
}

/** The fields of a dataset by their part of the mapping. */
interface SortedFields {
  readonly names: readonly Field[]
  readonly main: readonly DraftStatement[]
  readonly address: readonly DraftStatement[]
  readonly offer: readonly DraftStatement[]
  readonly geometries: readonly { readonly word: string; readonly statement: DraftStatement }[]
}

function sortFields(dataset: DatasetToMap, kind: InitKind): SortedFields {
  const own = new Set(wordsOf(dataset.id).map(singular))
  const names: Field[] = []
  const statements: Record<TermPart, DraftStatement[]> = { main: [], address: [], offer: [] }
  const geometries: { word: string; statement: DraftStatement }[] = []
  const geoFields = dataset.fields.filter(({ type }) => isGeo(type))
  for (const field of dataset.fields) {
    const { forms, language } = nameForms(field.name, own)
    if (isGeo(field.type)) {
      const word = geoFields.length === 1 ? 'geometry' : field.name
      const statement = { predicate: 'geo:asWKT', object: reference(field.name), comment: described(field) }
      geometries.push({ word, statement })
      continue
    }
    const found = termNamed(forms, field.type, kind.category)
    const term = found?.part === 'address' && kind.type === 'schema:Country' ? undefined : found
    if (term !== undefined && NAME_WORDS.some(word => term.names.includes(word))) names.push(field)
    const statement = statementOf(field, term, language, dataset)
    statements[term?.part ?? 'main'].push(statement)
  }
  const point = kind.category === 'place' && geoFields.length === 0 ? pointOf(dataset.fields) : null
  if (point !== null) geometries.push({ word: 'geometry', statement: point })
  return { names, ...statements, geometries }
}

/** A point from two fields with degrees. */
function pointOf(fields: readonly Field[]): DraftStatement | null {
  const numbers = fields.filter(({ type }) => type === 'double' || type === 'int')
  const latitude = numbers.find(({ name }) => isLatitude(nameForms(name, new Set()).forms))
  const longitude = numbers.find(({ name }) => isLongitude(nameForms(name, new Set()).forms))
  if (latitude === undefined || longitude === undefined) return null
  return {
    predicate: 'geo:asWKT',
    object: `POINT(${reference(longitude.name)} ${reference(latitude.name)})`,
    datatype: 'geo:wktLiteral',
    comment: 'longitude before latitude',
  }
}

function statementOf(
  field: Field,
  term: InitTerm | undefined,
  language: string | null,
  dataset: DatasetToMap,
): DraftStatement {
  const object = reference(field.name)
  const comment = described(field)
  if (term === undefined) return { predicate: `field:${propertyName(field.name)}`, object, comment }
  const { predicate } = term
  const statistics = lookup(dataset.statistics?.fields ?? {}, field.name)
  if (term.resource === true && holdsAddresses(statistics))
    return { predicate, object: `${object}~iri`, comment }
  if (field.type !== 'text') return { predicate, object, comment }
  const spoken = language ?? (term.prose === true ? (dataset.language ?? null) : null)
  return spoken !== null && /^[a-z]{2}$/.test(spoken)
    ? { predicate, object, language: spoken, comment }
    : { predicate, object, comment }
}

/** True if all sampled values of a field are web addresses. */
function holdsAddresses(statistics: FieldStatistics | undefined): boolean {
  const values = statistics?.quantiles ?? []
  return values.length > 0 && values.every(value => /^https?:\/\/[^\s"<>]/.test(String(value)))
}

/** The label of a record: the field with its name, else the fields that identify it. */
function labelOf(
  { fields, statistics }: DatasetToMap,
  { names, main }: Pick<SortedFields, 'names' | 'main'>,
  identity: Identity,
  kind: InitKind,
): DraftStatement {
  const personal = ['schema:givenName', 'schema:familyName'].flatMap(
    required => main.find(({ predicate }) => predicate === required)?.object ?? [],
  )
  if (names.length === 0 && personal.length === 2)
    return { predicate: 'rdfs:label', object: personal.join(' '), comment: 'what people are shown' }
  const named = names.find(({ multivalued }) => !multivalued) ?? names[0] ?? nameLike(fields, statistics)
  if (named !== undefined)
    return { predicate: 'rdfs:label', object: reference(named.name), comment: 'what people are shown' }
  const title = sentence(kind.word)
  return {
    predicate: 'rdfs:label',
    object: `${title} ${identity.template.replaceAll('/', ' ')}`,
    comment: 'no field names the records: choose better words',
  }
}

/** A word of a name in readable form. */
function sentence(word: string): string {
  const words = word.replaceAll('_', ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A single-valued text field whose name contains a word for a name, and which most records have, if statistics are known. */
function nameLike(fields: readonly Field[], statistics: DatasetStatistics | undefined): Field | undefined {
  const texts = fields.filter(({ type, multivalued }) => type === 'text' && !multivalued)
  const named = texts.filter(({ name }) => wordsOf(name).some(word => NAME_WORDS.includes(word)))
  if (statistics === undefined) return named[0]
  return named.find(({ name }) => {
    const known = lookup(statistics.fields, name)
    return known !== undefined && known.present * 2 > statistics.records
  })
}

function described({ label, name, description, type, multivalued }: Field): string {
  const words = description ?? (label === name ? '' : label)
  const kind = multivalued ? 'several texts' : type
  return words === '' ? kind : `${kind}: ${words}`
}
