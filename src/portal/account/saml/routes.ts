import type { FastifyPluginAsync } from 'fastify'
import { acceptForms, readForm, singleFields } from '../../../http/form.ts'
import { localPath } from '../../../http/local-path.ts'
import type { QueryParameters } from '../../../http/query-string.ts'
import type { AccountsOptions } from '../../../site/signed-in.ts'
import { SAML_PATH, SAML_PATHS, SamlSignIn } from './sign-in.ts'

/** Bytes of a form with a response: 256 kB in base 64, percent-encoded in part. */
const MAX_FORM = 400 * 1024

/** The endpoints of sign-in by SAML 2.0, if the portal has an identity provider. */
export const samlRoutes: FastifyPluginAsync<AccountsOptions> = async (app, options) => {
  if (options.saml === undefined) return
  const signIn = new SamlSignIn(options.saml, options)
  acceptForms(app, MAX_FORM)
  const nextIn = (query: unknown) => singleFields(query as QueryParameters).get('next')
  app.get(SAML_PATHS.metadata, async (_, reply) => signIn.metadata(reply))
  app.get(SAML_PATH, async (request, reply) => signIn.begin(reply, localPath(nextIn(request.query))))
  app.post(SAML_PATHS.consumer, async (request, reply) =>
    signIn.consume(request, reply, readForm(request.body)),
  )
  app.get(SAML_PATHS.end, async (request, reply) => signIn.end(request, reply, nextIn(request.query)))
}
