import { EDITING, EVERYTHING, PUBLISHING } from '../../model/principal.ts'
import { type Html, html } from '../../site/html.ts'
import { type Translator, toSay } from '../../site/translator.ts'
import type { Section } from './section.ts'

/** The kinds of grants, each with the datasets that it names. */
const GRANTS: readonly {
  readonly label: string
  readonly of: (grants: ReadonlySet<string>) => readonly string[]
}[] = [
  {
    label: toSay('Restricted datasets that you may see'),
    of: grants =>
      [...grants].filter(grant => !grant.startsWith(EDITING) && !grant.startsWith(PUBLISHING)).sort(),
  },
  {
    label: toSay('Datasets whose mappings you may edit'),
    of: grants =>
      [...grants]
        .filter(grant => grant.startsWith(EDITING))
        .map(grant => grant.slice(EDITING.length))
        .sort(),
  },
  {
    label: toSay('Datasets that you may publish'),
    of: grants =>
      [...grants]
        .filter(grant => grant.startsWith(PUBLISHING))
        .map(grant => grant.slice(PUBLISHING.length))
        .sort(),
  },
]

function granted(say: Translator, datasets: readonly string[]): Html {
  if (datasets.includes(EVERYTHING)) return html`${say('All')}`
  if (datasets.length === 0) return html`${say('None')}`
  return html`<ul>${datasets.map(
    id => html`<li><code>${id}</code></li>
`,
  )}</ul>`
}

/** Who one is here, and what one may see. */
export const OVERVIEW: Section = {
  path: '/account',
  show: ({ session: { user }, visit: { say, number, href } }) => {
    const links = [
      ['/account/my-api-keys/', say('My API keys'), say('For scripts and tools that ask in your name')],
      [
        '/account/my-applications/',
        say('My applications'),
        say('Programs of yours that other users can let act for them'),
      ],
      ['/account/authorizations/', say('Authorizations'), say('Applications that you let act for you')],
      ['/account/password/', say('Password'), say('Change it, and log out everywhere else')],
      [
        '/account/second-factor/',
        say('Two-step sign-in'),
        say('A code from an app on your telephone, beside the password'),
      ],
      ['/account/sessions/', say('Sessions'), say('Where you are signed in')],
      ...([...user.grants].some(grant => grant.startsWith(PUBLISHING))
        ? [['/desk/', say('Desk'), say('Upload, describe and publish datasets')] as const]
        : []),
    ] as const
    return {
      type: 'page',
      heading: say('Your account'),
      content: html`<dl class="facts-list"><dt>${say('User name')}</dt><dd>${user.name}</dd>
${GRANTS.map(
  ({ label, of }) => html`<dt>${say(label)}</dt><dd>${granted(say, of(user.grants))}</dd>
`,
)}<dt>${say('Calls a day')}</dt><dd>${user.quota === null ? say('As every user of this portal') : number(user.quota)}</dd></dl>
<ul class="things">${links.map(
        ([path, name, what]) =>
          html`<li><div><a href="${href(path)}">${name}</a><small>${what}</small></div></li>
`,
      )}</ul>
`,
    }
  },
}
