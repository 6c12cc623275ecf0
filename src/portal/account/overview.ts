import { html } from '../../http/html.ts'
import { EVERYTHING } from '../../model/principal.ts'
import type { Section } from './section.ts'

/** Who one is here, and what one may see. */
export const OVERVIEW: Section = {
  path: '/account',
  show: ({ session: { user }, visit: { say, number, href } }) => {
    const grants = [...user.grants].sort()
    const links = [
      ['/account/my-api-keys/', say('My API keys'), say('For scripts and tools that ask in your name')],
      [
        '/account/my-applications/',
        say('My applications'),
        say('Programs of yours that other users can let act for them'),
      ],
      ['/account/authorizations/', say('Authorizations'), say('Applications that you let act for you')],
      ['/account/password/', say('Password'), say('Change it, and log out everywhere else')],
    ] as const
    return {
      type: 'page',
      heading: say('Your account'),
      content: html`<dl class="facts-list"><dt>${say('User name')}</dt><dd>${user.name}</dd>
<dt>${say('Restricted datasets that you may see')}</dt><dd>${
        grants.includes(EVERYTHING)
          ? say('All')
          : grants.length === 0
            ? say('None')
            : html`<ul>${grants.map(
                id => html`<li><code>${id}</code></li>
`,
              )}</ul>`
      }</dd>
<dt>${say('Calls a day')}</dt><dd>${user.quota === null ? say('As every user of this portal') : number(user.quota)}</dd></dl>
<ul class="things">${links.map(
        ([path, name, what]) =>
          html`<li><div><a href="${href(path)}">${name}</a><small>${what}</small></div></li>
`,
      )}</ul>
`,
    }
  },
}
