import type { Fault } from '../../errors/errors.ts'
import { exactJson } from '../../model/exact-json.ts'
import type { AnswerPage } from '../../query/execute/answer.ts'
import { type Html, html } from '../../site/html.ts'
import { LANGUAGE_NAMES } from '../../site/language.ts'
import { addressLine, COPY_ISLAND, codeBlock } from '../parts/code.ts'
import { languageField } from '../parts/form-fields.ts'
import { isFilterFault } from '../query-service.ts'
import { ANSWER_LANGUAGE, type ApiCall, answerCall, readCall } from './api-call.ts'
import { connectTools, endpointList } from './api-connect.ts'
import { snippetsOf } from './api-snippets.ts'
import { endpointAddress, endpointPaths } from './endpoints.ts'
import type { Tab, TabContext } from './tab.ts'

/** Maximum characters of an answer on the page; the link has all. */
const MAX_LENGTH = 12_000

/** The API console: a form for the parameters of a call, its address, its answer, and snippets for programs. */
export const apiTab: Tab = {
  name: 'api',
  label: 'API',
  isFiltered: false,
  isShown: () => true,
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
  const { answer, fault } = await answered(context, call)
  return html`<h2 class="first">${t('Try it out')}</h2>
${callForm(context, call)}
${callResult(context, call, answer, fault)}`
}

async function answered(
  context: TabContext,
  call: ApiCall,
): Promise<{ readonly answer: AnswerPage | null; readonly fault: Fault | null }> {
  try {
    return { answer: await answerCall(context, call), fault: null }
  } catch (error) {
    if (!isFilterFault(error)) throw error
    return { answer: null, fault: error }
  }
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
  const languages = Object.entries(LANGUAGE_NAMES).map(
    ([code, name]) =>
      html`<option value="${code}"${code === call.lang ? html` selected` : ''}>${name}</option>`,
  )
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
${fault === null ? answerText(pageContext, call, answer) : html`<div class="fault" role="alert"><p>${fault.message}</p></div>`}
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
