import { NOT_PUBLISHED_YET } from '../../catalog/faults.ts'
import { Fault } from '../../errors/errors.ts'
import type { RuleReport } from '../../mapping/compile.ts'
import type { Diagnostic } from '../../mapping/diagnostic.ts'
import { directMapping } from '../../mapping/init/write.ts'
import type { Mapping } from '../../mapping/ir.ts'
import type { DatasetRecord } from '../../model/value.ts'
import { checkMapping, fileForText } from '../../publishing/mapping/mapping-file.ts'
import {
  firstPublished,
  type Lines,
  mapRecords,
  prefixesOf,
} from '../../publishing/mapping/mapping-preview.ts'
import { currentManifest, type Manifest, versionsOf } from '../../publishing/versions/versions.ts'
import { DataCache } from '../data-cache.ts'

/** Number of records that are mapped to show changes, and of those whose triples are shown. */
const SAMPLE = 100
const SHOWN_RECORDS = 3

/** Triples after which no further record of the sample is mapped. */
const MAX_TRIPLES = 50_000

/** The text of an edited mapping. */
export interface MappingDraft {
  readonly text: string
  /** The edited or new file: its extension identifies the language. */
  readonly file: string
}

/** The results for a draft. */
export interface CheckedDraft {
  /** The file that it would be saved to. */
  readonly file: string
  readonly diagnostics: readonly Diagnostic[]
  /** null if the draft has errors. */
  readonly sample: DraftSample | null
}

/** The triples that a draft generates from the first records. */
export interface DraftSample {
  readonly prefixes: Readonly<Record<string, string>>
  readonly shown: { readonly records: number; readonly lines: Lines }
  readonly records: number
  readonly triples: number
  readonly rules: readonly RuleReport[]
  /** Compared with the current mapping. */
  readonly added: Lines
  readonly removed: Lines
}

/** Checks drafts against the published version, whose first records it caches. */
export class DraftChecker {
  private readonly portal: string
  private readonly base: string
  private readonly samples = new DataCache(20)

  constructor({ portal, base }: { readonly portal: string; readonly base: string }) {
    this.portal = portal
    this.base = base
  }

  /** The published version that a draft is checked against. Faults: NotPublishedYet. */
  published(id: string): Manifest {
    const manifest = currentManifest(versionsOf(this.portal), id)
    if (manifest === null) throw new Fault(NOT_PUBLISHED_YET, { id })
    return manifest
  }

  /** Checks a draft and, if it has no error, maps the first records with it. Faults: NotPublishedYet. */
  async check({ text, file }: MappingDraft, manifest: Manifest): Promise<CheckedDraft> {
    const { dataset, statistics } = manifest
    const { id, fields } = dataset
    const { base } = this
    const place = { id, base, fields }
    const { mapping, diagnostics: found } = checkMapping({ file, text }, { ...place, statistics })
    const diagnostics = [...found].sort(
      (a, b) => a.place.line - b.place.line || a.place.column - b.place.column,
    )
    const target = fileForText(file, text)
    if (mapping === null) return { file: target, diagnostics, sample: null }
    const records = await this.sampleOf(manifest)
    const inForce = manifest.mapping?.mapping ?? directMapping(base, dataset)
    return { file: target, diagnostics, sample: sampleOf(mapping, inForce, place, records) }
  }

  private sampleOf(manifest: Manifest): Promise<readonly DatasetRecord[]> {
    const { dataset, version } = manifest
    return this.samples.of(`${dataset.id} ${version}`, () =>
      firstPublished(versionsOf(this.portal), manifest, SAMPLE),
    )
  }
}

function sampleOf(
  mapping: Mapping,
  inForce: Mapping,
  place: Parameters<typeof mapRecords>[1],
  records: readonly DatasetRecord[],
): DraftSample {
  const mapped = mapRecords(mapping, place, records, MAX_TRIPLES)
  const before = mapRecords(inForce, place, records.slice(0, mapped.records))
  const first = records.slice(0, SHOWN_RECORDS)
  return {
    prefixes: prefixesOf(mapping, place.base, place.id),
    shown: { records: first.length, lines: mapRecords(mapping, place, first).lines },
    records: mapped.records,
    triples: mapped.lines.size,
    rules: mapped.rules,
    added: mapped.lines.without(before.lines),
    removed: before.lines.without(mapped.lines),
  }
}
