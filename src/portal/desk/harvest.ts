import {
  CATALOG_TYPES,
  changeHarvesters,
  HARVEST_FILE,
  harvestDigest,
  readHarvesters,
} from '../../harvest/settings.ts'
import type { Form } from '../../http/form.ts'
import { lookup } from '../../model/lookup.ts'
import { CREDENTIALS_REFUSED, isSentAlike } from '../../publishing/management/source-credentials.ts'
import { choiceField, hiddenField, note } from '../../site/account-fields.ts'
import { type Html, html } from '../../site/html.ts'
import { messageKey } from '../../site/page-context.ts'
import { type EntryMember, memberFields, memberText, readMembers, textsIn } from './entries.ts'
import { CHANGED_SINCE, type OpenedText, openedField } from './opened.ts'
import type { DeskContext } from './pages.ts'

/** The address of the page: no dataset id looks like this. */
export const HARVEST_PATH = '/desk/~harvest'

const MEMBERS: readonly EntryMember[] = [
  { name: 'id', kind: 'text', isRequired: true },
  { name: 'type', kind: 'choice', choices: CATALOG_TYPES, isRequired: true },
  { name: 'url', kind: 'text', isRequired: true },
  { name: 'title', kind: 'text' },
  { name: 'refresh', kind: 'text' },
  { name: 'prefix', kind: 'text' },
  { name: 'limit', kind: 'number' },
  { name: 'only', kind: 'lines' },
  { name: 'except', kind: 'lines' },
  { name: 'authorization', kind: 'text' },
  { name: 'visibility', kind: 'choice', choices: ['public', 'restricted'] },
]

/** The form of harvested catalogs: from harvest.yaml, or a submitted form that was refused. */
export interface HarvestForm {
  readonly entries: readonly Readonly<Record<string, string>>[]
  readonly problems: ReadonlyMap<string, string>
  /** Positions of the entries that are to be removed. */
  readonly removed: ReadonlySet<number>
  /** Digest of the text of harvest.yaml that the form was made from. */
  readonly opened: string
  /** The message of a form whose text, or session, was replaced since; null for any other. */
  readonly outdated: string | null
}

/** The form of harvest.yaml, with an empty entry at its end. Faults: ConfigInvalid if its content is invalid. */
export function savedHarvest(portal: string, { opened, isOutdated }: OpenedText): HarvestForm {
  const entries = readHarvesters(portal).map(harvester =>
    Object.fromEntries(
      MEMBERS.map(member => [
        member.name,
        memberText(member, lookup(harvester as unknown as Readonly<Record<string, unknown>>, member.name)),
      ]),
    ),
  )
  const outdated = isOutdated ? CHANGED_SINCE : null
  return { entries: [...entries, {}], problems: new Map(), removed: new Set(), opened, outdated }
}

/**
 * Saves a form to harvest.yaml; returns the form with its errors, null if it was saved.
 *
 * @param isForeign true for a form of a session that was replaced since: it is not saved
 */
export function saveHarvest(
  portal: string,
  form: Form,
  { pageContext }: DeskContext,
  isForeign: boolean,
): HarvestForm | null {
  const digest = harvestDigest(portal)
  const { opened = digest } = Object.fromEntries(form)
  const isChanged = opened !== digest

  const entries: Readonly<Record<string, string>>[] = []
  const required: { readonly at: number; readonly values: Readonly<Record<string, unknown>> }[] = []
  const problems = new Map<string, string>()
  const removed = new Set<number>()
  const saved = readHarvesters(portal)
  // As for datasets: credentials stay where they were written by hand.
  const isSaved = (values: Readonly<Record<string, unknown>>) =>
    saved.some(each => each.id === values.id && isSentAlike(values, each))
  for (let at = 0; form.has(`${at}.id`); at++) {
    const texts = textsIn(MEMBERS, form, `${at}.`)
    entries.push(texts)
    if (form.has(`${at}.remove`)) removed.add(at)
    if (removed.has(at) || Object.values(texts).every(text => text.trim() === '')) continue
    const { values, problems: wrong } = readMembers(MEMBERS, form, `${at}.`, pageContext.t)
    for (const [name, problem] of wrong) problems.set(name, problem)
    if (values.authorization !== undefined && !isSaved(values))
      problems.set(`${at}.authorization`, `${CREDENTIALS_REFUSED} in ${HARVEST_FILE}.`)
    required.push({ at, values })
  }
  const isOutdated = isForeign || isChanged
  if (problems.size === 0 && !isOutdated) {
    const names = MEMBERS.map(({ name }) => name)
    const all = required.map(({ values }) => values)
    for (const { index, member, message } of changeHarvesters(portal, all, names))
      problems.set(`${required[index]?.at ?? 0}.${member ?? 'id'}`, message)
  }
  if (problems.size === 0 && !isOutdated) return null
  // Whoever was shown that somebody changed it may replace the change.
  const outdated = isOutdated
    ? messageKey('This form is out of date. Nothing was saved. Check your input, and save again.')
    : null
  return { entries, problems, removed, opened: isForeign ? opened : digest, outdated }
}

export function harvestBody(
  { pageContext, token }: DeskContext,
  { entries, problems, removed, opened, outdated }: HarvestForm,
  isDone: boolean,
): Html {
  const { t } = pageContext
  const path = pageContext.href(`${HARVEST_PATH}/`)
  const isUnsaved = problems.size > 0 || (outdated !== null && outdated !== CHANGED_SINCE)
  const fieldsets = entries.map(
    (texts, at) => html`<fieldset class="field"><legend>${lookup(texts, 'id') || t('New catalog')}</legend>
${memberFields(MEMBERS, `${at}.`, texts, problems)}
${choiceField('checkbox', `${at}.remove`, t('Remove'), removed.has(at))}</fieldset>
`,
  )
  return html`<div class="dataset-head"><nav class="crumbs" aria-label="${t('Where you are')}"><a href="${pageContext.href('/desk/')}">${t('Desk')}</a></nav>
<h1>${t('Harvested catalogs')}</h1></div>
${
  outdated !== null
    ? note(
        'bad',
        html`<p>${t(outdated)}</p><p><a href="${path}" target="_blank">${t('Show what is saved now')}</a></p>`,
      )
    : problems.size === 0
      ? ''
      : note('bad', html`<p>${t('Nothing was saved.')}</p>`)
}${isDone ? note('good', html`<p>${t('Saved.')}</p>`) : ''}
<form method="post" action="${path}">${hiddenField('form_token', token)}${openedField(opened, isUnsaved)}${fieldsets}<div class="buttons"><button>${t('Save')}</button></div></form>`
}
