import { html } from '../../http/html.ts'
import { EVERYTHING } from '../../model/principal.ts'
import type { Section } from './section.ts'

/** Who one is here, and what one may see. */
export const OVERVIEW: Section = {
  path: '/account',
  show: ({ visit: { user }, root }) => {
    const grants = [...user.grants].sort()
    return {
      type: 'page',
      heading: 'Your account',
      content: html`<dl><dt>User name</dt><dd>${user.name}</dd>
<dt>Restricted datasets that you may see</dt><dd>${
        grants.includes(EVERYTHING)
          ? 'All'
          : grants.length === 0
            ? 'None'
            : html`<ul>${grants.map(
                id => html`<li><code>${id}</code></li>
`,
              )}</ul>`
      }</dd>
<dt>Calls a day</dt><dd>${user.quota === null ? 'As every user of this portal' : user.quota.toLocaleString('en')}</dd></dl>
<ul class="things">${LINKS.map(
        ([path, name, what]) =>
          html`<li><div><a href="${root}${path}">${name}</a><small>${what}</small></div></li>
`,
      )}</ul>
`,
    }
  },
}

const LINKS = [
  ['/account/my-api-keys/', 'My API keys', 'For scripts and tools that ask in your name'],
  ['/account/my-applications/', 'My applications', 'Programs of yours that other users can let act for them'],
  ['/account/authorizations/', 'Authorizations', 'Applications that you let act for you'],
  ['/account/password/', 'Password', 'Change it, and log out everywhere else'],
] as const
