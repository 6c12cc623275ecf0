import { assetPath } from './assets.ts'
import type { PageContext } from './page-context.ts'

/**
 * Everything but the data that decides the bytes of a page, for its entity tag: the language, who looks at it, its address,
 * what the portal is called, and its files for browsers.
 */
export function pageValidator({ site, principal, language, href, address }: PageContext): readonly string[] {
  return [
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
