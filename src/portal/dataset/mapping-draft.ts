import path from 'node:path'
import { NOT_PUBLISHED_YET } from '../../catalog/faults.ts'
import { Fault } from '../../errors/errors.ts'
import type { RuleReport } from '../../mapping/compile.ts'
import { type Diagnostic, placesOf } from '../../mapping/diagnostic.ts'
import { directMapping } from '../../mapping/direct.ts'
import type { Mapping } from '../../mapping/ir.ts'
import type { DatasetRecord } from '../../model/value.ts'
import { checkMapping, fileForText } from '../../publishing/mapping/mapping-file.ts'
import {
  firstPublished,
  type Lines,
  mapRecords,
  prefixesOf,
  prettyText,
  shortIri,
} from '../../publishing/mapping/mapping-preview.ts'
import { currentManifest, type VersionManifest, versionsOf } from '../../publishing/versions/versions.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { DataCache } from '../data-cache.ts'
import { highlight } from '../parts/highlight.ts'

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

interface CheckedDraft {
  /** The file that it would be saved to. */
  readonly file: string
  readonly diagnostics: readonly Diagnostic[]
  /** null if the draft has errors. */
  readonly sample: DraftSample | null
}

/** The triples that a draft generates from the first records. */
interface DraftSample {
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
  published(id: string): VersionManifest {
    const manifest = currentManifest(versionsOf(this.portal), id)
    if (manifest === null) throw new Fault(NOT_PUBLISHED_YET, { id })
    return manifest
  }

  /** Checks a draft and, if it has no error, maps the first records with it. Faults: NotPublishedYet. */
  async check({ text, file }: MappingDraft, manifest: VersionManifest): Promise<CheckedDraft> {
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

  private sampleOf(manifest: VersionManifest): Promise<readonly DatasetRecord[]> {
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

/** Maximum reported diagnostics and rules, triples of a change, characters of a block of triples. */
const MAX_REPORTED = 100
const MAX_CHANGES = 40
const MAX_LENGTH = 20_000
/** Maximum linked lines of one diagnostic. */
const MAX_LINKS = 10

/**
 * The results for a draft: its errors, the triples of some records, and the changes.
 *
 * @param opened the file that is edited
 */
export function draftResults(
  pageContext: PageContext,
  { file, diagnostics, sample }: CheckedDraft,
  opened: string,
): Html {
  return html`${file === opened ? '' : otherFile(pageContext, file)}${problems(pageContext, diagnostics)}${sample === null ? '' : html`${changes(pageContext, sample)}${triples(pageContext, sample)}${rules(pageContext, sample)}`}`
}

function problems({ t }: PageContext, diagnostics: readonly Diagnostic[]): Html {
  if (diagnostics.length === 0)
    return html`<h2>${t('Check')}</h2><p class="good">${t('Nothing is wrong with this mapping.')}</p>`
  const names = { error: t('Error'), warning: t('Warning'), info: t('Note') } as const
  const items = diagnostics.slice(0, MAX_REPORTED).map(diagnostic => {
    const { severity, message, hint, code } = diagnostic
    const places = placesOf(diagnostic)
    const links = places
      .filter(({ line }, index) => places.findIndex(other => other.line === line) === index)
      .slice(0, MAX_LINKS)
      .map(
        ({ line, column }) =>
          html`, <a href="#text" data-line="${line}" data-column="${column}">${t('line {line}', { line })}</a>`,
      )
    return html`<li class="is-${severity}"><p><strong>${names[severity]}</strong>${links}: <span lang="en" dir="auto">${message}</span></p>${hint === undefined ? '' : html`<p class="soft" lang="en" dir="auto">${hint}</p>`}<p class="soft"><code>${code}</code></p></li>`
  })
  const rest = diagnostics.length - items.length
  const more = rest > 0 ? html`<p>${t.many('{n} more', '{n} more', rest)}</p>` : ''
  return html`<h2>${t('Check')}</h2><ul class="problems">${items}</ul>${more}`
}

/** A note that a text in the other language is saved to another file. */
function otherFile({ t }: PageContext, file: string): Html {
  const name = { file: `mappings/${path.basename(file)}` }
  return html`<p class="soft">${
    file.endsWith('.ttl')
      ? t('This is RML in Turtle. It will be saved as {file}, in place of the mapping in YARRRML.', name)
      : t('This is YARRRML. It will be saved as {file}, in place of the mapping in RML.', name)
  }</p>`
}

function changes(pageContext: PageContext, { added, removed, records, prefixes }: DraftSample): Html {
  const { t } = pageContext
  const head = html`<h2>${t('What would change')}</h2>`
  if (added.size + removed.size === 0)
    return html`${head}<p>${t.many('The first record stays as it is.', 'The first {n} records stay as they are.', records)}</p>`
  const part = (lines: Lines, sentence: string, name: string) => {
    if (lines.size === 0) return ''
    const some = lines.first(MAX_CHANGES)
    const cut = lines.size - some.size
    const rest = cut > 0 ? html`<p class="soft">${t.many('{n} more', '{n} more', cut)}</p>` : ''
    return html`<details class="${name}"><summary>${sentence}</summary>${block(some, prefixes, sentence)}${rest}</details>`
  }
  return html`${head}<p>${t.many('In the first record:', 'In the first {n} records:', records)}</p>
${part(added, t.many('{n} triple is added', '{n} triples are added', added.size), 'added')}
${part(removed, t.many('{n} triple is removed', '{n} triples are removed', removed.size), 'removed')}`
}

function triples({ t }: PageContext, { shown, prefixes, records, triples }: DraftSample): Html {
  const label = t('Triples of the first records')
  const counts = [t.many('{n} record', '{n} records', records), t.many('{n} triple', '{n} triples', triples)]
  return html`<h2>${label}</h2><p class="facts">${counts.map(count => html`<span>${count}</span> `)}</p>${block(shown.lines, prefixes, label)}`
}

/** Turtle that can be scrolled with the keyboard. */
function block(lines: Lines, prefixes: Readonly<Record<string, string>>, label: string): Html {
  const text = prettyText(lines, prefixes).replace(/^(?:@prefix .*\n)+\n*/, '')
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}\n…` : text
  return html`<pre dir="ltr" tabindex="0" role="region" aria-label="${label}"><code>${highlight(cut, 'turtle')}</code></pre>`
}

function rules({ t, number }: PageContext, { rules, prefixes }: DraftSample): Html {
  const rows = rules.slice(0, 3 * MAX_REPORTED).map(rule => {
    const { resource, predicate, term, place, made: written } = rule
    const line =
      place === undefined
        ? ''
        : html`<a href="#text" data-line="${place.line}" data-column="${place.column}">${number(place.line)}</a>`
    const left = leftOut(t, rule)
    return html`<tr><td class="number">${line}</td><td>${resource}</td><td>${predicate === null ? html`<em>${t('the resource')}</em>` : html`<code>${shortIri(predicate, prefixes)}</code>`}</td><td><code>${shortIri(term, prefixes)}</code></td><td class="number">${number(written)}</td><td>${left.length === 0 ? '' : left.join(', ')}</td></tr>
`
  })
  const label = t('Rules')
  return html`<h2>${label}</h2><div class="scroll" tabindex="0" role="region" aria-label="${label}"><table class="rules"><caption class="hidden">${label}</caption>
<thead><tr><th scope="col" class="number">${t('Line')}</th><th scope="col">${t('Of')}</th><th scope="col">${t('Property')}</th><th scope="col">${t('Value')}</th><th scope="col" class="number">${t('Made')}</th><th scope="col">${t('Left out')}</th></tr></thead>
<tbody>${rows}</tbody></table></div>`
}

function leftOut(t: PageContext['t'], rule: RuleReport): readonly string[] {
  const { nulls, invalidIri, illTyped, invalidDatatype, invalidLanguage, cut } = rule
  const counts = [
    [nulls, t.many('{n} without a value', '{n} without a value', nulls)],
    [invalidIri, t.many('{n} is no IRI', '{n} are no IRIs', invalidIri)],
    [illTyped, t.many('{n} not of the datatype', '{n} not of the datatype', illTyped)],
    [invalidDatatype, t.many('{n} is no datatype', '{n} are no datatypes', invalidDatatype)],
    [invalidLanguage, t.many('{n} is no language tag', '{n} are no language tags', invalidLanguage)],
    [cut, t.many('{n} record with too many combinations', '{n} records with too many combinations', cut)],
  ] as const
  return counts.flatMap(([count, text]) => (count > 0 ? [text] : []))
}
