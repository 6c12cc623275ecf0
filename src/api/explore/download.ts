import { many } from '../../http/parameters.ts'
import { isDamaged, parseQueryString, type QueryParameters } from '../../http/query-string.ts'

/** Addresses from which pages of portals, and clients such as odsclient, download a dataset. */
const DOWNLOAD = /^\/explore\/dataset\/([^/?#]+)\/download\/?(?:\?(.*))?$/s

const EXPORTS = '/api/explore/v2.1/catalog/datasets'

/** Parameters of downloads with their names in exports; others keep their names. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['rows', 'limit'],
  ['start', 'offset'],
  ['use_labels_for_header', 'use_labels'],
  ['csv_separator', 'delimiter'],
])

/** Formats of downloads with their names in exports. */
const FORMATS: ReadonlyMap<string, string> = new Map([['xls', 'xlsx']])

/**
 * The request target of the export that a download means (`/explore/dataset/{id}/download/?format=csv`; vendor's
 * documentation of the Search API v1, "Records Download API"); other targets unchanged. The export is answered in place:
 * a redirect would copy an API key of the address into another one.
 */
export function exportTarget(target: string): string {
  const [, dataset, text = ''] = DOWNLOAD.exec(target) ?? []
  if (dataset === undefined) return target
  const query: QueryParameters = parseQueryString(text)
  const [given = 'csv'] = valuesOf(query, 'format')
  const format = FORMATS.get(given) ?? given
  const path = `${EXPORTS}/${dataset}/exports/${encodeURIComponent(format)}`
  // An undecodable query is refused by the export route.
  if (isDamaged(query)) return `${path}?${text}`
  const mark = query.with_bom === undefined ? [['with_bom', 'false'] as const] : []
  const parameters = new URLSearchParams([...mark, ...exportParameters(query)].map(([...pair]) => pair))
  return `${path}?${parameters}`
}

type Pair = readonly [name: string, value: string]

function exportParameters(query: QueryParameters): readonly Pair[] {
  const refined = Object.keys(query).flatMap(name => /^(?:refine|exclude)\.(.+)$/s.exec(name)?.[1] ?? [])
  return Object.keys(query).flatMap(name => {
    const pairs = (rename: string, write = (value: string) => value) =>
      valuesOf(query, name).map((value): Pair => [rename, write(value)])
    const [, kind, facet = ''] = /^(refine|exclude|disjunctive|q)\.(.+)$/s.exec(name) ?? []
    switch (kind ?? name) {
      case 'format':
        return []
      case 'refine':
      case 'exclude':
        if (kind === undefined) return pairs(name)
        return pairs(kind, value => `\`${facet}\`:"${escaped(value)}"`)
      case 'disjunctive':
        // A facet without a refinement has no effect on the export.
        if (!refined.includes(facet) || valuesOf(query, name)[0] === 'false') return []
        return [['facet', `facet(name="${escaped(facet)}", disjunctive=true)`]]
      case 'q':
        return pairs('qv1')
      case 'fields':
        return pairs('select', value => value.split(',').map(quotedName).join(', '))
      case 'sort':
        return pairs('order_by', orderOf)
      default:
        return pairs(RENAMED.get(name) ?? name)
    }
  })
}

/** The Search API v1 sorts in descending order, and with a minus in ascending order. */
function orderOf(sort: string): string {
  return sort
    .split(',')
    .map(key => key.trim())
    .map(key => (key.startsWith('-') ? `${quotedName(key.slice(1))} asc` : `${quotedName(key)} desc`))
    .join(', ')
}

function quotedName(name: string): string {
  return `\`${name.trim().replaceAll('`', '')}\``
}

function escaped(text: string): string {
  return text.replace(/[\\"]/g, character => `\\${character}`)
}

function valuesOf(query: QueryParameters, name: string): readonly string[] {
  return many(query, name).filter(value => value !== '')
}
