import type { Fault } from '../../errors/errors.ts'
import { DEFAULT_ROWS, DEFAULT_ZONE, many, one, readPage, readPresentation } from '../../http/parameters.ts'
import { exactJson } from '../../model/exact-json.ts'
import { isLanguage } from '../../model/language.ts'
import type { AnswerPage } from '../../query/execute/answer.ts'
import { type Html, html } from '../../site/html.ts'
import { LANGUAGE_NAMES, type LinkParameters, parameterPairs } from '../../site/page-context.ts'
import { languageField, listOptions } from '../parts/form-fields.ts'
import { addressLine, COPY_ISLAND, codeBlock } from '../parts/highlight.ts'
import { orFilterFault } from '../query-service.ts'
import { odsqlText, refinementText } from '../selection.ts'
import { connectTools, endpointList } from './api-connect.ts'
import { endpointAddress, endpointPaths, type Tab, type TabContext } from './tab.ts'

/** Maximum characters of an answer on the page; the link has all. */
const MAX_LENGTH = 12_000

/** The API console: a form for the parameters of a call, its address, its answer, and snippets for programs. */
export const apiTab: Tab = {
  name: 'api',
  label: 'API',
  render: async context => {
    const { pageContext, entry } = context
    const { t } = pageContext
    const isTable = entry.content === 'records'
    return {
      islands: [COPY_ISLAND, ...(isTable ? ['api-form.js'] : [])],
      body: html`${restrictedNote(context)}
${isTable ? await tryOut(context) : ''}
<h2${isTable ? '' : html` class="first"`}>${t('Addresses of this dataset')}</h2>
${endpointList(context)}
<h2>${t('How to connect')}</h2>
${connectTools(context)}
<p><a href="${pageContext.href('/developers/')}">${t('All APIs of this portal, accounts and limits')}</a></p>`,
    }
  },
}

function restrictedNote({ pageContext, entry }: TabContext): Html {
  const { t } = pageContext
  if (entry.dataset.visibility === 'public') return html``
  return html`<p class="remark">${t('This dataset is restricted: every call needs an API key.')} <a href="${pageContext.href('/account/my-api-keys/')}">${t('Make an API key')}</a></p>`
}

async function tryOut(context: TabContext): Promise<Html> {
  const { t } = context.pageContext
  const call = readCall(context)
  const { answer, fault } = await orFilterFault(() => answerCall(context, call))
  return html`<h2 class="first">${t('Try it out')}</h2>
${callForm(context, call)}
${callResult(context, call, answer, fault)}`
}

function callForm({ pageContext, entry, path }: TabContext, call: ApiCall): Html {
  const { t } = pageContext
  const home = `/explore/dataset/${encodeURIComponent(entry.dataset.id)}`
  const text = (name: string, value: string, placeholder: string, more: Html = html``) =>
    html`<div class="parameter"><label for="f-${name}"><code>${name}</code></label><input id="f-${name}" name="${name}" value="${value}" placeholder="${placeholder}" autocomplete="off" spellcheck="false" autocapitalize="off" dir="ltr"${more}></div>
`
  const filters = (name: 'refine' | 'exclude', placeholder: string) => {
    const [first = '', ...others] = call[name]
    const rest = others.map(
      value =>
        html`<input name="${name}" value="${value}" aria-label="${name}" autocomplete="off" spellcheck="false" dir="ltr">`,
    )
    return html`${text(name, first, placeholder)}${rest.length === 0 ? '' : html`<div class="parameter more">${rest}</div>`}`
  }
  const [one = 'name', two = one] = entry.dataset.fields.map(({ name }) => name)
  const facet = entry.dataset.fields.find(({ annotations }) => annotations.facet !== undefined)?.name ?? one
  const number = html` inputmode="numeric" pattern="-?[0-9]*"`
  const languages = listOptions(Object.entries(LANGUAGE_NAMES), call.lang)
  return html`<form class="api-form" action="${pageContext.href(path('api'))}" method="get">
${languageField(pageContext)}
${text('select', call.select, `${one}, ${two}`)}
<div class="parameter"><label for="f-where"><code>where</code></label><textarea id="f-where" name="where" rows="2" spellcheck="false" autocapitalize="off" autocomplete="off" dir="ltr" data-fields="${pageContext.href(`${home}/complete`)}" data-check="${pageContext.href(`${home}/check`)}" placeholder="${two} is not null">
${call.where}</textarea></div>
${text('group_by', call.group_by, facet)}${text('order_by', call.order_by, `${one} desc`)}${filters('refine', `${facet}:…`)}${call.exclude.length === 0 ? '' : filters('exclude', '')}
<div class="parameters">${text('limit', call.limit, '10', number)}${text('offset', call.offset, '0', number)}${text('timezone', call.timezone, 'UTC')}
<div class="parameter"><label for="f-lang"><code>lang</code></label><select id="f-lang" name="${ANSWER_LANGUAGE}"><option value="">–</option>${languages}</select></div></div>
<div class="run"><button>${t('Run')}</button> <a href="${pageContext.href(path('api'))}">${t('Start anew')}</a></div>
</form>`
}

/** Everything that depends on the call: the script of the page replaces it as a whole. */
function callResult(
  { pageContext, entry }: TabContext,
  call: ApiCall,
  answer: AnswerPage | null,
  fault: Fault | null,
): Html {
  const { t } = pageContext
  const parameters = { ...call }
  const path = endpointPaths(entry.dataset.id).records
  const { href, address } = endpointAddress(pageContext, path, parameters)
  const snippets = snippetsOf({
    address: endpointAddress(pageContext, path).address,
    whole: address,
    parameters,
    isRestricted: entry.dataset.visibility !== 'public',
  })
  return html`<div id="call" data-call="${href}" data-status="${t('Status {status}, {ms} ms, {bytes} bytes', { status: '{status}', ms: '{ms}', bytes: '{bytes}' })}" data-failed="${t('The portal could not be reached.')}">
<h3>${t('The call')}</h3>
<p>${addressLine(pageContext, href, address)}</p>
<h3>${t('The answer')}</h3>
<p class="soft status" role="status"></p>
${fault === null ? answerText(pageContext, call, answer) : html`<div class="fault" role="alert"><p lang="en" dir="auto">${fault.message}</p></div>`}
<h3>${t('In programs')}</h3>
<div class="snippets">${snippets.map(
    ({ title, text }) => html`<section><h4>${title}</h4>${codeBlock(pageContext, text, 'code')}</section>
`,
  )}</div></div>`
}

function answerText(pageContext: TabContext['pageContext'], call: ApiCall, answer: AnswerPage | null): Html {
  const { t } = pageContext
  if (answer === null)
    return html`<p class="remark">${t('Follow the link to see the answer with times in this zone.')}</p><div class="answer"></div>${cutNote(pageContext, false)}`
  const results = answer.rows.map(({ object }) => object)
  const body = call.group_by === '' ? { total_count: answer.total, results } : { results }
  const text = exactJson(body, 2)
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, text.lastIndexOf('\n', MAX_LENGTH))}\n…` : text
  return html`<div class="answer" tabindex="0" role="region" aria-label="${t('The answer')}">${codeBlock(pageContext, cut, 'json')}</div>
${cutNote(pageContext, cut !== text)}`
}

function cutNote({ t }: TabContext['pageContext'], isCut: boolean): Html {
  return html`<p class="soft cut"${isCut ? '' : html` hidden`}>${t('These are the first lines; the link has the whole answer.')}</p>`
}

/** A call of the Explore API v2.1 for records, with the texts of the form of the page; empty texts are absent parameters. */
type ApiCall = Readonly<
  Record<'select' | 'where' | 'group_by' | 'order_by' | 'limit' | 'offset' | 'timezone' | 'lang', string> &
    Record<'refine' | 'exclude', readonly string[]>
>

/** The parameter of the page for the language of the answer: `lang` is that of the page. */
const ANSWER_LANGUAGE = 'answer_lang'

/** Reads the call from an address of the page: searched words become a part of its condition. */
function readCall({ query, selection }: TabContext): ApiCall {
  const text = (name: string) => (many(query, name)[0] ?? '').trim()
  const { words, where, refine, exclude, orderBy } = selection
  const quoted = words === '' ? '' : odsqlText(words)
  return {
    select: text('select'),
    where: quoted === '' || where === '' ? quoted + where : `${quoted} and (${where})`,
    group_by: text('group_by'),
    order_by: orderBy,
    limit: text('limit'),
    offset: text('offset'),
    refine: refine.map(refinementText),
    exclude: exclude.map(refinementText),
    timezone: text('timezone'),
    lang: isLanguage(text(ANSWER_LANGUAGE)) ? text(ANSWER_LANGUAGE) : '',
  }
}

/**
 * The answer of the call; null if the page cannot compute it, because the API uses another time zone. Faults are those of
 * the API.
 */
async function answerCall(context: TabContext, call: ApiCall): Promise<AnswerPage | null> {
  const { queryService, source, selection, query } = context
  const { timezone, language } = readPresentation({ timezone: call.timezone, lang: call.lang })
  const page = { limit: one(query, 'limit') ?? '', offset: one(query, 'offset') ?? '' }
  const isGrouped = call.group_by !== ''
  const answer = await queryService.find(
    source,
    { ...selection, words: '', where: call.where },
    {
      ...readPage(page, isGrouped, isGrouped ? null : DEFAULT_ROWS),
      ...(call.select === '' ? {} : { select: call.select }),
      ...(call.group_by === '' ? {} : { groupBy: call.group_by }),
      orderBy: call.order_by,
    },
    language,
  )
  return timezone === DEFAULT_ZONE ? answer : null
}

/** A short program that makes a call. */
export interface Snippet {
  readonly title: string
  readonly text: string
}

/** The input of a snippet. */
export interface SnippetCall {
  /** The address without its parameters, and with them. */
  readonly address: string
  readonly whole: string
  readonly parameters: LinkParameters
  readonly isRestricted: boolean
}

const KEY = 'YOUR-API-KEY'

/** The same call in languages for data analysis. */
function snippetsOf(call: SnippetCall): readonly Snippet[] {
  return [
    { title: 'curl', text: curl(call) },
    { title: 'JavaScript', text: javascript(call) },
    { title: 'Python', text: python(call) },
    { title: 'R', text: r(call) },
  ]
}

function curl({ whole, isRestricted }: SnippetCall): string {
  const header = isRestricted ? ` -H 'Authorization: Apikey ${KEY}'` : ''
  return `curl${header} '${whole.replaceAll("'", '%27')}'`
}

function javascript({ address, parameters, isRestricted }: SnippetCall): string {
  const pairs = parameterPairs(parameters)
  const query = pairs
    .map(([name, value]) => `  [${JSON.stringify(name)}, ${JSON.stringify(value)}],\n`)
    .join('')
  const headers = isRestricted ? `, {\n  headers: { Authorization: 'Apikey ${KEY}' },\n}` : ''
  const url = pairs.length === 0 ? JSON.stringify(address) : `\`${address}?\${query}\``
  return `${query === '' ? '' : `const query = new URLSearchParams([\n${query}])\n`}const response = await fetch(${url}${headers})
const { ${parameters.group_by ? '' : 'total_count, '}results } = await response.json()`
}

function python({ address, parameters, isRestricted }: SnippetCall): string {
  const query = parameterPairs(parameters)
    .map(([name, value]) => `    (${JSON.stringify(name)}, ${JSON.stringify(value)}),\n`)
    .join('')
  const headers = isRestricted ? `, headers={"Authorization": "Apikey ${KEY}"}` : ''
  return `import requests

${query === '' ? '' : `query = [\n${query}]\n`}answer = requests.get("${address}"${query === '' ? '' : ', params=query'}${headers})
answer.raise_for_status()
records = answer.json()["results"]`
}

function r({ whole, isRestricted }: SnippetCall): string {
  const url = JSON.stringify(whole)
  if (!isRestricted) return `library(jsonlite)\n\nrecords <- fromJSON(${url})$results`
  return `library(httr2)

records <- request(${url}) |>
  req_headers(Authorization = "Apikey ${KEY}") |>
  req_perform() |>
  resp_body_json(simplifyVector = TRUE) |>
  _$results`
}
