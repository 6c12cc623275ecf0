import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { hidden } from '../../catalog/visible.ts'
import { answerFault, restBody } from '../../http/faults.ts'
import { acceptForms, type Form, readForm } from '../../http/form.ts'
import { hasErrors, placesOf } from '../../mapping/diagnostic.ts'
import { mayEdit } from '../../model/principal.ts'
import { openMapping, saveMapping } from '../../publishing/mapping/mapping-edit.ts'
import { visitOf } from '../../site/page-context.ts'
import { refuseForeignTo, type SignedIn, sendOn, signedIn, tokenFor } from '../../site/signed-in.ts'
import type { Inquiry } from '../ask.ts'
import type { SiteServices } from '../services.ts'
import { DraftChecker } from './mapping-draft.ts'
import { draftResults } from './mapping-results.ts'
import { mappingState, stateRegion } from './mapping-state.ts'
import { type MappingEdit, mappingTab } from './mapping-tab.ts'
import { answerDataset } from './page.ts'

interface MappingRoute {
  readonly Params: { readonly dataset: string }
}

/** Bytes of a form: a mapping has at most 256,000, each of which takes up to three. */
const MOST_BYTES = 800_000

const PATH = '/explore/dataset/:dataset/mapping'

/** The editor of mappings: shows, checks and saves them, for people who are signed in and may edit the dataset. */
export const mappingEditor: FastifyPluginAsync<{
  readonly services: SiteServices
  readonly inquiry: Inquiry
}> = async (app, { services, inquiry }) => {
  const checker = new DraftChecker(services)
  acceptForms(app, MOST_BYTES)

  const answer = (
    request: FastifyRequest<MappingRoute>,
    reply: FastifyReply,
    session: SignedIn,
    edit: Pick<MappingEdit, 'text' | 'outcome'>,
  ) => {
    const tab = mappingTab({ checker, formToken: tokenFor(session, services), ...edit })
    return answerDataset(request, reply, services, inquiry, request.params.dataset, 'mapping', tab)
  }

  app.get<MappingRoute>(PATH, (request, reply) => {
    const session = editorOf(request, services)
    const isSaved = (request.query as Record<string, unknown>).saved === '1'
    return answer(request, reply, session, { text: null, outcome: { type: isSaved ? 'saved' : 'opened' } })
  })

  app.post<MappingRoute>(PATH, async (request, reply) => {
    const session = editorOf(request, services)
    const form = readForm(request.body)
    refuseForeignTo(session, request, form, services)
    const text = textOf(form)
    const outcome =
      form.get('action') === 'save'
        ? await save(request.params.dataset, text, form.get('opened') ?? '', services, checker)
        : ({ type: 'checked' } as const)
    if (outcome.type !== 'saved') return answer(request, reply, session, { text, outcome })
    const visit = visitOf(request, services)
    return sendOn(reply, visit.href(`/explore/dataset/${request.params.dataset}/mapping/`, { saved: 1 }))
  })

  app.get<MappingRoute>(`${PATH}/state`, { errorHandler: answerFault(restBody) }, (request, reply) => {
    editorOf(request, services)
    const { dataset: id } = request.params
    const entry = services.catalog.seenBy(request.principal).dataset(id)
    const opened = openMapping(services.portal, id)
    const state = mappingState(opened, checker.published(id), entry, services.publications.of(id))
    const visit = visitOf(request, services)
    const address = visit.href(`/explore/dataset/${id}/mapping/state/`)
    return reply.header('cache-control', 'private, no-store').send({
      state: state.type,
      html: stateRegion(visit, state, opened, { address, isSaved: true }).html,
    })
  })

  app.post<MappingRoute>(`${PATH}/check`, { errorHandler: answerFault(restBody) }, async (request, reply) => {
    const session = editorOf(request, services)
    const form = readForm(request.body)
    refuseForeignTo(session, request, form, services)
    const { file } = openMapping(services.portal, request.params.dataset)
    const manifest = checker.published(request.params.dataset)
    const checked = await checker.check({ text: textOf(form), file }, manifest)
    return reply.header('cache-control', 'private, no-store').send({
      diagnostics: checked.diagnostics.flatMap(diagnostic => {
        const { severity, message, hint } = diagnostic
        return placesOf(diagnostic).map(place => ({ severity, message, hint, ...place }))
      }),
      language: checked.file.endsWith('.ttl') ? 'turtle' : 'yaml',
      html: draftResults(visitOf(request, services), checked, file).html,
    })
  })
}

/**
 * Who edits: one who sees the dataset, may edit it and is signed in. Faults: NotFoundResource, NotPublishedYet,
 * Unauthorised, ForbiddenAccess.
 */
function editorOf(request: FastifyRequest<MappingRoute>, services: SiteServices): SignedIn {
  const { dataset: id } = request.params
  const { principal } = request
  services.catalog.seenBy(principal).dataset(id)
  const session = signedIn(request, services)
  if (session === null || !mayEdit(principal, id)) throw hidden(principal, `The mapping of ${id}`)
  return session
}

/** Browsers send the lines of a text with carriage returns. */
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
