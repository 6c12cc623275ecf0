import type { MetaValue } from '../model/metadata.ts'

/** A dataset offered by a catalog. */
export interface OfferedDataset {
  /** Its id in the catalog. */
  readonly id: string
  readonly url: string
  /** A source format; absent if it is detected from the file. */
  readonly format?: string
  /** As declared in dataset.yaml; absent if they are inferred. */
  readonly fields?: readonly Readonly<Record<string, unknown>>[]
  readonly metas: Readonly<Record<string, Readonly<Record<string, MetaValue>>>>
  /** When its data or description were changed last; null if unknown. */
  readonly modified: string | null
  /** Its page on the other portal. */
  readonly page: string | null
}

/** A dataset that cannot be harvested. */
export interface SkippedDataset {
  readonly dataset: string
  readonly reason: string
}

/** The result of reading a catalog. */
export interface ReadCatalog {
  readonly offered: readonly OfferedDataset[]
  readonly skipped: readonly SkippedDataset[]
  /** Number of datasets in the catalog. */
  readonly found: number
  /** True if all datasets were read: missing ones are then gone. */
  readonly isComplete: boolean
}

/** Fetches the documents of a catalog within the limits of a harvest. */
export interface CatalogReader {
  readonly json: (url: string) => Promise<Given>
  /** Lines of N-Quads of an RDF document. */
  readonly quads: (url: string) => AsyncIterable<string>
  /** Maximum number of datasets that are read. */
  readonly limit: number
}

export type Given = Readonly<Record<string, unknown>>

/** Maximum length of a metadata text. */
const MAX_TEXT = 20_000

/** A value as an object; an empty one for anything else. */
export function objectOf(value: unknown): Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Given) : {}
}

/** A value as a list; an empty one for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

/** A value as trimmed text; null if it is empty or no text. */
export function harvestedText(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim().slice(0, MAX_TEXT) : ''
  return text === '' ? null : text
}

/** The texts of a list, without duplicates. */
export function harvestedTexts(values: readonly unknown[]): readonly string[] | null {
  const texts = [...new Set(values.map(harvestedText).filter(text => text !== null))].slice(0, 200)
  return texts.length === 0 ? null : texts
}

/** The moment that a text denotes; null for none. */
export function harvestedMoment(value: unknown): string | null {
  const text = harvestedText(value)
  if (text === null || !/^\d{4}-\d\d/.test(text)) return null
  // Moments without offset are UTC, as written by CKAN.
  const moment = new Date(/T[\d:.]+$/.test(text) ? `${text}Z` : text)
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString()
}

/** A text as http address; null for anything else. */
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

/** Metadata without empty values. */
export function present(metas: Readonly<Record<string, MetaValue>>): Readonly<Record<string, MetaValue>> {
  return Object.fromEntries(Object.entries(metas).filter(([, value]) => value !== null))
}

/** The result of reading a catalog: datasets that can be harvested and those that cannot. */
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
