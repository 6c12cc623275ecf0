import type { DatasetStatistics } from '../../model/dataset.ts'
import { type Field, isGeo } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { words } from '../../model/words.ts'

/** One statement of a generated mapping, in YARRRML syntax. */
export interface DraftStatement {
  readonly predicate: string
  readonly object: string
  readonly datatype?: string
  readonly language?: string
  readonly comment?: string
}

export interface DraftResource {
  readonly key: string
  readonly subject: string
  readonly comment?: string
  readonly statements: readonly DraftStatement[]
}

/** A reference to a field. A name that begins with `_` is escaped, because it would otherwise be an external reference. */
export function reference(field: string): string {
  return `$(${field.startsWith('_') ? '\\' : ''}${field})`
}

/** Writes a mapping with comments for its publisher about what can be changed, and how. */
export function mappingText(
  dataset: string,
  resources: readonly DraftResource[],
  namespaces: Readonly<Record<string, string>>,
): string {
  const body = resources.map(resourceText).join('\n')
  const used = Object.entries(namespaces).filter(([prefix]) => new RegExp(`[\\[ ]${prefix}:`).test(body))
  const prefixes = used.map(([prefix, namespace]) => `  ${prefix}: ${namespace}\n`).join('')
  return `${HEAD(dataset)}${prefixes === '' ? '' : `prefixes:\n${prefixes}\n`}mappings:\n${body}`
}

const HEAD = (
  dataset: string,
) => `# The mapping of the dataset ${dataset}: what its RDF is (YARRRML). A first one, written from the fields; edit it.
#
#   lodestone mapping check ${dataset}      tells what is wrong with it, with line and column
#   lodestone mapping preview ${dataset}    shows the triples of some records
#
# $(name) is the value of the field "name" in each record; a record without one makes no triple.
# A predicate is an IRI or prefix:name. portal: is the address of this portal's resources, field: that of the dataset's
# own properties; rdf, rdfs, xsd, schema, skos, foaf, dcterms and other well-known prefixes need no declaration.
# Statements: [predicate, object], [predicate, object, datatype] or [predicate, object, en~lang];
# an object that ends in ~iri is a resource, and one that is the key of a mapping is a link to its resource.
# Without a datatype a value has that of its field.

`

function resourceText({ key, subject, comment, statements }: DraftResource): string {
  const head = `  ${key}:\n${comment === undefined ? '' : `    # ${commentText(comment, 200)}\n`}    subject: ${subject}\n`
  return `${head}    predicateobjects:\n${statements.map(statementText).join('')}`
}

function statementText({ predicate, object, datatype, language, comment }: DraftStatement): string {
  const third = datatype ?? (language === undefined ? undefined : `${language}~lang`)
  const parts = [predicate, scalar(object), ...(third === undefined ? [] : [third])]
  return `      - [${parts.join(', ')}]${comment === undefined ? '' : ` # ${commentText(comment)}`}\n`
}

/** A scalar in a flow list, quoted unless it is one plain word. */
function scalar(text: string): string {
  return /^[A-Za-z$][^\s,[\]{}#"'`]*$/.test(text) ? text : `'${text.replaceAll("'", "''")}'`
}

const MAX_COMMENT_LENGTH = 80

/** Text on one line, whatever a label or description contains. */
function commentText(text: string, maxLength = MAX_COMMENT_LENGTH): string {
  const line = text.replace(/[\p{C}\p{Z}\s]+/gu, ' ').trim()
  const characters = [...line]
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength - 1).join('')}…`
}

/** The last part of the IRI of a record, with the reason. */
export interface Identity {
  /** Template of the identifying fields, with `/` between them. */
  readonly template: string
  readonly comment: string
}

/** Names of fields that number records, if there are no statistics. */
const ID_NAMES: ReadonlySet<string> = new Set(
  words('id identifier identifiant uid uuid guid gid objectid fid ogc_fid'),
)

/** Maximum fields of an identity; IRIs with more are impractical. */
const MAX_PARTS = 4

/**
 * What identifies the records of a dataset: its id fields, else a field with a distinct value in each record, else the id that
 * Lodestone assigns.
 */
export function identityOf(dataset: {
  readonly fields: readonly Field[]
  readonly identity: readonly string[]
  readonly statistics?: DatasetStatistics
}): Identity {
  const { fields, identity, statistics } = dataset
  const usable = fields.filter(({ type, multivalued }) => !isGeo(type) && !multivalued)
  const declared = identity.flatMap(name => usable.filter(field => field.name === name))
  if (identity.length > 0 && declared.length === identity.length && declared.length <= MAX_PARTS)
    return {
      template: declared.map(({ name }) => reference(name)).join('/'),
      comment:
        'the fields that "id" in dataset.yaml names identify records; equal IRIs merge into one resource',
    }
  const telling = usable.find(field => isUniqueKey(field, statistics))
  if (telling !== undefined)
    return {
      template: reference(telling.name),
      comment: `every record has another ${telling.name}; equal IRIs merge into one resource`,
    }
  return {
    template: '$(recordid)',
    comment: fields.some(({ name }) => name === 'recordid')
      ? 'the field recordid; equal IRIs merge into one resource'
      : 'no field identifies records, so $(recordid), the id that every record has, does',
  }
}

/** True for a field that is known to have a distinct value in each record. */
function isUniqueKey({ name, type, annotations }: Field, statistics: DatasetStatistics | undefined): boolean {
  if (type === 'boolean' || type === 'double') return false
  const likely = ID_NAMES.has(name) || annotations.id !== undefined
  const known = lookup(statistics?.fields ?? {}, name)
  if (statistics === undefined || known === undefined) return likely
  if (known.nulls > 0 || statistics.records === 0) return false
  if (known.distinct === null) return likely
  if (known.distinct !== statistics.records) return false
  return (
    likely ||
    (statistics.records >= 10 &&
      /(?:^|_)(?:id|code|key|ref|num|number|numero|name|nom|title|slug)$/.test(name))
  )
}
