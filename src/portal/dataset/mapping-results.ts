import path from 'node:path'
import type { RuleReport } from '../../mapping/compile.ts'
import { type Diagnostic, placesOf } from '../../mapping/diagnostic.ts'
import { type Lines, prettyText } from '../../publishing/mapping/mapping-lines.ts'
import { shortIri } from '../../publishing/mapping/mapping-preview.ts'
import { type Html, html } from '../../site/html.ts'
import type { Visit } from '../../site/page-context.ts'
import { highlight } from '../parts/highlight.ts'
import type { CheckedDraft, DraftSample } from './mapping-draft.ts'

/** Diagnostics and rules that are told, triples of a change, characters of a block of triples. */
const MOST_TOLD = 100
const MOST_CHANGES = 40
const LONGEST = 20_000
/** Lines of one diagnostic that are linked. */
const MAX_LINKS = 10

/**
 * What is to be said of a draft: what is wrong, what it makes of some records, what it would change.
 *
 * @param opened the file that is edited
 */
export function draftResults(
  visit: Visit,
  { file, diagnostics, sample }: CheckedDraft,
  opened: string,
): Html {
  return html`${file === opened ? '' : otherFile(visit, file)}${problems(visit, diagnostics)}${sample === null ? '' : html`${changes(visit, sample)}${triples(visit, sample)}${rules(visit, sample)}`}`
}

function problems({ say }: Visit, diagnostics: readonly Diagnostic[]): Html {
  if (diagnostics.length === 0)
    return html`<h2>${say('Check')}</h2><p class="good">${say('Nothing is wrong with this mapping.')}</p>`
  const names = { error: say('Error'), warning: say('Warning'), info: say('Note') } as const
  const items = diagnostics.slice(0, MOST_TOLD).map(diagnostic => {
    const { severity, message, hint, code } = diagnostic
    const places = placesOf(diagnostic)
    const links = places
      .filter(({ line }, index) => places.findIndex(other => other.line === line) === index)
      .slice(0, MAX_LINKS)
      .map(
        ({ line, column }) =>
          html`, <a href="#text" data-line="${line}" data-column="${column}">${say('line {line}', { line })}</a>`,
      )
    return html`<li class="is-${severity}"><p><strong>${names[severity]}</strong>${links}: <span dir="auto">${message}</span></p>${hint === undefined ? '' : html`<p class="soft" dir="auto">${hint}</p>`}<p class="soft"><code>${code}</code></p></li>`
  })
  const rest = diagnostics.length - items.length
  const more = rest > 0 ? html`<p>${say.many('{n} more', '{n} more', rest)}</p>` : ''
  return html`<h2>${say('Check')}</h2><ul class="problems">${items}</ul>${more}`
}

/** A text of the other language goes into another file. */
function otherFile({ say }: Visit, file: string): Html {
  const name = { file: `mappings/${path.basename(file)}` }
  return html`<p class="soft">${
    file.endsWith('.ttl')
      ? say('This is RML in Turtle. It will be saved as {file}, in place of the mapping in YARRRML.', name)
      : say('This is YARRRML. It will be saved as {file}, in place of the mapping in RML.', name)
  }</p>`
}

function changes(visit: Visit, { added, removed, records, prefixes }: DraftSample): Html {
  const { say } = visit
  const head = html`<h2>${say('What would change')}</h2>`
  if (added.size + removed.size === 0)
    return html`${head}<p>${say.many('The first record stays as it is.', 'The first {n} records stay as they are.', records)}</p>`
  const part = (lines: Lines, sentence: string, name: string) => {
    if (lines.size === 0) return ''
    const some = lines.first(MOST_CHANGES)
    const cut = lines.size - some.size
    const rest = cut > 0 ? html`<p class="soft">${say.many('{n} more', '{n} more', cut)}</p>` : ''
    return html`<details class="${name}"><summary>${sentence}</summary>${block(some, prefixes, sentence)}${rest}</details>`
  }
  return html`${head}<p>${say.many('In the first record:', 'In the first {n} records:', records)}</p>
${part(added, say.many('{n} triple is added', '{n} triples are added', added.size), 'added')}
${part(removed, say.many('{n} triple is removed', '{n} triples are removed', removed.size), 'removed')}`
}

function triples({ say }: Visit, { shown, prefixes, records, triples }: DraftSample): Html {
  const label = say('Triples of the first records')
  const figures = [
    say.many('{n} record', '{n} records', records),
    say.many('{n} triple', '{n} triples', triples),
  ]
  return html`<h2>${label}</h2><p class="facts">${figures.map(figure => html`<span>${figure}</span> `)}</p>${block(shown.lines, prefixes, label)}`
}

/** Turtle that can be scrolled with the keyboard. */
function block(lines: Lines, prefixes: Readonly<Record<string, string>>, label: string): Html {
  const text = prettyText(lines, prefixes).replace(/^(?:@prefix .*\n)+\n*/, '')
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}\n…` : text
  return html`<pre dir="ltr" tabindex="0" role="region" aria-label="${label}"><code>${highlight(cut, 'turtle')}</code></pre>`
}

function rules({ say, number }: Visit, { rules, prefixes }: DraftSample): Html {
  const rows = rules.slice(0, 3 * MOST_TOLD).map(rule => {
    const { resource, predicate, term, place, made } = rule
    const line =
      place === undefined
        ? ''
        : html`<a href="#text" data-line="${place.line}" data-column="${place.column}">${number(place.line)}</a>`
    const left = leftOut(say, rule)
    return html`<tr><td class="number">${line}</td><td>${resource}</td><td>${predicate === null ? html`<em>${say('the resource')}</em>` : html`<code>${shortIri(predicate, prefixes)}</code>`}</td><td><code>${shortIri(term, prefixes)}</code></td><td class="number">${number(made)}</td><td>${left.length === 0 ? '' : left.join(', ')}</td></tr>
`
  })
  const label = say('Rules')
  return html`<h2>${label}</h2><div class="scroll" tabindex="0" role="region" aria-label="${label}"><table class="rules"><caption class="hidden">${label}</caption>
<thead><tr><th scope="col" class="number">${say('Line')}</th><th scope="col">${say('Of')}</th><th scope="col">${say('Property')}</th><th scope="col">${say('Value')}</th><th scope="col" class="number">${say('Made')}</th><th scope="col">${say('Left out')}</th></tr></thead>
<tbody>${rows}</tbody></table></div>`
}

function leftOut(say: Visit['say'], rule: RuleReport): readonly string[] {
  const { nulls, invalidIri, illTyped, invalidDatatype, invalidLanguage, cut } = rule
  return [
    ...(nulls > 0 ? [say.many('{n} without a value', '{n} without a value', nulls)] : []),
    ...(invalidIri > 0 ? [say.many('{n} is no IRI', '{n} are no IRIs', invalidIri)] : []),
    ...(illTyped > 0 ? [say.many('{n} not of the datatype', '{n} not of the datatype', illTyped)] : []),
    ...(invalidDatatype > 0 ? [say.many('{n} is no datatype', '{n} are no datatypes', invalidDatatype)] : []),
    ...(invalidLanguage > 0
      ? [say.many('{n} is no language tag', '{n} are no language tags', invalidLanguage)]
      : []),
    ...(cut > 0
      ? [say.many('{n} record with too many combinations', '{n} records with too many combinations', cut)]
      : []),
  ]
}
