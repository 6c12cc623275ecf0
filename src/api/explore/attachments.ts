import type { FastifyInstance } from 'fastify'
import { Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { isFresh } from '../../http/conditional.ts'
import type { Attachment } from '../../model/dataset.ts'
import { attachmentNamed, type OpenAttachment, openAttachment } from '../../publishing/attachments.ts'
import type { DatasetRoute, ExploreEndpoint } from './endpoint.ts'

interface AttachmentRoute extends DatasetRoute {
  readonly Params: { readonly dataset: string; readonly attachment: string }
}

/** Attachments of datasets: their list and the files themselves (REST 2.6). */
export function attachmentRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const { portal } = endpoint.options
  const datasets = `${endpoint.place.root}/catalog/datasets`

  app.get<DatasetRoute>('/catalog/datasets/:dataset/attachments', async (request, reply) => {
    const { dataset } = endpoint.dataset(request)
    const home = `${datasets}/${dataset.id}`
    const links = [
      { rel: 'self', href: `${home}/attachments` },
      { rel: 'dataset', href: home },
    ]
    const attachments = dataset.attachments.map(each => presentAttachment(each, `${home}/attachments`))
    return endpoint.answer(request, reply, endpoint.executor(), { links, attachments })
  })

  app.get<AttachmentRoute>('/catalog/datasets/:dataset/attachments/:attachment', async (request, reply) => {
    const { dataset } = endpoint.dataset(request)
    const { attachment: id } = request.params
    const attachment = attachmentNamed(dataset, id)
    if (attachment === undefined || portal === undefined) throw unknown(id)
    const file = await openAttachment(portal, dataset, attachment)
    if (file === null) {
      request.log.warn({ dataset: dataset.id, path: attachment.path }, 'attachment cannot be served')
      throw unknown(id)
    }
    if (isFresh(request, reply, file.version)) {
      await file.close()
      return reply.code(304).send()
    }
    return reply.headers(fileHeaders(attachment, file)).send(file.content())
  })
}

/** One item of the list, in both generations (OpenAPI of v2.0 and v2.1, schema "attachment"). */
function presentAttachment({ id, title, mimetype }: Attachment, home: string): unknown {
  const href = `${home}/${encodeURIComponent(id)}`
  return { href, metas: { 'mime-type': mimetype, title, url: href, id } }
}

/**
 * A file comes from the publisher, so it is not trusted: browsers save it, and if one opens it nevertheless, it gets an
 * opaque origin and runs no scripts (CSP Level 3, section 6.3.2, "sandbox").
 */
function fileHeaders({ mimetype }: Attachment, { name, bytes }: OpenAttachment): Record<string, string> {
  return {
    'content-type': MEDIA_TYPE.test(mimetype) ? mimetype : 'application/octet-stream',
    'content-length': String(bytes),
    'content-disposition': contentDisposition(name),
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
  }
}

/** A media type with parameters: no other text of dataset.yaml may reach a header (RFC 9110, section 8.3.1). */
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?: *; *[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[\w !#$&^.+-]*"))*$/

/** A name for saving, once in ASCII and once whole (RFC 6266, section 4.3; RFC 8187). */
function contentDisposition(name: string): string {
  const plain = name.normalize('NFC').replace(/[^\w .()+-]/gu, '_')
  const whole = encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, escaped)
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

function unknown(id: string): Fault {
  return new Fault(NOT_FOUND_RESOURCE, { kind: 'attachment', id: id.slice(0, 100) })
}
