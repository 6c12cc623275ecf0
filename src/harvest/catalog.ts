import type { MetaValue } from '../model/metadata.ts'

/** A dataset as a catalog offers it. */
export interface OfferedDataset {
  /** Its id there. */
  readonly id: string
  readonly url: string
  /** One of the formats of sources; absent where the file says it. */
  readonly format?: string
  /** As dataset.yaml declares them; absent where they are inferred. */
  readonly fields?: readonly Readonly<Record<string, unknown>>[]
  readonly metas: Readonly<Record<string, Readonly<Record<string, MetaValue>>>>
  /** When its data or its description were changed last; null where that is not said. */
  readonly modified: string | null
  /** Its page there. */
  readonly page: string | null
}

/** A dataset that cannot be taken over. */
export interface SkippedDataset {
  readonly dataset: string
  readonly reason: string
}

/** What was read of a catalog. */
export interface ReadCatalog {
  readonly offered: readonly OfferedDataset[]
  readonly skipped: readonly SkippedDataset[]
  /** Datasets that the catalog has. */
  readonly found: number
  /** True where all of them were seen: what is missing is then gone. */
  readonly isComplete: boolean
}

/** Fetches the documents of a catalog within the limits of a harvest. */
export interface CatalogReader {
  readonly json: (url: string) => Promise<Given>
  /** Lines of N-Quads of a document of RDF. */
  readonly quads: (url: string) => AsyncIterable<string>
  /** The maximum number of datasets that are read. */
  readonly limit: number
}

export type Given = Readonly<Record<string, unknown>>

/** The maximum length of a text of metadata. */
const MAX_TEXT = 20_000

/** The object that a value is; an empty one for anything else. */
export function objectOf(value: unknown): Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Given) : {}
}

/** The list that a value is; an empty one for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

/** The text that a value is, without blanks around; null for none. */
export function harvestedText(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim().slice(0, MAX_TEXT) : ''
  return text === '' ? null : text
}

/** The texts of a list, each once. */
export function harvestedTexts(values: readonly unknown[]): readonly string[] | null {
  const texts = [...new Set(values.map(harvestedText).filter(text => text !== null))].slice(0, 200)
  return texts.length === 0 ? null : texts
}

/** The moment that a text stands for; null for none. */
export function harvestedMoment(value: unknown): string | null {
  const text = harvestedText(value)
  if (text === null || !/^\d{4}-\d\d/.test(text)) return null
  // Moments without offset are those of UTC, as CKAN writes them.
  const moment = new Date(/T[\d:.]+$/.test(text) ? `${text}Z` : text)
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString()
}

/** The http address that a text is; null for anything else. */
export function addressOf(value: unknown, base?: string): string | null {
  const text = harvestedText(value)
  if (text === null || text.length > 2000) return null
  try {
    const url = new URL(text, base)
    url.hash = ''
    const isUsable = /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
    return isUsable ? url.href : null
  } catch {
    return null
  }
}

/** Metadata without those that have no value. */
export function present(metas: Readonly<Record<string, MetaValue>>): Readonly<Record<string, MetaValue>> {
  return Object.fromEntries(Object.entries(metas).filter(([, value]) => value !== null))
}

/** What was read of a catalog: what can be harvested of it and what cannot. */
export function readCatalogOf(
  all: readonly (OfferedDataset | SkippedDataset)[],
  found: number,
  isComplete: boolean,
): ReadCatalog {
  return {
    offered: all.filter(each => 'url' in each),
    skipped: all.filter(each => 'reason' in each),
    found,
    isComplete,
  }
}
