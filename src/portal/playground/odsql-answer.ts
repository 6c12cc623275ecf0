import { type Field, field as makeField } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { shortIri } from '../../publishing/mapping/mapping-preview.ts'
import type { ExecutedStatement } from '../../query/execute/executor.ts'
import type { Explained } from '../../query/execute/explain.ts'
import type { Query } from '../../query/plan.ts'
import { planText } from '../../query/plan-text.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { highlight, highlightTokens } from '../parts/highlight.ts'
import { numberClass, valueCell } from '../parts/value.ts'

/** Maximum characters of a shown statement: lists of values are long. */
const MAX_STATEMENT_LENGTH = 6000

/** The answer of a query as a table. */
export function answerTable(pageContext: PageContext, { plan, answer }: Explained): Html {
  const { t } = pageContext
  if (answer.rows.length === 0) return html`<p class="empty">${t('No record has all of this.')}</p>`
  const columns = columnsOf(plan, answer.rows[0]?.object ?? {})
  const heads = columns.map(({ key, field }) => html`<th scope="col"${numberClass(field)}>${key}</th>`)
  const lines = answer.rows.map(
    ({ object }) =>
      html`<tr>${columns.map(
        ({ key, field }) =>
          html`<td${numberClass(field)}>${valueCell(pageContext, lookup(object, key), field)}</td>`,
      )}</tr>
`,
  )
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${t('Answer')}"><table class="records">
<thead><tr>${heads}</tr></thead>
<tbody>${lines}</tbody></table></div>`
}

/** The plan and the statements of the store side by side, and the time of each stage. */
export function stages(
  pageContext: PageContext,
  explained: Explained,
  prefixes: Readonly<Record<string, string>>,
): Html {
  const { t } = pageContext
  const { plan, statements, milliseconds } = explained
  const times = Object.entries(milliseconds)
  const sum = times.reduce((total, [, consumed]) => total + consumed, 0)
  const requested =
    statements.length === 0
      ? html`<p>${t('The store is not queried: the statistics of the dataset have the answer.')}</p>`
      : html`${statements.map(each => statementText(pageContext, each, prefixes))}`
  return html`<div class="stages"><section><h2>${t('Plan')}</h2>
<pre tabindex="0" dir="ltr">${planText(plan)}</pre>
<h2>${t('Times')}</h2>
<table class="times"><thead><tr><th scope="col">${t('Stage')}</th><th scope="col" class="number">${t('Milliseconds')}</th></tr></thead>
<tbody>${times.map(
    ([
      stage,
      consumed,
    ]) => html`<tr><th scope="row"><code>${stage}</code></th><td class="number">${decimal(pageContext, consumed)}</td></tr>
`,
  )}<tr><th scope="row">${t('Together')}</th><td class="number">${decimal(pageContext, sum)}</td></tr></tbody></table>
<p class="soft">${t('As measured when this version of the dataset was first queried.')}</p></section>
<section><h2>SPARQL</h2>${requested}</section></div>`
}

function statementText(
  pageContext: PageContext,
  { name, sparql, columns, rows, milliseconds }: ExecutedStatement,
  prefixes: Readonly<Record<string, string>>,
): Html {
  const text = layOutSparql(sparql, prefixes)
  const cut = text.length > MAX_STATEMENT_LENGTH ? `${text.slice(0, MAX_STATEMENT_LENGTH)}\n…` : text
  return html`<h3>${name}</h3>
<pre tabindex="0" dir="ltr">${highlight(cut, 'sparql')}</pre>
<p class="soft">${pageContext.t('Columns: {list}', { list: columns.map(predicate => shortIri(predicate, prefixes)).join(', ') || '–' })} · ${pageContext.t('Rows: {n}', { n: rows })} · ${pageContext.t('Time: {n} ms', { n: decimal(pageContext, milliseconds) })}</p>`
}

function decimal(pageContext: PageContext, value: number): string {
  return pageContext.number(value, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
}

/** The columns of an answer: those of fields are formatted like these, others by the type of their values. */
function columnsOf(plan: Query, first: Readonly<Record<string, unknown>>) {
  const fields = new Map<string, Field>()
  if (plan.type === 'records')
    for (const { key, value } of plan.select) if (value.type === 'field') fields.set(key, value.field)
  if (plan.type === 'groups')
    for (const { key, grouping } of plan.keys)
      if (grouping.type === 'value' && grouping.value.type === 'field') fields.set(key, grouping.value.field)
  return Object.entries(first).map(([key, value]) => ({
    key,
    field: fields.get(key) ?? fieldLike(key, value),
  }))
}

function fieldLike(name: string, value: unknown): Field {
  switch (typeof value) {
    case 'number':
      return makeField(name, 'double')
    case 'bigint':
      return makeField(name, 'int')
    case 'boolean':
      return makeField(name, 'boolean')
    case 'object':
      return makeField(name, value !== null && 'lat' in value ? 'geo_point_2d' : 'text')
    default:
      return makeField(name, 'text')
  }
}

/** Keywords that begin a line. */
const BEGINS = /^(?:select|filter|optional|bind|values|minus|graph|where|group|order|having|limit|offset)$/i

/** The end of a text after which such a keyword does not begin a new line. */
const GOES_ON = /(?:^|\(|\b(?:group|order|as|not))\s*$/i

/**
 * Formats a one-line query: a line for each pattern, groups indented, and IRIs shortened by prefixes, with declarations of
 * the used ones.
 */
export function layOutSparql(query: string, prefixes: Readonly<Record<string, string>> = {}): string {
  const used = new Map<string, string>()
  const lines: string[] = []
  let line = ''
  let depth = 0
  const end = () => {
    if (line.trim() !== '') lines.push('  '.repeat(Math.max(0, depth)) + line.trim())
    line = ''
  }
  for (const piece of piecesOf(query)) {
    if (/^\s/.test(piece)) line += line === '' ? '' : ' '
    else if (piece === '{') {
      line += piece
      end()
      depth += 1
    } else if (piece === '}') {
      end()
      depth -= 1
      line = piece
    } else if (piece === '.' || piece === ';') {
      line = `${line.trimEnd()} ${piece}`
      end()
    } else {
      if (BEGINS.test(piece) && !GOES_ON.test(line)) end()
      line += piece.startsWith('<') ? shortened(piece, prefixes, used) : piece
    }
  }
  end()
  const heads = [...used].map(([prefix, namespace]) => `PREFIX ${prefix}: <${namespace}>`)
  return [...heads, ...(heads.length === 0 ? [] : ['']), ...lines].join('\n')
}

function piecesOf(query: string): readonly string[] {
  return highlightTokens(query, 'sparql').flatMap(({ kind, text }) =>
    kind === 'plain' ? (text.match(/\s+|[{};.]|[^\s{};.]+/g) ?? []) : [text],
  )
}

function shortened(
  iri: string,
  prefixes: Readonly<Record<string, string>>,
  used: Map<string, string>,
): string {
  const value = iri.slice(1, -1)
  for (const [prefix, namespace] of Object.entries(prefixes)) {
    const rest = value.startsWith(namespace) ? value.slice(namespace.length) : ''
    if (!/^[A-Za-z_][\w-]*$/.test(rest)) continue
    used.set(prefix, namespace)
    return `${prefix}:${rest}`
  }
  return iri
}
