import type { AnswerCache } from '../../http/answer-cache.ts'
import type { VersionSource } from '../../http/versions.ts'
import type { Field } from '../../model/field.ts'
import type { Principal } from '../../model/principal.ts'
import type { Literal } from '../../rdf/term.ts'
import { DCTERMS, FOAF, RDFS, SCHEMA, SKOS } from '../../rdf/vocab.ts'
import type { SiteOptions } from '../../site/page-context.ts'
import type { Store } from '../../store/store.ts'

/** What dereferencing needs of a dataset. */
export interface ResourceDataset {
  readonly id: string
  readonly title: string
  readonly publisher: string | null
  /** Name of the licence, and where it stands. */
  readonly licenseName: string | null
  readonly license: string | null
  /** ISO 8601 moment of the publication of this version. */
  readonly modified: string
  readonly version: string
  /** Graph whose triples are served. */
  readonly graph: string
  /** Graph of the facts of its records, where a mapping of its own makes that which is served. */
  readonly facts?: string
  /** The prefixes under which its triples are written. */
  readonly prefixes?: Readonly<Record<string, string>>
  readonly fields: readonly Field[]
  /** Label by predicate IRI. */
  readonly labels: ReadonlyMap<string, string>
  /** What the dataset is, as N-Triples whose subject is its IRI. */
  readonly describe: () => string
}

export interface ResourcesOptions extends SiteOptions {
  /** Bodies that were answered before. */
  readonly answers: AnswerCache
  readonly store: Store
  /** Whether the IRI of a thing redirects to the document about it or answers with it. */
  readonly dereference: 'redirect' | 'direct'
  /** What somebody may see. */
  readonly visibleTo: (
    principal: Principal,
    /** The dataset that is asked for in an older version. */
    requested: { readonly id: string; readonly version: string } | null,
  ) => VisibleResources
  /** The versions of datasets beside those in force. */
  readonly versions?: VersionSource
}

/** A dataset whose triples may link to a resource. */
export interface LinkSource {
  readonly id: string
  readonly title: string
  /** Graph whose triples are served. */
  readonly graph: string
}

/** The datasets that somebody may see. */
export interface VisibleResources {
  /** Faults: NotFoundResource for an id that there is not, Gone for one that was withdrawn, Unauthorised, ForbiddenAccess. */
  readonly dataset: (id: string) => ResourceDataset
  /** True for a record that an earlier version of the dataset had. */
  readonly isRemoved?: (dataset: string, recordId: string) => boolean
  /** Names the versions of all datasets: labels of resources of others, and their links, are in a document too. */
  readonly state?: () => string
  /** All datasets that somebody may see: those whose links to a resource are counted. Without it only its own are. */
  readonly linkSources?: () => readonly LinkSource[]
}

/** What documents are made from: the options, and what the caller may see. */
export type Sight = Pick<ResourcesOptions, 'base' | 'store'> & VisibleResources

/** The predicates that name a resource, the one to prefer first. */
export const NAMING: readonly string[] = [
  RDFS.label,
  SKOS.prefLabel,
  DCTERMS.title,
  SCHEMA.name,
  SCHEMA.name.replace('http:', 'https:'),
  FOAF.name,
  'http://purl.org/dc/elements/1.1/title',
]

/** The field of text whose value names a record; undefined where none does. */
export function namingField(fields: readonly Field[]): Field | undefined {
  const texts = fields.filter(({ type, multivalued }) => type === 'text' && !multivalued)
  for (const pattern of [
    /^(?:name|title|label)$/,
    /(?:^|_)(?:name|title|label|nom|titre|libelle)(?:_|$)/,
    /place/,
  ]) {
    const found = texts.find(({ name }) => pattern.test(name))
    if (found !== undefined) return found
  }
  return undefined
}

/** Of several names the one for a page in a language: in that language, then without any, then in English, then any. */
export function preferredName(names: readonly Literal[], language = 'en'): string | undefined {
  const found =
    names.find(name => name.language === language) ??
    names.find(name => name.language.startsWith(`${language}-`)) ??
    names.find(name => name.language === '') ??
    names.find(name => /^en(?:-|$)/.test(name.language)) ??
    names[0]
  return found?.value
}
