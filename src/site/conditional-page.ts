import { RELEASE } from '../http/conditional.ts'
import { assetPath } from './assets.ts'
import type { Visit } from './page-context.ts'

/**
 * Everything but the data that decides the bytes of a page, for its entity tag: the language, who looks at it, its address,
 * what the portal is called, and the release with its files for browsers.
 */
export function visitBasis({ site, principal, language, href, address }: Visit): readonly string[] {
  return [
    RELEASE,
    assetPath('site.css'),
    assetPath('site.js'),
    site.title,
    site.description,
    language,
    href('/'),
    address,
    principal.type === 'user' ? principal.name : '',
  ]
}
