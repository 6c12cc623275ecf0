import { momentMeta } from '../../catalog/catalog-dataset.ts'
import { lookup } from '../../model/lookup.ts'
import type { MetaValue } from '../../model/metadata.ts'
import { TEMPLATES } from '../../model/templates.ts'
import { remoteState } from '../../publishing/remote/state.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { CATALOG_PATH } from '../catalog-page.ts'
import { modifiedOf } from '../parts/cards.ts'
import { withLinks } from '../parts/rich-text.ts'
import { NOTHING_SELECTED, selectionParameters } from '../selection.ts'
import type { TabContext } from './tab.ts'

/** Labels of common metadata, in the order of display. */
const KNOWN: Readonly<Record<string, { readonly label: string }>> = {
  publisher: { label: 'Publisher' },
  creator: { label: 'Creator' },
  contributor: { label: 'Contributors' },
  contact_name: { label: 'Contact' },
  contact_email: { label: 'E-mail' },
  attributions: { label: 'Attributions' },
  license: { label: 'Licence' },
  rights: { label: 'Rights' },
  accessRights: { label: 'Access rights' },
  language: { label: 'Language' },
  theme: { label: 'Themes' },
  keyword: { label: 'Keywords' },
  modified: { label: 'Last modified' },
  data_processed: { label: 'Last processed' },
  created: { label: 'Created' },
  issued: { label: 'Issued' },
  update_frequency: { label: 'Update frequency' },
  accrualperiodicity: { label: 'Update frequency' },
  temporal: { label: 'Period' },
  temporal_coverage_start: { label: 'Begin of the period' },
  temporal_coverage_end: { label: 'End of the period' },
  territory: { label: 'Territory' },
  geographic_reference: { label: 'Geographic reference' },
  spatial: { label: 'Place' },
  granularity: { label: 'Granularity' },
  dataquality: { label: 'Data quality' },
  conforms_to: { label: 'Conforms to' },
  relation: { label: 'Related' },
  timezone: { label: 'Time zone' },
  references: { label: 'References' },
  source_domain_title: { label: 'Source' },
  publisher_type: { label: 'Type of publisher' },
}
const ORDER = Object.keys(KNOWN)

/** Entries of the catalog's facets: each value links to the datasets that have it. */
const FACETS: ReadonlySet<string> = new Set(['publisher', 'license', 'language', 'theme', 'keyword'])

/** Shown elsewhere on the page, or described by Lodestone itself. */
const OMITTED_FIELDS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'license_url',
  'modified',
  'data_processed',
  'metadata_processed',
  'records_count',
])

/** Templates that are about the portal and not about the data. */
const INTERNAL: ReadonlySet<string> = new Set(['visualization', 'explore', 'internal', 'semantic'])

const TEMPLATE_TITLES: Readonly<Record<string, string>> = {
  dcat_ap_ch: 'DCAT-AP CH',
  'dublin-core': 'Dublin Core',
  inspire: 'INSPIRE',
}

interface Item {
  readonly name: string
  readonly label: string
  readonly value: Html
}

/** All metadata of a dataset, of every template, except empty values. */
export function metadataList(context: TabContext): Html {
  const { pageContext, entry } = context
  const { metas, id } = entry.dataset
  const own: readonly Item[] = [
    item(pageContext, 'modified', html`${dateOf(pageContext, modifiedOf(entry))}`),
    item(pageContext, 'data_processed', html`${dateOf(pageContext, entry.published)}`),
  ]
  const standard = [...own, ...itemsOf(context, 'default'), ...itemsOf(context, 'dcat')].sort(
    (a, b) => rank(a.name) - rank(b.name),
  )
  const identifier = { name: 'id', label: pageContext.t('Identifier'), value: html`<code>${id}</code>` }
  const further = Object.keys(metas)
    .filter(template => !['default', 'dcat'].includes(template) && !INTERNAL.has(template))
    .flatMap(template => {
      const items = itemsOf(context, template)
      const title = lookup(TEMPLATE_TITLES, template) ?? pageContext.t('More of its publisher')
      return items.length === 0 ? [] : [html`<h3>${title}</h3>${list(items)}`]
    })
  return html`${list([...standard, identifier, ...originOf(context)])}${further}`
}

/** The source address of the data, the last success, and the number of failures since. */
function originOf({ pageContext, entry, services }: TabContext): readonly Item[] {
  const state = remoteState(services.portal, entry.dataset.id)
  if (state === null || state.fetched === undefined) return []
  const { protocol, host, pathname } = new URL(state.url)
  const { t } = pageContext
  return [
    {
      name: 'origin',
      label: t('Fetched from'),
      value: html`${withLinks(`${protocol}//${host}${pathname}`)}`,
    },
    { name: 'fetched', label: t('Last fetched'), value: html`${dateOf(pageContext, state.fetched)}` },
    ...(state.failures > 0
      ? [
          {
            name: 'failures',
            label: t('Failed attempts since'),
            value: html`${pageContext.number(state.failures)}`,
          },
        ]
      : []),
  ]
}

function list(items: readonly Item[]): Html {
  return html`<dl class="metas">${items.map(
    ({ label, value }) => html`<div><dt>${label}</dt><dd>${value}</dd></div>
`,
  )}</dl>`
}

function rank(name: string): number {
  const at = ORDER.indexOf(name)
  return at < 0 ? ORDER.length : at
}

function itemsOf(context: TabContext, template: string): readonly Item[] {
  const given = lookup(context.entry.dataset.metas, template) ?? {}
  return Object.entries(given).flatMap(([name, value]) => {
    if (template === 'default' && (OMITTED_FIELDS.has(name) || isHidden(name))) return []
    const shown = valueText(context, template, name, value)
    return shown === null ? [] : [item(context.pageContext, name, shown, template)]
  })
}

function item({ t }: PageContext, name: string, value: Html, template = 'default'): Item {
  const known = lookup(KNOWN, name)
  if (known !== undefined) return { name, label: t(known.label), value }
  const schema = TEMPLATES.find(each => each.name === template)?.schema
  return { name, label: schema?.find(each => each.name === name)?.label ?? name, value }
}

/** True for metadata that the service computes, except the source: they are of no use to readers. */
function isHidden(name: string): boolean {
  const entry = TEMPLATES.find(each => each.name === 'default')?.schema.find(each => each.name === name)
  return entry?.hidden === true && lookup(KNOWN, name) === undefined
}

function valueText(context: TabContext, template: string, name: string, value: MetaValue): Html | null {
  const { pageContext, entry } = context
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return null
  if (typeof value === 'boolean') return html`${value ? pageContext.t('yes') : pageContext.t('no')}`
  if (typeof value === 'number') return html`${pageContext.number(value)}`
  if (template === 'default' && FACETS.has(name)) {
    const values = (Array.isArray(value) ? value : [value]).map(String)
    const links = values.map(
      each =>
        html`<a href="${catalogLink(pageContext, name, each)}">${name === 'language' ? languageName(pageContext, each) : each}</a>`,
    )
    if (name === 'theme' || name === 'keyword')
      return html`<ul class="inline">${links.map(link => html`<li>${link}</li> `)}</ul>`
    const url = name === 'license' ? entry.dataset.metas.default?.license_url : null
    const text = typeof url === 'string' && /^https?:/.test(url) ? html` – ${withLinks(url)}` : ''
    return html`${links.map((link, at) => html`${at === 0 ? '' : ', '}${link}`)}${text}`
  }
  if (Array.isArray(value))
    return html`${value.map((each, at) => html`${at === 0 ? '' : ', '}${withLinks(String(each))}`)}`
  if (typeof value === 'object') return html`<code>${JSON.stringify(value).slice(0, 500)}</code>`
  const moment = /^\d{4}-\d\d-\d\d(?:T|$)/.test(String(value)) ? momentMeta(value) : null
  if (moment !== null) return html`${dateOf(pageContext, moment)}`
  if (name === 'contact_email') return html`<a href="mailto:${String(value)}">${String(value)}</a>`
  return withLinks(String(value))
}

function dateOf(pageContext: PageContext, iso: string): Html {
  return html`<time datetime="${iso}">${pageContext.date(iso)}</time>`
}

function catalogLink(pageContext: PageContext, facet: string, value: string): string {
  return pageContext.href(
    CATALOG_PATH,
    selectionParameters({ ...NOTHING_SELECTED, refine: [{ facet, value }] }),
  )
}

/** The name of a language code such as `fr` in the language of the page. */
function languageName({ language }: PageContext, code: string): string {
  if (!/^[a-z]{2,3}(?:-[A-Za-z0-9]+)*$/.test(code)) return code
  try {
    return new Intl.DisplayNames([language], { type: 'language' }).of(code) ?? code
  } catch {
    return code
  }
}
