/** A name, with the IRI of the named thing if known. */
export interface Named {
  readonly name: string
  readonly iri: string | null
}

/** A file with the records of a dataset. */
export interface DistributionDescription {
  readonly url: string
  readonly title: string
  readonly description: string
  /** Without parameters: `text/csv`. */
  readonly mediaType: string
  /** Common name: `csv`. */
  readonly format: string
}

/** An endpoint at which a dataset is queried, rather than downloaded. */
export interface DataServiceDescription {
  readonly url: string
  readonly title: string
  readonly description: string
  readonly protocol: Named
}

/** The description of one dataset for catalog formats; every text is valid in XML 1.0. */
export interface DatasetDescription {
  readonly id: string
  readonly iri: string
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
  readonly references: readonly string[]
  readonly distributions: readonly DistributionDescription[]
  readonly services: readonly DataServiceDescription[]
  /** Address of the document that describes its triples. */
  readonly described: string | null
}

/** A complete catalog: its datasets are streamed. */
export interface CatalogDescription {
  readonly iri: string
  readonly homepage: string
  /** Address of the document itself. */
  readonly self: string
  readonly title: string
  readonly description: string
  readonly publisher: Named
  /** Moment of the latest change of any of them; null if there is none. */
  readonly modified: string | null
  readonly datasets: readonly DatasetDescription[]
}
