import type { FastifyReply, FastifyRequest } from 'fastify'
import { queryPrefixes } from '../../catalog/example-queries.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { Fault } from '../../errors/errors.ts'
import { one, USUAL_ZONE } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { EXPLORE_V21 } from '../../query/dialect.ts'
import { type Explained, explainOdsql } from '../../query/execute/explain.ts'
import { sendSitePage } from '../../site/frame.ts'
import { type Html, html } from '../../site/html.ts'
import { type Visit, visitOf } from '../../site/page-context.ts'
import { isFilterFault } from '../ask.ts'
import { faultReason } from '../complete.ts'
import { KeptData } from '../kept-data.ts'
import { languageField } from '../parts/language-field.ts'
import { type SiteServices, titleOf } from '../services.ts'
import { answerTable, stages } from './odsql-answer.ts'
import {
  CLAUSES,
  exampleClauses,
  odsqlParameters,
  readRows,
  readTypedClauses,
  type TypedClauses,
} from './odsql-request.ts'

const ODSQL_PAGE = '/odsql/'

const MOST_KEPT = 500

/** A dataset, and what is asked of it. */
interface Asked {
  readonly entry: ServedDataset
  readonly clauses: TypedClauses
  readonly rows: number
}

/**
 * Answers with the ODSQL playground: a query, its plan, what is asked of the store, the answer, and the time of each stage.
 * Faults: NotFoundResource, Unauthorised, ForbiddenAccess, InvalidRESTParameterError, those of the store.
 */
export function answerOdsqlPage(services: SiteServices) {
  const kept = new KeptData(MOST_KEPT)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const visit = visitOf(request, services)
    const { say, href } = visit
    const query = request.query as QueryParameters
    const seen = services.catalog.seenBy(request.principal)
    const entries = seen.current().entries.filter(({ content }) => content === 'records')
    const named = one(query, 'dataset')
    const entry = named === undefined ? entries[0] : seen.dataset(named)
    const frame = {
      title: say('ODSQL playground'),
      description: say('Write a query in ODSQL and see its plan, its SPARQL and its answer.'),
      part: 'playground',
      isWide: true,
      isIndexed: named === undefined,
    } as const
    const head = html`<div class="play-head"><h1>${say('ODSQL playground')}</h1>
<p>${say('ODSQL is the query language of the APIs. Here is what becomes of a query: its plan, the SPARQL that the store is asked, and the answer.')} <a href="${href('/sparql/')}">${say('SPARQL playground')}</a></p></div>`
    if (entry === undefined)
      return sendSitePage(reply, visit, {
        ...frame,
        body: html`${head}<p class="empty">${say('There is no dataset with records.')}</p>`,
      })
    const examples = exampleClauses(entry)
    const typed = readTypedClauses(query)
    const clauses = named === undefined && isEmpty(typed) ? (examples[0] ?? typed) : typed
    const asked: Asked = { entry, clauses, rows: readRows(query) }
    const told = await explain(asked, visit, services, kept)
    const fault = told instanceof Fault ? told : null
    const prefixes = {
      ...queryPrefixes(services.base, entry.dataset.id, entry.prefixes),
      index: 'urn:lodestone:index:',
    }
    const call = apiCall(asked)
    return sendSitePage(reply, visit, {
      ...frame,
      islands: ['odsql.js'],
      head: html`<link rel="alternate" type="application/json" href="${href(call.path, call.parameters)}">`,
      body: html`${head}
${queryForm(visit, entries, asked, fault)}
${exampleList(visit, asked, examples)}
${
  told instanceof Fault
    ? ''
    : html`<section><h2>${say('Answer')}</h2>
<p class="range">${told.plan.type === 'groups' ? say.many('{n} group', '{n} groups', told.answer.total) : say.many('{n} record', '{n} records', told.answer.total)} <a href="${href(call.path, call.parameters)}">${say('The same from the API')}</a></p>
${answerTable(visit, told)}</section>
${stages(visit, told, prefixes)}`
}`,
    })
  }
}

/** The stages of a query; its fault where there is something to put right. */
async function explain(
  { entry, clauses, rows }: Asked,
  { language }: Visit,
  { store, clock, now }: SiteServices,
  kept: KeptData,
): Promise<Explained | Fault> {
  const { dataset, version, target } = entry
  const make = () =>
    explainOdsql(
      {
        select: clauses.select,
        where: [clauses.where],
        groupBy: clauses.group_by,
        orderBy: clauses.order_by,
        limit: rows,
        offset: 0,
      },
      {
        dataset,
        technical: true,
        timezone: USUAL_ZONE,
        language,
        dialect: EXPLORE_V21,
        now: now(),
      },
      { target, store, clock },
    )
  const isVolatile = Object.values(clauses).some(text => /\b(?:now|random)\s*\(/i.test(text))
  const key = JSON.stringify([dataset.id, version, clauses, rows, language])
  return (isVolatile ? make() : kept.of(key, make)).catch((error: unknown) => {
    if (isFilterFault(error)) return error
    throw error
  })
}

function queryForm(
  visit: Visit,
  entries: readonly ServedDataset[],
  { entry, clauses, rows }: Asked,
  fault: Fault | null,
): Html {
  const { say, href } = visit
  const { id } = entry.dataset
  const path = `/explore/dataset/${encodeURIComponent(id)}`
  const faulty = fault === null ? null : (CLAUSES.find(name => isAbout(fault, name)) ?? 'where')
  const options = entries.map(
    each =>
      html`<option value="${each.dataset.id}"${each.dataset.id === id ? html` selected` : ''}>${titleOf(each)}</option>`,
  )
  const fields = CLAUSES.map(name => {
    const isFaulty = name === faulty
    const marks = isFaulty ? html` aria-invalid="true" aria-describedby="${name}-fault"` : ''
    const editor =
      name === 'where'
        ? html` data-fields="${href(`${path}/complete`)}" data-check="${href(`${path}/check`)}"`
        : ''
    return html`<div><label for="${name}"><code>${name}</code></label>
<textarea id="${name}" name="${name}" rows="2" spellcheck="false" autocapitalize="off" autocomplete="off" dir="ltr"${editor}${marks}>
${clauses[name]}</textarea>${isFaulty && fault !== null ? faultText(fault, name, clauses[name]) : ''}</div>`
  })
  return html`<form class="filter" id="odsql" action="${href(ODSQL_PAGE)}" method="get">${languageField(visit)}
<div class="play-fields"><div><label for="dataset">${say('Dataset')}</label>
<select id="dataset" name="dataset">${options}</select></div>
${fields}<div><label for="limit"><code>limit</code></label>
<input type="number" id="limit" name="limit" min="1" max="100" value="${rows}"></div></div>
<div class="play-bar"><button>${say('Run')}</button></div>
</form>`
}

/** The message, and a caret below the place that it is about. */
function faultText(fault: Fault, name: string, text: string): Html {
  const { from } = fault.place
  const lineStart = from === undefined ? 0 : text.lastIndexOf('\n', Math.max(0, from - 1)) + 1
  const line = text.slice(lineStart).split('\n')[0] ?? ''
  const caret =
    from === undefined || text === ''
      ? ''
      : html`<pre aria-hidden="true" dir="ltr">${line}
${' '.repeat(Math.min(from - lineStart, line.length))}^</pre>`
  const hint = fault.hint === undefined ? '' : html`<p>${fault.hint}</p>`
  return html`<div class="fault" id="${name}-fault" role="alert"><p>${faultReason(fault)}</p>${caret}${hint}</div>`
}

function exampleList({ say, href }: Visit, { entry, rows }: Asked, examples: readonly TypedClauses[]): Html {
  const { id } = entry.dataset
  const links = examples.map(
    clauses =>
      html`<li><a href="${href(ODSQL_PAGE, odsqlParameters(id, clauses, rows))}" rel="nofollow">${isEmpty(clauses) ? say('All records') : html`<code>${clausesText(clauses)}</code>`}</a></li>
`,
  )
  return html`<details class="odsql-examples"><summary>${say('Example queries')}</summary><ul>${links}</ul></details>`
}

/** A query on one line, as the command line and the reference of the language write it. */
function clausesText(clauses: TypedClauses): string {
  return CLAUSES.flatMap(name => (clauses[name] === '' ? [] : [`${name}=${clauses[name]}`])).join('  ')
}

function apiCall({ entry, clauses, rows }: Asked) {
  const path = `/api/explore/v2.1/catalog/datasets/${encodeURIComponent(entry.dataset.id)}/records`
  return { path, parameters: { ...clauses, limit: rows } }
}

function isAbout({ parts }: Fault, name: string): boolean {
  return String(parts.clause ?? '')
    .split(/[^\w]+/)
    .includes(name)
}

function isEmpty(clauses: TypedClauses): boolean {
  return CLAUSES.every(name => clauses[name] === '')
}
