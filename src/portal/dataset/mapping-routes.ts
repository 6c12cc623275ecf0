import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { mayEdit, unauthorisedOrForbidden } from '../../accounts/authorisation.ts'
import { answerFault, restBody } from '../../http/faults.ts'
import { acceptForms, type Form, readForm } from '../../http/form.ts'
import type { Route } from '../../http/route-config.ts'
import { configureRoutes } from '../../http/route-config.ts'
import { hasErrors, placesOf } from '../../mapping/diagnostic.ts'
import { openMapping, saveMapping } from '../../publishing/mapping/mapping-file.ts'
import { pageContextOf } from '../../site/page-context.ts'
import {
  isOutdatedForm,
  refuseCrossSite,
  type SignedIn,
  sendOn,
  sendSessionEnded,
  signedIn,
  tokenFor,
} from '../../site/signed-in.ts'
import type { PageServices } from '../query-service.ts'
import type { SiteServices } from '../services.ts'
import { DraftChecker, draftResults } from './mapping-draft.ts'
import { type MappingEdit, mappingState, mappingTab, stateRegion } from './mapping-tab.ts'
import { answerDataset } from './page.ts'

/** Maximum bytes of a form: a mapping has at most 256,000, each of which is encoded as up to three. */
const MAX_BYTES = 800_000

const PATH = '/explore/dataset/:dataset/mapping'

/** The editor of mappings: shows, checks and saves them, for signed-in users who may edit the dataset. */
export const mappingEditor: FastifyPluginAsync<PageServices> = async (app, services) => {
  const checker = new DraftChecker(services)
  acceptForms(app, MAX_BYTES)
  configureRoutes(app, { methods: 'forms' }, [PATH])

  const answer = (
    request: FastifyRequest<Route<'dataset'>>,
    reply: FastifyReply,
    session: SignedIn,
    edit: Pick<MappingEdit, 'text' | 'opened' | 'outcome'>,
  ) => {
    const tab = mappingTab({ checker, formToken: tokenFor(session, services), ...edit })
    return answerDataset(reply, services, request.params.dataset, 'mapping', tab)
  }

  app.get<Route<'dataset'>>(PATH, (request, reply) => {
    const session = editorOf(request, services)
    const isSaved = (request.query as Record<string, unknown>).saved === '1'
    const outcome = { type: isSaved ? 'saved' : 'opened' } as const
    return answer(request, reply, session, { text: null, opened: null, outcome })
  })

  app.post<Route<'dataset'>>(PATH, { config: { access: 'session' } }, async (request, reply) => {
    if (request.principal.type === 'anonymous') return sendSessionEnded(request, reply, services)
    const session = editorOf(request, services)
    const form = readForm(request.body)
    const text = textOf(form)
    const opened = form.get('opened') ?? ''
    const outcome = isOutdatedForm(session, request, form, services)
      ? ({ type: 'outdated' } as const)
      : form.get('action') === 'save'
        ? await save(request.params.dataset, text, opened, services, checker)
        : ({ type: 'checked' } as const)
    if (outcome.type !== 'saved') return answer(request, reply, session, { text, opened, outcome })
    const pageContext = pageContextOf(request, services)
    return sendOn(
      reply,
      pageContext.href(`/explore/dataset/${request.params.dataset}/mapping/`, { saved: 1 }),
    )
  })

  app.get<Route<'dataset'>>(`${PATH}/state`, { errorHandler: answerFault(restBody) }, (request, reply) => {
    editorOf(request, services)
    const { dataset: id } = request.params
    const entry = services.catalog.visibleTo(request.principal).dataset(id)
    const opened = openMapping(services.portal, id)
    const state = mappingState(opened, checker.published(id), entry, services.publications.of(id))
    const pageContext = pageContextOf(request, services)
    const address = pageContext.href(`/explore/dataset/${id}/mapping/state/`)
    return reply.header('cache-control', 'private, no-store').send({
      state: state.type,
      html: stateRegion(pageContext, state, opened, { address, isSaved: true }).html,
    })
  })

  app.post<Route<'dataset'>>(
    `${PATH}/check`,
    { errorHandler: answerFault(restBody) },
    async (request, reply) => {
      const session = editorOf(request, services)
      const form = readForm(request.body)
      refuseCrossSite(session, request, form, services)
      const { file } = openMapping(services.portal, request.params.dataset)
      const manifest = checker.published(request.params.dataset)
      const checked = await checker.check({ text: textOf(form), file }, manifest)
      return reply.header('cache-control', 'private, no-store').send({
        diagnostics: checked.diagnostics.flatMap(diagnostic => {
          const { severity, message, hint } = diagnostic
          return placesOf(diagnostic).map(place => ({ severity, message, hint, ...place }))
        }),
        language: checked.file.endsWith('.ttl') ? 'turtle' : 'yaml',
        html: draftResults(pageContextOf(request, services), checked, file).html,
      })
    },
  )
}

/**
 * The editing user, who must see the dataset, be signed in and may edit it. Faults: NotFoundResource, NotPublishedYet,
 * Unauthorised, ForbiddenAccess.
 */
function editorOf(request: FastifyRequest<Route<'dataset'>>, services: SiteServices): SignedIn {
  const { dataset: id } = request.params
  const { principal } = request
  services.catalog.visibleTo(principal).dataset(id)
  const session = signedIn(request, services)
  if (session === null || !mayEdit(principal, id))
    throw unauthorisedOrForbidden(principal, `The mapping of ${id} is not public`)
  return session
}

/** The text of the form, without the carriage returns that browsers send. */
function textOf(form: Form): string {
  return (form.get('text') ?? '').replaceAll('\r\n', '\n')
}

async function save(
  id: string,
  text: string,
  opened: string,
  { portal, now, publications }: Pick<SiteServices, 'portal' | 'now' | 'publications'>,
  checker: DraftChecker,
): Promise<MappingEdit['outcome']> {
  const { file } = openMapping(portal, id)
  const { diagnostics } = await checker.check({ text, file }, checker.published(id))
  if (hasErrors(diagnostics)) return { type: 'refused' }
  const saved = saveMapping(portal, id, text, opened, new Date(now()))
  if (saved.type === 'saved') publications.forget(id)
  return saved
}
