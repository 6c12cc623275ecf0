import type { FastifyReply, FastifyRequest } from 'fastify'
import { queryPrefixes } from '../../catalog/example-queries.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { Fault } from '../../errors/errors.ts'
import { DEFAULT_ZONE, one } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { type Field, isQuantity, isTemporal } from '../../model/field.ts'
import { EXPLORE_V21 } from '../../query/dialect.ts'
import { type Explained, explainOdsql } from '../../query/execute/explain.ts'
import { sendSitePage } from '../../site/frame.ts'
import { type Html, html } from '../../site/html.ts'
import { type PageContext, pageContextOf } from '../../site/page-context.ts'
import { DataCache } from '../data-cache.ts'
import { endpointPaths } from '../dataset/tab.ts'
import { filterFaultText, isAbout } from '../parts/filter-fault.ts'
import { languageField, listOptions } from '../parts/form-fields.ts'
import { isFilterFault, isFleeting } from '../query-service.ts'
import { fieldName } from '../selection.ts'
import { datasetTitle, type SiteServices } from '../services.ts'
import { answerTable, stages } from './odsql-answer.ts'

const ODSQL_PAGE = '/odsql/'

const MAX_CACHED = 500

interface PlaygroundRequest {
  readonly entry: ServedDataset
  readonly clauses: TypedClauses
  readonly rows: number
}

/**
 * Answers with the ODSQL playground: a query, its plan, the queries sent to the store, the answer, and the time of each stage.
 * Faults: NotFoundResource, Unauthorised, ForbiddenAccess, InvalidRESTParameterError, those of the store.
 */
export function answerOdsqlPage(services: SiteServices) {
  const cached = new DataCache(MAX_CACHED)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const pageContext = pageContextOf(request, services)
    const { t, href } = pageContext
    const query = request.query as QueryParameters
    const visible = services.catalog.visibleTo(request.principal)
    const entries = visible.current().entries.filter(({ content }) => content === 'records')
    const named = one(query, 'dataset')
    const entry =
      named === undefined
        ? (entries.find(({ triples }) => triples > 0) ?? entries[0])
        : visible.dataset(named)
    const frame = {
      title: t('ODSQL playground'),
      description: t('Write a query in ODSQL and see its plan, its SPARQL and its answer.'),
      part: 'playground',
      isWide: true,
      isIndexed: named === undefined,
    } as const
    const head = html`<div class="play-head"><h1>${t('ODSQL playground')}</h1>
<p>${t('ODSQL is the query language of the APIs. This page shows how a query is evaluated: its plan, the SPARQL for the store, and the answer.')} <a href="${href('/sparql/')}">${t('SPARQL playground')}</a></p></div>`
    if (entry === undefined)
      return sendSitePage(reply, pageContext, {
        ...frame,
        body: html`${head}<p class="empty">${t('There is no dataset with records.')}</p>`,
      })
    const examples = exampleClauses(entry)
    const typed = readTypedClauses(query)
    const clauses = named === undefined && isEmpty(typed) ? (examples[0] ?? typed) : typed
    const requested: PlaygroundRequest = { entry, clauses, rows: readRowCount(query) }
    const described = await explain(requested, pageContext, services, cached)
    const fault = described instanceof Fault ? described : null
    const prefixes = {
      ...queryPrefixes(services.base, entry.dataset.id, entry.prefixes),
      index: 'urn:lodestone:index:',
    }
    const call = apiCall(requested)
    return sendSitePage(reply, pageContext, {
      ...frame,
      islands: ['odsql.js'],
      head: html`<link rel="alternate" type="application/json" href="${href(call.path, call.parameters)}">`,
      body: html`${head}
${queryForm(pageContext, entries, requested, fault)}
${exampleList(pageContext, requested, examples)}
${
  described instanceof Fault
    ? ''
    : html`<section><h2>${t('Answer')}</h2>
<p class="range">${described.plan.type === 'groups' ? t.many('{n} group', '{n} groups', described.answer.total) : t.many('{n} record', '{n} records', described.answer.total)} <a href="${href(call.path, call.parameters)}">${t('The same from the API')}</a></p>
${answerTable(pageContext, described)}</section>
${stages(pageContext, described, prefixes)}`
}`,
    })
  }
}

/** The stages of a query; its fault if the user can correct it. */
async function explain(
  { entry, clauses, rows }: PlaygroundRequest,
  { language }: PageContext,
  { store, clock, now }: SiteServices,
  cached: DataCache,
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
        timezone: DEFAULT_ZONE,
        language,
        dialect: EXPLORE_V21,
        now: now(),
      },
      { target, store, clock },
    )
  const key = JSON.stringify([dataset.id, version, clauses, rows, language])
  return (isFleeting(Object.values(clauses)) ? make() : cached.of(key, make)).catch((error: unknown) => {
    if (isFilterFault(error)) return error
    throw error
  })
}

function queryForm(
  pageContext: PageContext,
  entries: readonly ServedDataset[],
  { entry, clauses, rows }: PlaygroundRequest,
  fault: Fault | null,
): Html {
  const { t, href } = pageContext
  const { id } = entry.dataset
  const path = `/explore/dataset/${encodeURIComponent(id)}`
  const faulty = fault === null ? null : (CLAUSES.find(name => isAbout(fault, name)) ?? 'where')
  const options = listOptions(
    entries.map(each => [each.dataset.id, datasetTitle(each)]),
    id,
  )
  const fields = CLAUSES.map(name => {
    const isFaulty = name === faulty
    const faultAttributes = isFaulty ? html` aria-invalid="true" aria-describedby="${name}-fault"` : ''
    const editor =
      name === 'where'
        ? html` data-fields="${href(`${path}/complete`)}" data-check="${href(`${path}/check`)}"`
        : ''
    return html`<div><label for="${name}"><code>${name}</code></label>
<textarea id="${name}" name="${name}" rows="2" spellcheck="false" autocapitalize="off" autocomplete="off" dir="ltr"${editor}${faultAttributes}>
${clauses[name]}</textarea>${isFaulty && fault !== null ? filterFaultText(fault, name, clauses[name]) : ''}</div>`
  })
  return html`<form class="filter" id="odsql" action="${href(ODSQL_PAGE)}" method="get">${languageField(pageContext)}
<div class="play-fields"><div><label for="dataset">${t('Dataset')}</label>
<select id="dataset" name="dataset" autocomplete="off">${options}</select></div>
${fields}<div><label for="limit"><code>limit</code></label>
<input type="number" id="limit" name="limit" min="1" max="100" value="${rows}"></div></div>
<div class="play-bar"><button>${t('Run')}</button></div>
</form>`
}

function exampleList(
  { t, href }: PageContext,
  { entry, rows }: PlaygroundRequest,
  examples: readonly TypedClauses[],
): Html {
  const { id } = entry.dataset
  const links = examples.map(
    clauses =>
      html`<li><a href="${href(ODSQL_PAGE, { dataset: id, ...clauses, limit: rows === DEFAULT_ROWS ? undefined : rows })}" rel="nofollow">${isEmpty(clauses) ? t('All records') : html`<code>${clausesText(clauses)}</code>`}</a></li>
`,
  )
  return html`<details class="odsql-examples"><summary>${t('Example queries')}</summary><ul>${links}</ul></details>`
}

/** A query on one line, in the form of the command line and the language reference. */
function clausesText(clauses: TypedClauses): string {
  return CLAUSES.flatMap(name => (clauses[name] === '' ? [] : [`${name}=${clauses[name]}`])).join('  ')
}

function apiCall({ entry, clauses, rows }: PlaygroundRequest) {
  return { path: endpointPaths(entry.dataset.id).records, parameters: { ...clauses, limit: rows } }
}

function isEmpty(clauses: TypedClauses): boolean {
  return CLAUSES.every(name => clauses[name] === '')
}

const CLAUSES = ['select', 'where', 'group_by', 'order_by'] as const

type TypedClauses = Readonly<Record<(typeof CLAUSES)[number], string>>

const NOTHING: TypedClauses = { select: '', where: '', group_by: '', order_by: '' }

/** Default and maximum number of rows. */
const DEFAULT_ROWS = 10
const MAX_ROWS = 100

/** Reads the clauses of an address. Faults: InvalidRESTParameterError. */
function readTypedClauses(query: QueryParameters): TypedClauses {
  const texts = CLAUSES.map(name => [name, (one(query, name) ?? '').trim()])
  return Object.fromEntries(texts) as TypedClauses
}

function readRowCount(query: QueryParameters): number {
  const rows = Number(one(query, 'limit') ?? DEFAULT_ROWS)
  return Number.isInteger(rows) && rows >= 1 && rows <= MAX_ROWS ? rows : DEFAULT_ROWS
}

/** Example queries of a dataset, built from the types of its fields: groups first, then records. */
function exampleClauses({ dataset }: Pick<ServedDataset, 'dataset'>): readonly TypedClauses[] {
  const { fields } = dataset
  const nameOf = (found: Field | undefined) => (found === undefined ? null : fieldName(found.name))
  const facet = nameOf(
    fields.find(({ annotations, type }) => annotations.facet !== undefined && type === 'text'),
  )
  const number = nameOf(fields.find(isQuantity))
  const date = nameOf(fields.find(({ type }) => isTemporal(type)))
  const select = 'count(*) as number'
  const means = `avg(${number}) as mean, max(${number}) as greatest`
  return [
    ...(facet === null ? [] : [{ ...NOTHING, select, group_by: facet, order_by: 'number desc' }]),
    ...(facet === null || number === null
      ? []
      : [{ ...NOTHING, select: means, group_by: facet, order_by: 'mean desc' }]),
    ...(date === null ? [] : [{ ...NOTHING, select, group_by: `year(${date}) as year` }]),
    ...(number === null ? [] : [{ ...NOTHING, where: `${number} is not null`, order_by: `${number} desc` }]),
    NOTHING,
  ]
}
