import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { mayPublish } from '../../accounts/access.ts'
import {
  BAD_REQUEST,
  CONFLICT,
  CONTENT_TOO_LARGE,
  Fault,
  isFault,
  NOT_FOUND_RESOURCE,
  VERSION_UNKNOWN,
} from '../../errors/errors.ts'
import { acceptForms, type Form, readForm } from '../../http/form.ts'
import { configureRoutes } from '../../http/route-config.ts'
import type { Desk } from '../../publishing/management/desk.ts'
import type { DeskDataset } from '../../publishing/management/desk-types.ts'
import { retainedVersions } from '../../publishing/versions/versions.ts'
import { keepPrivate } from '../../site/account-page.ts'
import { answerPageFault } from '../../site/fault-page.ts'
import { sendSitePage } from '../../site/frame.ts'
import { type Html, html } from '../../site/html.ts'
import { pageContextOf } from '../../site/page-context.ts'
import {
  refuseForeignTo,
  rootOf,
  type SignedIn,
  sendOn,
  sendToLogin,
  signedIn,
  tokenFor,
} from '../../site/signed-in.ts'
import type { SiteServices } from '../services.ts'
import { describedBy, formFields, nameInAddress, newId, readUpload, type UploadForm } from './forms.ts'
import { HARVEST_PATH, harvestBody, savedHarvest, saveHarvest } from './harvest.ts'
import {
  type DeskContext,
  datasetBody,
  descriptionBody,
  fieldsBody,
  historyBody,
  listBody,
  mappingBody,
  reportBody,
  SECTIONS,
  type SectionName,
} from './pages.ts'
import { saveSource, sourceContent } from './source.ts'
import { saveSteps, stepsContent } from './steps.ts'

interface Route {
  readonly Params: { readonly dataset: string; readonly section?: string }
  readonly Querystring: Readonly<Record<string, string | undefined>>
}

/** Maximum bytes of a form: a thousand fields, or a mapping. */
const MAX_FORM = 2_000_000

/** Records of a preview. */
const PREVIEWED = 10

/** Faults that a form shows. */
const REPORTED = [BAD_REQUEST, CONFLICT, CONTENT_TOO_LARGE, VERSION_UNKNOWN, NOT_FOUND_RESOURCE]

/** A request of a signed-in user, with its reply. */
interface DeskRequest {
  readonly request: FastifyRequest<Route>
  readonly reply: FastifyReply
  readonly session: SignedIn
  readonly context: DeskContext
}

type Answer = (requested: DeskRequest) => FastifyReply | Promise<FastifyReply>

/** The desk: pages for publishers, which need no scripts. Only signed-in users who may publish have access. */
export const deskPages: FastifyPluginAsync<SiteServices & { readonly desk: Desk }> = async (app, options) => {
  configureRoutes(app, { methods: 'forms' }, ['/desk'])
  const { desk } = options
  app.setErrorHandler(answerPageFault(options))
  acceptForms(app, MAX_FORM)
  app.addContentTypeParser('multipart/form-data', (_, body, done) => done(null, body))

  /** Answers signed-in users; all others are redirected to the log-in page. */
  const withSession = (answer: Answer) => async (request: FastifyRequest<Route>, reply: FastifyReply) => {
    const session = signedIn(request, options)
    if (session === null) return sendToLogin(reply, options, '/desk/')
    const context = { pageContext: pageContextOf(request, options), token: tokenFor(session, options) }
    return answer({ request, reply, session, context })
  }

  /** The form of a request, which must come from our own page. Faults: CrossSiteRequest, BadRequest. */
  const formOf = ({ request, session }: DeskRequest): Form => {
    const form = readForm(request.body)
    refuseForeignTo(session, request, form, options)
    return form
  }

  const uploadOf = async ({ request, session }: DeskRequest): Promise<UploadForm> => {
    const upload = await readUpload(request)
    refuseForeignTo(session, request, upload.form, options)
    return upload
  }

  const send = ({ reply, context }: DeskRequest, title: string, body: Html, status: 200 | 400) =>
    sendSitePage(keepPrivate(reply), context.pageContext, {
      title,
      body,
      status,
      part: 'account',
      isWide: true,
      isIndexed: false,
      islands: ['desk.js'],
    })

  const showList = (requested: DeskRequest, problem: string | null = null) => {
    const { context, request } = requested
    const { principal } = request
    const datasets = desk.list(principal)
    const isForNew = mayPublish(principal, null)
    if (datasets.length === 0 && !isForNew) desk.admit(principal, null)
    const described =
      problem === null ? '' : html`<div class="note bad" role="alert"><p class="lines">${problem}</p></div>`
    const body = html`${described}${listBody(context, datasets, isForNew)}`
    return send(requested, context.pageContext.t('Desk'), body, problem === null ? 200 : 400)
  }

  const show = async (requested: DeskRequest, problem: string | null = null, given: Form | null = null) => {
    const { context, request } = requested
    const { principal, params, query } = request
    const id = params.dataset
    const dataset = desk.dataset(principal, id)
    const section = sectionOf(params.section)
    const { t } = context.pageContext
    const status = desk.status(principal, id)
    const failed = status?.type === 'failed' ? status.reason : null
    const messages = {
      problem: problem ?? failed,
      done: query.done === '1' && problem === null ? t('Saved.') : null,
      running: status?.type === 'running' ? t('It is being published.') : null,
    }
    const content = await contentOf(requested, section, dataset, given)
    const body = datasetBody(context, dataset, section, messages, content)
    return send(requested, dataset.title, body, problem === null ? 200 : 400)
  }

  const contentOf = async (
    { request: { principal, query }, context }: DeskRequest,
    section: SectionName,
    dataset: DeskDataset,
    given: Form | null,
  ): Promise<Html> => {
    const { id } = dataset
    switch (section) {
      case 'fields':
        try {
          const { fields, records } = await desk.preview(principal, id, PREVIEWED)
          return fieldsBody(context, dataset, fields, records)
        } catch (error) {
          return html`<p class="error lines" role="alert">${messageShown(error)}</p>${fieldsBody(context, dataset, [], [])}`
        }
      case 'source':
        return sourceContent(desk, principal, id, context, given)
      case 'steps':
        return stepsContent({ desk, principal, context, dataset }, query.add, given)
      case 'description':
        return descriptionBody(context, dataset, desk.definition(principal, id))
      case 'mapping':
        return mappingBody(context, dataset, desk.mapping(principal, id))
      case 'report':
        return reportBody(context, await desk.check(principal, id))
      case 'history': {
        const retained = retainedVersions(desk.options.versions, id)
        return historyBody(context, dataset, retained, desk.history(principal, id))
      }
      default:
        return section satisfies never
    }
  }

  const change = async ({ request, context }: DeskRequest, form: Form): Promise<void> => {
    const { principal, params } = request
    const id = params.dataset
    const { t } = context.pageContext
    switch (form.get('action')) {
      case 'fields':
        return desk.change(principal, id, { fields: formFields(form) })
      case 'description':
        return desk.change(principal, id, describedBy(form))
      case 'mapping': {
        const text = (form.get('text') ?? '').replaceAll('\r\n', '\n')
        return desk.changeMapping(principal, id, text.trim() === '' ? null : text)
      }
      case 'source':
        return saveSource(desk, principal, id, form, t)
      case 'steps':
        return saveSteps(desk, principal, id, form, t)
      case 'publish':
        return desk.publish(principal, id)
      case 'withdraw':
        return desk.withdraw(principal, id)
      case 'discard':
        return desk.discard(principal, id)
      case 'restore':
        await desk.rollBack(principal, id, form.get('version') ?? null)
        return
      default:
        throw new Fault(BAD_REQUEST, { reason: 'The form lacks its action.' })
    }
  }

  app.get<Route>('/desk', withSession(showList))

  /** Creates a dataset from an uploaded file or an address. */
  const begin: Answer = async requested => {
    const { principal } = requested.request
    desk.admit(principal, null)
    const upload = isMultipart(requested.request) ? await uploadOf(requested) : null
    const form = upload?.form ?? formOf(requested)
    const url = form.get('url')?.trim() ?? ''
    const refresh = form.get('refresh')?.trim() ?? ''
    try {
      const id = newId(upload?.name ?? nameInAddress(url), desk.taken())
      if (upload !== null) await desk.upload(principal, id, upload)
      else await desk.createRemote(principal, id, url, refresh === '' ? null : refresh)
      return sendOn(requested.reply, `${rootOf(options)}/desk/${id}/${upload === null ? 'source/' : ''}`)
    } catch (error) {
      upload?.stream.resume()
      return showList(requested, messageShown(error))
    }
  }
  app.post<Route>('/desk', withSession(begin))

  const answerHarvest: Answer = async requested => {
    const { request, reply, context } = requested
    desk.admit(request.principal, null)
    const { portal } = desk.options
    const isSaved = request.method === 'POST'
    const form = isSaved ? saveHarvest(portal, formOf(requested), context) : savedHarvest(portal)
    if (form === null) return sendOn(reply, `${rootOf(options)}${HARVEST_PATH}/?done=1`)
    const body = harvestBody(context, form, !isSaved && request.query.done === '1')
    return send(requested, context.pageContext.t('Harvested catalogs'), body, isSaved ? 400 : 200)
  }
  app.get<Route>(HARVEST_PATH, withSession(answerHarvest))
  app.post<Route>(HARVEST_PATH, withSession(answerHarvest))

  const save: Answer = async requested => {
    const { principal, params } = requested.request
    desk.admit(principal, params.dataset)
    const section = sectionOf(params.section)
    let given: Form | null = null
    try {
      if (isMultipart(requested.request))
        await desk.upload(principal, params.dataset, await uploadOf(requested))
      else {
        given = formOf(requested)
        if (given.get('action') === 'try') return show(requested, null, given)
        await change(requested, given)
      }
    } catch (error) {
      return show(requested, messageShown(error), given?.get('action') === section ? given : null)
    }
    const isThere = desk.list(principal).some(({ id }) => id === params.dataset)
    const next = isThere ? `/desk/${params.dataset}/${section}/?done=1` : '/desk/'
    return sendOn(requested.reply, rootOf(options) + next)
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
function messageShown(error: unknown): string {
  if (isFault(error, ...REPORTED)) return error.message
  throw error
}

function sectionOf(name: string | undefined): SectionName {
  const found = SECTIONS.find(section => section.name === (name ?? 'fields'))
  if (found === undefined)
    throw new Fault(NOT_FOUND_RESOURCE, { kind: 'page', id: String(name).slice(0, 100) })
  return found.name
}
