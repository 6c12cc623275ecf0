import { type MetaValue, textStart } from '../model/metadata.ts'
import { canonicalMoment } from '../model/time.ts'
import { unreadable } from '../sources/source.ts'

/** A dataset offered by a catalog. */
export interface OfferedDataset {
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
  readonly found: number
  /** Number of them that were left out because of the limit, or not read. */
  readonly left: number
  /** True if all datasets were read: missing ones are then gone. */
  readonly isComplete: boolean
}

/** Fetches the documents of a catalog within the limits of a harvest. */
export interface CatalogReader {
  readonly json: (url: string) => Promise<Given>
  /** Lines of N-Quads of an RDF document. */
  readonly quads: (url: string) => AsyncIterable<string>
  /** Maximum number of required datasets. */
  readonly limit: number
  readonly isRequired: (dataset: string) => boolean
}

export type Given = Readonly<Record<string, unknown>>

/** Maximum length of a metadata text. */
export const MAX_TEXT = 20_000

/** A value as an object; an empty one for anything else. */
export function objectOf(value: unknown): Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Given) : {}
}

/** A value as a list; an empty one for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

/** A value as trimmed text, cut if it is long, without halves of surrogate pairs; null if it is empty or no text. */
export function harvestedText(value: unknown): string | null {
  const text = typeof value === 'string' ? textStart(value.trim(), MAX_TEXT) : ''
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
  const moment = canonicalMoment(text)
  return moment === null ? null : new Date(moment).toISOString()
}

/** The tag of a language that is given as tag, as code of three letters, or as IRI that ends with one of them. */
export function harvestedLanguage(value: unknown): string | null {
  const code = harvestedText(harvestedText(value)?.replace(/^.*[/#]/, ''))
  if (code === null || !/^[a-z]{2,3}(?:-[a-z\d]+)*$/i.test(code)) return code
  try {
    return Intl.getCanonicalLocales(code)[0] ?? code
  } catch {
    return code
  }
}

/** A text as http address; null for anything else. */
export function addressOf(value: unknown, base?: string, protocols = /^https?:$/): string | null {
  const text = harvestedText(value)
  if (text === null || text.length > 2000) return null
  try {
    const url = new URL(text, base)
    url.hash = ''
    const isUsable = protocols.test(url.protocol) && url.username === '' && url.password === ''
    return isUsable ? url.href : null
  } catch {
    return null
  }
}

/** A text as address of a file, as sources have them; null for anything else. */
export function fileAddressOf(value: unknown, base: string): string | null {
  return addressOf(value, base, /^(?:https?|ftps?):$/)
}

/** Metadata without empty values. */
export function present(metas: Readonly<Record<string, MetaValue>>): Readonly<Record<string, MetaValue>> {
  return Object.fromEntries(Object.entries(metas).filter(([, value]) => value !== null))
}

/** The id of a dataset of a catalog: a text or a number; null for anything else. */
export function harvestedId(value: unknown): string | null {
  return harvestedText(typeof value === 'number' ? String(value) : value)
}

/** The number of datasets according to a catalog. Faults: SourceUnreadable if it is no number. @param read those that were read */
export function harvestedCount(value: unknown, read: number, url: string): number {
  if (value === undefined || value === null) return read
  const count = typeof value === 'string' ? Number(value) : value
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0) return count
  const shown = JSON.stringify(value).slice(0, 100)
  throw unreadable(`The catalog has ${shown} datasets: a number is expected.`, { file: url })
}

/** The required datasets of a catalog, up to the limit. */
export class Offers {
  private readonly reader: Pick<CatalogReader, 'limit' | 'isRequired'>
  private readonly ids = new Set<string>()
  private readonly required = new Map<string, OfferedDataset | SkippedDataset>()
  private readonly nameless: SkippedDataset[] = []
  private readonly beyond = new Set<string>()

  constructor(reader: Pick<CatalogReader, 'limit' | 'isRequired'>) {
    this.reader = reader
  }

  /** Whether there are more required datasets than the limit. */
  get isFull(): boolean {
    return this.beyond.size > 0
  }

  /** Number of different datasets. */
  get size(): number {
    return this.ids.size + this.nameless.length
  }

  /** @param id null for a dataset without one */
  add(id: string | null, describe: (id: string) => OfferedDataset | SkippedDataset): void {
    if (id === null) {
      this.nameless.push({ dataset: `number ${this.size + 1}`, reason: 'it has no identifier' })
      return
    }
    this.ids.add(id)
    if (!this.reader.isRequired(id)) return
    if (this.required.has(id) || this.required.size < this.reader.limit) this.required.set(id, describe(id))
    else this.beyond.add(id)
  }

  /** @param found number of datasets of the catalog, of which some may not have been read */
  result(found = this.size, isWhole = true): ReadCatalog {
    const all = [...this.required.values()]
    const unread = Math.max(0, found - this.size)
    return {
      offered: all.filter(each => 'url' in each),
      skipped: [...all.filter(each => 'reason' in each), ...this.nameless],
      found,
      left: this.beyond.size + unread,
      // One without an id may be any that was harvested before.
      isComplete: isWhole && !this.isFull && unread === 0 && this.nameless.length === 0,
    }
  }
}
