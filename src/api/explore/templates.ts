import type { FastifyInstance } from 'fastify'
import { Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { type MetadataTemplate, TEMPLATE_TYPES, TEMPLATES } from '../../model/templates.ts'
import type { CatalogRoute, ExploreEndpoint } from './endpoint.ts'

interface TypeRoute extends CatalogRoute {
  readonly Params: { readonly type: string }
}
interface TemplateRoute extends CatalogRoute {
  readonly Params: { readonly type: string; readonly template: string }
}

/** Metadata templates, which only the Search API v2 lists (REST 2.8). */
export function templateRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  if (endpoint.options.dialect.name !== 'search-v2') return
  const home = `${endpoint.place.root}/catalog/metadata_templates`
  const up = { rel: 'metadata_templates', href: home }

  app.get<CatalogRoute>('/catalog/metadata_templates', async (request, reply) => {
    const types = TEMPLATE_TYPES.map(({ type, label }) => ({ rel: label, href: `${home}/${type}` }))
    return endpoint.answer(request, reply, endpoint.executor(), {
      links: [{ rel: 'self', href: home }, ...types],
    })
  })

  app.get<TypeRoute>('/catalog/metadata_templates/:type', async (request, reply) => {
    const type = typeNamed(request.params.type)
    const body = {
      links: [{ rel: 'self', href: `${home}/${type}` }, up],
      metadata_templates: TEMPLATES.filter(each => each.type === type).map(template => ({
        links: [{ rel: 'self', href: `${home}/${type}/${template.name}` }],
        // The key is spelled like this in the answer that is specified, and nowhere else.
        matadata_template: template,
      })),
    }
    return endpoint.answer(request, reply, endpoint.executor(), body)
  })

  app.get<TemplateRoute>('/catalog/metadata_templates/:type/:template', async (request, reply) => {
    const type = typeNamed(request.params.type)
    const template = templateNamed(type, request.params.template)
    const links = [
      { rel: 'self', href: `${home}/${type}/${template.name}` },
      { rel: type, href: `${home}/${type}` },
      up,
    ]
    return endpoint.answer(request, reply, endpoint.executor(), { links, metadata_template: template })
  })
}

function typeNamed(name: string): string {
  const found = TEMPLATE_TYPES.find(({ type }) => type === name)
  if (found === undefined) throw unknown('metadata template type', name)
  return found.type
}

function templateNamed(type: string, name: string): MetadataTemplate {
  const found = TEMPLATES.find(template => template.type === type && template.name === name)
  if (found === undefined) throw unknown('metadata template', name)
  return found
}

function unknown(kind: string, id: string): Fault {
  return new Fault(NOT_FOUND_RESOURCE, { kind, id: id.slice(0, 100) })
}
