import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { mayPublish } from '../../accounts/access.ts'
import { Fault } from '../../errors/errors.ts'
import { FORM_TYPE, type Form, readForm } from '../../http/form.ts'
import { configureRoutes } from '../../http/route-config.ts'
import type { DeskDataset } from '../../publishing/management/desk.ts'
import type { Desk } from '../../publishing/management/management.ts'
import { retainedVersions } from '../../publishing/versions/versions.ts'
import { keepPrivate } from '../../site/account-page.ts'
import { answerPageFault } from '../../site/fault-page.ts'
import { sendSitePage } from '../../site/frame.ts'
import { type Html, html } from '../../site/html.ts'
import { pageContextOf } from '../../site/page-context.ts'
import { refuseForeignTo, rootOf, type SignedIn, sendOn, signedIn, tokenFor } from '../../site/signed-in.ts'
import type { SiteServices } from '../services.ts'
import { HARVEST_PATH, harvestBody, savedHarvest, saveHarvest } from './harvest.ts'
import { nameInAddress, newId } from './new-id.ts'
import {
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
import { describedBy, formFields } from './read-forms.ts'
import { saveSource, sourceContent } from './source.ts'
import { saveSteps, stepsContent } from './steps.ts'
import { readUpload } from './upload.ts'

interface Route {
  readonly Params: { readonly dataset: string; readonly section?: string }
  readonly Querystring: Readonly<Record<string, string | undefined>>
}

/** Bytes of a form: a thousand fields, or a mapping. */
const MAX_FORM = 2_000_000

/** Records of a preview. */
const PREVIEWED = 10

/** Faults that a form shows. */
const REPORTED = new Set(['BadRequest', 'Conflict', 'ContentTooLarge', 'VersionUnknown', 'NotFoundResource'])

/** The desk: what publishers do, as pages that need no scripts. Only people who are signed in and may publish come in. */
export const deskPages: FastifyPluginAsync<SiteServices & { readonly desk: Desk }> = async (app, options) => {
  configureRoutes(app, { methods: 'forms' }, ['/desk'])
  const { desk } = options
  app.setErrorHandler(answerPageFault(options))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(FORM_TYPE, { parseAs: 'buffer', bodyLimit: MAX_FORM }, (_, body, done) =>
    done(null, body),
  )
  app.addContentTypeParser('multipart/form-data', (_, body, done) => done(null, body))

  /** Who is at the desk; null where that one was sent to the log-in page. */
  const publisherOf = (request: FastifyRequest, reply: FastifyReply): SignedIn | null => {
    const session = signedIn(request, options)
    if (session !== null) return session
    const root = rootOf(options)
    sendOn(reply, `${root}/account/login/?${new URLSearchParams({ next: `${root}/desk/` })}`)
    return null
  }

  const send = (request: FastifyRequest, reply: FastifyReply, title: string, body: Html, status = 200) =>
    sendSitePage(keepPrivate(reply), pageContextOf(request, options), {
      title,
      body,
      status,
      part: 'account',
      isWide: true,
      isIndexed: false,
      islands: ['desk.js'],
    })

  const showList = (
    request: FastifyRequest,
    reply: FastifyReply,
    session: SignedIn,
    problem: string | null = null,
  ) => {
    const { principal } = request
    const datasets = desk.list(principal)
    const isForNew = mayPublish(principal, null)
    if (datasets.length === 0 && !isForNew) desk.admit(principal, null)
    const pageContext = pageContextOf(request, options)
    const described =
      problem === null ? '' : html`<div class="note bad" role="alert"><p class="lines">${problem}</p></div>`
    const body = html`${described}${listBody({ pageContext, token: tokenFor(session, options) }, datasets, isForNew)}`
    return send(request, reply, pageContext.t('Desk'), body, problem === null ? 200 : 400)
  }

  const show = async (
    request: FastifyRequest<Route>,
    reply: FastifyReply,
    session: SignedIn,
    problem: string | null = null,
    given: Form | null = null,
  ) => {
    const { principal, params, query } = request
    const id = params.dataset
    const dataset = desk.dataset(principal, id)
    const section = sectionOf(params.section)
    const pageContext = pageContextOf(request, options)
    const context = { pageContext, token: tokenFor(session, options) }
    const status = desk.status(principal, id)
    const failed = status?.type === 'failed' ? status.reason : null
    const messages = {
      problem: problem ?? failed,
      done: query.done === '1' && problem === null ? pageContext.t('Saved.') : null,
      running: status?.type === 'running' ? pageContext.t('It is being published.') : null,
    }
    const content = await contentOf(section, dataset, request, context, given)
    return send(
      request,
      reply,
      dataset.title,
      datasetBody(context, dataset, section, messages, content),
      problem === null ? 200 : 400,
    )
  }

  const contentOf = async (
    section: SectionName,
    dataset: DeskDataset,
    { principal, query }: FastifyRequest<Route>,
    context: { readonly pageContext: ReturnType<typeof pageContextOf>; readonly token: string },
    given: Form | null,
  ): Promise<Html> => {
    const { id } = dataset
    switch (section) {
      case 'fields':
        try {
          const { fields, records } = await desk.preview(principal, id, PREVIEWED)
          return fieldsBody(context, dataset, fields, records)
        } catch (error) {
          if (!(error instanceof Fault) || !REPORTED.has(error.code)) throw error
          return html`<p class="error lines" role="alert">${error.message}</p>${fieldsBody(context, dataset, [], [])}`
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
      case 'history':
        return historyBody(
          context,
          dataset,
          retainedVersions(desk.options.versions, id),
          desk.history(principal, id),
        )
      default:
        return section satisfies never
    }
  }

  const change = async (request: FastifyRequest<Route>, form: Form): Promise<void> => {
    const { principal, params } = request
    const id = params.dataset
    const { t } = pageContextOf(request, options)
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
        throw new Fault('BadRequest', { reason: 'The form does not say what to do.' })
    }
  }

  /** A new dataset from an address. */
  const beginRemote = async (request: FastifyRequest, reply: FastifyReply, session: SignedIn) => {
    const form = readForm(request.body)
    refuseForeignTo(session, request, form, options)
    const url = form.get('url')?.trim() ?? ''
    const refresh = form.get('refresh')?.trim() ?? ''
    try {
      const id = newId(nameInAddress(url), new Set(desk.list(request.principal).map(each => each.id)))
      await desk.createRemote(request.principal, id, url, refresh === '' ? null : refresh)
      return sendOn(reply, `${rootOf(options)}/desk/${id}/source/`)
    } catch (error) {
      if (!(error instanceof Fault) || !REPORTED.has(error.code)) throw error
      return showList(request, reply, session, error.message)
    }
  }

  app.get<Route>('/desk', async (request, reply) => {
    const session = publisherOf(request, reply)
    return session === null ? reply : showList(request, reply, session)
  })

  app.post<Route>('/desk', async (request, reply) => {
    const session = publisherOf(request, reply)
    if (session === null) return reply
    desk.admit(request.principal, null)
    if (request.headers['content-type']?.startsWith('multipart/') !== true)
      return beginRemote(request, reply, session)
    const { form, name, stream } = await readUpload(request)
    refuseForeignTo(session, request, form, options)
    try {
      const id = newId(name, new Set(desk.list(request.principal).map(each => each.id)))
      await desk.upload(request.principal, id, { name, stream })
      return sendOn(reply, `${rootOf(options)}/desk/${id}/`)
    } catch (error) {
      stream.resume()
      if (!(error instanceof Fault) || !REPORTED.has(error.code)) throw error
      return showList(request, reply, session, error.message)
    }
  })

  app.get<Route>(HARVEST_PATH, async (request, reply) => {
    const session = publisherOf(request, reply)
    if (session === null) return reply
    desk.admit(request.principal, null)
    const pageContext = pageContextOf(request, options)
    const form = savedHarvest(desk.options.portal)
    const body = harvestBody(
      { pageContext, token: tokenFor(session, options) },
      form,
      request.query.done === '1',
    )
    return send(request, reply, pageContext.t('Harvested catalogs'), body)
  })

  app.post<Route>(HARVEST_PATH, async (request, reply) => {
    const session = publisherOf(request, reply)
    if (session === null) return reply
    desk.admit(request.principal, null)
    const form = readForm(request.body)
    refuseForeignTo(session, request, form, options)
    const pageContext = pageContextOf(request, options)
    const context = { pageContext, token: tokenFor(session, options) }
    const wrong = saveHarvest(desk.options.portal, form, context)
    if (wrong === null) return sendOn(reply, `${rootOf(options)}${HARVEST_PATH}/?done=1`)
    return send(request, reply, pageContext.t('Harvested catalogs'), harvestBody(context, wrong, false), 400)
  })

  for (const path of ['/desk/:dataset', '/desk/:dataset/:section']) {
    app.get<Route>(path, async (request, reply) => {
      const session = publisherOf(request, reply)
      return session === null ? reply : show(request, reply, session)
    })

    app.post<Route>(path, async (request, reply) => {
      const session = publisherOf(request, reply)
      if (session === null) return reply
      const { principal, params } = request
      desk.admit(principal, params.dataset)
      const section = sectionOf(params.section)
      let given: Form | null = null
      try {
        if (request.headers['content-type']?.startsWith('multipart/') === true) {
          const { form, name, stream } = await readUpload(request)
          refuseForeignTo(session, request, form, options)
          await desk.upload(principal, params.dataset, { name, stream })
        } else {
          const form = readForm(request.body)
          refuseForeignTo(session, request, form, options)
          given = form
          if (form.get('action') === 'try') return show(request, reply, session, null, form)
          await change(request, form)
        }
      } catch (error) {
        if (!(error instanceof Fault) || !REPORTED.has(error.code)) throw error
        return show(request, reply, session, error.message, given?.get('action') === section ? given : null)
      }
      const isThere = desk.list(principal).some(({ id }) => id === params.dataset)
      const next = isThere ? `/desk/${params.dataset}/${section}/?done=1` : '/desk/'
      return sendOn(reply, rootOf(options) + next)
    })
  }
}

function sectionOf(name: string | undefined): SectionName {
  const found = SECTIONS.find(section => section.name === (name ?? 'fields'))
  if (found === undefined)
    throw new Fault('NotFoundResource', { kind: 'page', id: String(name).slice(0, 100) })
  return found.name
}
