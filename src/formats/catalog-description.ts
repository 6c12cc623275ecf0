/** Something with a name, and the IRI of what it is where that is known. */
export interface Named {
  readonly name: string
  readonly iri: string | null
}

/** A file in which the records of a dataset are handed out. */
export interface DistributionDescription {
  readonly url: string
  readonly title: string
  readonly description: string
  /** Without parameters: `text/csv`. */
  readonly mediaType: string
  /** What people call it: `csv`. */
  readonly format: string
}

/** An address at which a dataset is asked, rather than fetched. */
export interface DataServiceDescription {
  readonly url: string
  readonly title: string
  readonly description: string
  /** What is spoken there. */
  readonly protocol: Named
}

/** What the catalog tells of one dataset, for formats of catalogs; every text can be held by XML 1.0. */
export interface DatasetDescription {
  readonly id: string
  readonly iri: string
  /** Address that tells of the dataset. */
  readonly page: string
  readonly title: string
  readonly description: string
  /** Language tag of the texts. */
  readonly language: string | null
  readonly keywords: readonly string[]
  readonly themes: readonly Named[]
  readonly publisher: Named | null
  readonly creators: readonly Named[]
  readonly contributors: readonly Named[]
  readonly license: Named | null
  /** Moments in canonical form. */
  readonly issued: string | null
  readonly modified: string | null
  readonly periodicity: Named | null
  readonly contact: { readonly name: string; readonly email: string | null } | null
  readonly places: readonly Named[]
  readonly temporal: { readonly start: string | null; readonly end: string | null } | null
  readonly standards: readonly Named[]
  readonly accessRights: Named | null
  /** Addresses of documents. */
  readonly references: readonly string[]
  readonly distributions: readonly DistributionDescription[]
  readonly services: readonly DataServiceDescription[]
  /** Address of the document that describes its triples. */
  readonly described: string | null
}

/** A catalog whole: its datasets come one after another. */
export interface CatalogDescription {
  readonly iri: string
  readonly homepage: string
  /** Address of the document itself. */
  readonly self: string
  readonly title: string
  readonly description: string
  readonly publisher: Named
  /** Moment of the latest change of any of them; null where there is none. */
  readonly modified: string | null
  readonly datasets: readonly DatasetDescription[]
}
