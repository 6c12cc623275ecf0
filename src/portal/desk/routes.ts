import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { mayPublish, mayRead } from '../../accounts/authorisation.ts'
import {
  BAD_REQUEST,
  CONFLICT,
  CONTENT_TOO_LARGE,
  Fault,
  isFault,
  NOT_FOUND_RESOURCE,
  VERSION_UNKNOWN,
} from '../../errors/errors.ts'
import { harvestDigest } from '../../harvest/settings.ts'
import { hangUpSignal } from '../../http/client-budget.ts'
import { allowLongUpload } from '../../http/connections.ts'
import { acceptForms, type Form, readForm, singleFields } from '../../http/form.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { configureRoutes } from '../../http/route-config.ts'
import { unusedId } from '../../model/readable-name.ts'
import { fold } from '../../model/search.ts'
import { implicitSources } from '../../publishing/implicit.ts'
import type { Desk } from '../../publishing/management/desk.ts'
import { EDIT_CONFLICT } from '../../publishing/management/desk-types.ts'
import { keepPrivate } from '../../site/account-page.ts'
import { answerPageFault } from '../../site/fault-page.ts'
import { sendSitePage } from '../../site/frame.ts'
import { type Html, html } from '../../site/html.ts'
import type { Translator } from '../../site/page-context.ts'
import { pageContextOf } from '../../site/page-context.ts'
import {
  CROSS_SITE_REQUEST,
  isOutdatedForm,
  refuseCrossSite,
  rootOf,
  type SignedIn,
  sendOn,
  sendSessionEnded,
  sendToLogin,
  signedIn,
  tokenFor,
} from '../../site/signed-in.ts'
import type { SiteServices } from '../services.ts'
import { nameInAddress, readUpload, type UploadForm } from './forms.ts'
import { HARVEST_PATH, harvestBody, savedHarvest, saveHarvest } from './harvest.ts'
import { idsWith, listBody, NAMED } from './list.ts'
import { addressOfText, CHANGED_SINCE, openedText } from './opened.ts'
import { type DeskContext, datasetBody, questionBody, SECTIONS, type SectionName } from './pages.ts'
import { applyForm, editedTextDigest, sectionContent } from './sections.ts'
import { uploadMessage } from './upload-messages.ts'

interface Route {
  readonly Params: { readonly dataset: string; readonly section?: string }
  readonly Querystring: Readonly<Record<string, string | undefined>>
}

/** Maximum bytes of a form: a thousand fields, or a mapping. */
const MAX_FORM = 2_000_000

/** Datasets on a page of the list: of each several files are read. */
const LISTED = 50

/** Faults that a form shows. */
const REPORTED = [BAD_REQUEST, CONFLICT, CONTENT_TOO_LARGE, VERSION_UNKNOWN, NOT_FOUND_RESOURCE]

interface DeskRequest {
  readonly request: FastifyRequest<Route>
  readonly reply: FastifyReply
  readonly session: SignedIn
  readonly context: DeskContext
}

interface Refused {
  readonly form: Form | null
  /** null for a form that was only tried. */
  readonly problem: Html | null
  readonly status: number
}

type Answer = (requested: DeskRequest) => FastifyReply | Promise<FastifyReply>

/** The desk: pages for publishers, which need no scripts. Only signed-in users who may publish have access. */
export const deskPages: FastifyPluginAsync<SiteServices & { readonly desk: Desk }> = async (app, options) => {
  configureRoutes(app, { methods: 'forms', access: 'session' }, ['/desk'])
  const { desk } = options
  app.setErrorHandler(answerPageFault(options))
  acceptForms(app, MAX_FORM)
  app.addContentTypeParser('multipart/form-data', (_, body, done) => done(null, body))

  /** Answers signed-in users; all others are redirected to the sign-in page. */
  const withSession = (answer: Answer) => async (request: FastifyRequest<Route>, reply: FastifyReply) => {
    const session = signedIn(request, options)
    if (session === null && request.method === 'POST') return sendSessionEnded(request, reply, options)
    if (session === null) return sendToLogin(reply, options, request.url)
    const context = { pageContext: pageContextOf(request, options), token: tokenFor(session, options) }
    return answer({ request, reply, session, context })
  }

  const uploadOf = async ({
    request,
    reply,
    session,
  }: DeskRequest): Promise<UploadForm & { readonly signal: AbortSignal }> => {
    const upload = await readUpload(request)
    refuseCrossSite(session, request, upload.form, options)
    allowLongUpload(request.raw)
    return { ...upload, signal: hangUpSignal(reply.raw) }
  }

  const send = ({ reply, context }: DeskRequest, title: string, body: Html, status: number) =>
    sendSitePage(keepPrivate(reply), context.pageContext, {
      title,
      body,
      status,
      part: 'desk',
      isWide: true,
      isIndexed: false,
      islands: ['desk.js'],
    })

  /** Redirects to the address of the form of a text, so that a browser that goes back to it gets the form of the same text. */
  const sendWithDigest = ({ request, reply }: DeskRequest, digest: string) =>
    sendOn(reply, rootOf(options) + addressOfText(request.url, digest))

  const showList = (requested: DeskRequest, problem: Html | null = null, given: Form | null = null) => {
    const { context, request } = requested
    const { principal } = request
    const ids = desk.ids(principal)
    const isForNew = mayPublish(principal, null)
    if (ids.length === 0 && !isForNew) desk.admit(principal, null)
    const query = singleFields(request.query as QueryParameters)
    const words = query.get('q')?.trim() ?? ''
    const found = words === '' ? ids : idsWith(words, ids, options.catalog.visibleTo(principal).current())
    const pages = Math.max(1, Math.ceil(found.length / LISTED))
    const page = Math.min(pages, Math.max(1, Math.floor(Number(query.get('page'))) || 1))
    const datasets = found.slice((page - 1) * LISTED, page * LISTED).map(id => desk.dataset(principal, id))
    const implicit = isForNew ? [...implicitSources(desk.options.portal).keys()].sort() : []
    const isSearched = ids.length > LISTED || implicit.length > NAMED
    const list = { datasets, words, page, pages, isSearched }
    const undescribed = words === '' ? implicit : implicit.filter(id => id.includes(fold(words)))
    const described = problem === null ? '' : html`<div class="note bad" role="alert">${problem}</div>`
    const body = html`<h1>${context.pageContext.t('Desk')}</h1>
${described}${listBody(context, list, isForNew, undescribed, given)}`
    return send(requested, context.pageContext.t('Desk'), body, problem === null ? 200 : 400)
  }

  const show = async (requested: DeskRequest, refused: Refused | null = null) => {
    const { context, request } = requested
    const { principal, params, query } = request
    const id = params.dataset
    const dataset = desk.dataset(principal, id)
    const section = sectionOf(params.section)
    const { t } = context.pageContext
    const user = { desk, principal, context }
    const given = refused?.form?.get('action') === section || refused?.problem === null ? refused.form : null
    const isConflict = refused?.status === EDIT_CONFLICT.status
    const digest = editedTextDigest(user, id, section)
    if (refused === null && digest !== null && query.opened === undefined)
      return sendWithDigest(requested, digest)
    const { isOutdated, opened } = openedText(digest ?? '', refused === null ? query.opened : undefined)
    // A form that is sent again after a conflict replaces the change of the other.
    const state = { given, opened: (isConflict ? undefined : given?.get('opened')) ?? opened }
    const question = refused === null ? questionBody(context, dataset, section, query.ask) : null
    const content = question ?? (await sectionContent(user, section, dataset, state, query.add))
    const status = desk.status(principal, id)
    const failed = status?.type === 'failed' ? status.reason : null
    const messages = {
      problem:
        refused?.problem ??
        (isOutdated ? html`<p>${t(CHANGED_SINCE)}</p>` : failed === null ? null : uploadMessage(failed, t)),
      done: query.done === '1' && refused === null ? t('Saved.') : null,
      running: status?.type === 'running' ? t('It is being published.') : null,
      isOutdated: isConflict || isOutdated,
      isVisible: dataset.manifest !== null && mayRead(principal, dataset.manifest.dataset),
    }
    const body = datasetBody(context, dataset, section, messages, content)
    const title = `${dataset.title}: ${t(labelOf(section))}`
    return send(requested, title, body, refused?.status ?? 200)
  }

  app.get<Route>('/desk', withSession(showList))

  /** Creates a dataset from an uploaded file or an address. */
  const begin: Answer = async requested => {
    const { principal } = requested.request
    const { t } = requested.context.pageContext
    desk.admit(principal, null)
    const upload = isMultipart(requested.request) ? await uploadOf(requested) : null
    const form = upload?.form ?? readForm(requested.request.body)
    const url = form.get('url')?.trim() ?? ''
    const refresh = form.get('refresh')?.trim() ?? ''
    if (upload === null && isOutdatedForm(requested.session, requested.request, form, options))
      return showList(requested, outdatedText(t), form)
    try {
      const id = unusedId(upload?.name ?? nameInAddress(url), desk.taken())
      if (upload !== null) await desk.upload(principal, id, upload)
      else await desk.createRemote(principal, id, url, refresh === '' ? null : refresh)
      return sendOn(
        requested.reply,
        requested.context.pageContext.href(`/desk/${id}/${upload === null ? 'source/' : ''}`),
      )
    } catch (error) {
      upload?.stream.resume()
      return showList(requested, messageShown(error, t), form)
    }
  }
  app.post<Route>('/desk', withSession(begin))

  const answerHarvest: Answer = async requested => {
    const { request, reply, session, context } = requested
    desk.admit(request.principal, null)
    const { portal } = desk.options
    const isSaved = request.method === 'POST'
    const save = () => {
      const given = readForm(request.body)
      return saveHarvest(portal, given, context, isOutdatedForm(session, request, given, options))
    }
    const digest = harvestDigest(portal)
    if (!isSaved && request.query.opened === undefined) return sendWithDigest(requested, digest)
    const form = isSaved ? save() : savedHarvest(portal, openedText(digest, request.query.opened))
    if (form === null) return sendOn(reply, context.pageContext.href(`${HARVEST_PATH}/`, { done: 1 }))
    const body = harvestBody(context, form, !isSaved && request.query.done === '1')
    return send(requested, context.pageContext.t('Harvested catalogs'), body, isSaved ? 400 : 200)
  }
  app.get<Route>(HARVEST_PATH, withSession(answerHarvest))
  app.post<Route>(HARVEST_PATH, withSession(answerHarvest))

  const save: Answer = async requested => {
    const { request, session, context } = requested
    const { principal, params } = request
    desk.admit(principal, params.dataset)
    const section = sectionOf(params.section)
    const { t } = context.pageContext
    let form: Form | null = null
    try {
      if (isMultipart(request)) await desk.upload(principal, params.dataset, await uploadOf(requested))
      else {
        form = readForm(request.body)
        if (isOutdatedForm(session, request, form, options))
          return show(requested, { form, problem: outdatedText(t), status: CROSS_SITE_REQUEST.status })
        if (form.get('action') === 'try') return show(requested, { form, problem: null, status: 200 })
        await applyForm({ desk, principal, context }, params.dataset, form)
      }
    } catch (error) {
      const refuse = (problem: Html, status: number) => show(requested, { form, problem, status })
      if (isFault(error, EDIT_CONFLICT))
        return refuse(
          html`<p>${t('Somebody changed this dataset after you opened the form. Nothing was saved. Your input is still in the form: save again to replace what is there now.')}</p>`,
          EDIT_CONFLICT.status,
        )
      return refuse(messageShown(error, t), BAD_REQUEST.status)
    }
    const isThere = desk.ids(principal).includes(params.dataset)
    // What else is done is seen on the page: that it is published, withdrawn, or as it was.
    const isSaved = form === null || form.get('action') === section
    const { href } = context.pageContext
    const home = `/desk/${params.dataset}/${section}/`
    return sendOn(requested.reply, isThere ? href(home, isSaved ? { done: 1 } : {}) : href('/desk/'))
  }
  for (const path of ['/desk/:dataset', '/desk/:dataset/:section']) {
    app.get<Route>(path, withSession(show))
    app.post<Route>(path, withSession(save))
  }
}

function isMultipart({ headers }: FastifyRequest): boolean {
  return headers['content-type']?.startsWith('multipart/') === true
}

/** The message of a fault that a form shows; rethrows any other error. */
function messageShown(error: unknown, t: Translator): Html {
  if (isFault(error, ...REPORTED)) return uploadMessage(error.message, t)
  throw error
}

function outdatedText(t: Translator): Html {
  return html`<p>${t('This form is out of date. Nothing was saved. Check your input, and save again.')}</p>`
}

function labelOf(section: SectionName): string {
  return SECTIONS.find(({ name }) => name === section)?.label ?? section
}

function sectionOf(name: string | undefined): SectionName {
  const found = SECTIONS.find(section => section.name === (name ?? 'fields'))
  if (found === undefined)
    throw new Fault(NOT_FOUND_RESOURCE, { kind: 'page', id: String(name).slice(0, 100) })
  return found.name
}
