import { BAD_REQUEST, Fault, faultText } from '../../errors/errors.ts'
import type { Form } from '../../http/form.ts'
import { lookup } from '../../model/lookup.ts'
import type { DeskDataset } from '../../publishing/management/desk-types.ts'
import { type Processor, STEP_TYPES, type StepType } from '../../publishing/processors/schema.ts'
import { choiceField, hiddenField } from '../../site/account-fields.ts'
import { type Html, html } from '../../site/html.ts'
import type { Translator } from '../../site/page-context.ts'
import { languageField } from '../parts/form-fields.ts'
import { type EntryMember, memberFields, memberText, type Problems, readMembers, textsIn } from './entries.ts'
import { type DeskContext, type DeskUser, type FormState, sectionFields } from './pages.ts'

const column: EntryMember = { name: 'column', kind: 'text', isRequired: true }
const into: EntryMember = { name: 'into', kind: 'text' }
const expression: EntryMember = { name: 'expression', kind: 'long', isRequired: true }

/** The members of each step. The settings of `rename` and `filter` are a single value, which is named like its field here. */
const STEPS: Readonly<Record<StepType, readonly EntryMember[]>> = {
  rename: [{ name: 'rename', kind: 'pairs', isRequired: true }],
  split: [
    column,
    { name: 'separator', kind: 'raw', isRequired: true },
    { name: 'into', kind: 'lines', isRequired: true },
  ],
  join: [
    { name: 'columns', kind: 'lines', isRequired: true },
    { name: 'separator', kind: 'raw' },
    { ...into, isRequired: true },
  ],
  replace: [
    column,
    { name: 'pattern', kind: 'raw', isRequired: true },
    { name: 'with', kind: 'raw' },
    { name: 'flags', kind: 'text' },
    into,
  ],
  date: [
    column,
    { name: 'formats', kind: 'lines', isRequired: true },
    { name: 'type', kind: 'choice', choices: ['date', 'datetime'] },
    { name: 'timezone', kind: 'text' },
    into,
  ],
  lookup: [
    column,
    { name: 'dataset', kind: 'text', isRequired: true },
    { name: 'key', kind: 'text', isRequired: true },
    { name: 'take', kind: 'pairs', isRequired: true },
  ],
  filter: [{ name: 'filter', kind: 'long', isRequired: true }],
  compute: [expression, { ...into, isRequired: true }],
}

interface FormStep {
  readonly type: StepType
  /** Its position as entered; its place in the list by default. */
  readonly position?: string
  readonly isRemoved?: boolean
  readonly texts: Readonly<Record<string, string>>
}

function isOneValue(type: StepType): boolean {
  return type === 'rename' || type === 'filter'
}

function stepsOf(processors: readonly Processor[]): readonly FormStep[] {
  return processors.map(({ step: { type, settings } }) => ({
    type,
    texts: Object.fromEntries(
      STEPS[type].map(member => [
        member.name,
        memberText(
          member,
          isOneValue(type) ? settings : lookup(settings as Readonly<Record<string, unknown>>, member.name),
        ),
      ]),
    ),
  }))
}

/** The steps of a form in their new order, without those that are removed. */
function readSteps(form: Form, t: Translator) {
  const steps: FormStep[] = []
  const read: { readonly position: number; readonly processor: Readonly<Record<string, unknown>> }[] = []
  const problems = new Map<string, string>()
  for (let at = 0; form.has(`step.${at}.type`); at++) {
    const type = STEP_TYPES.find(it => it === form.get(`step.${at}.type`))
    if (type === undefined) throw new Fault(BAD_REQUEST, { reason: 'The form has a step of no known type.' })
    const isRemoved = form.has(`step.${at}.remove`)
    const entered = form.get(`step.${at}.position`) ?? String(at + 1)
    steps.push({ type, texts: textsIn(STEPS[type], form, `step.${at}.`), position: entered, isRemoved })
    if (isRemoved) continue
    const { values, problems: wrong } = readMembers(STEPS[type], form, `step.${at}.`, t)
    for (const [name, problem] of wrong) problems.set(name, problem)
    const settings = isOneValue(type)
      ? lookup(values, type)
      : type === 'replace'
        ? { with: '', ...values }
        : values
    const position = Number(entered)
    read.push({ position: Number.isFinite(position) ? position : at + 1, processor: { [type]: settings } })
  }
  const processors = read.sort((a, b) => a.position - b.position).map(({ processor }) => processor)
  return { steps, problems, processors }
}

/** Saves the steps of a form. Faults: BadRequest if a field is not as expected. */
export async function saveSteps(
  { desk, principal, context }: DeskUser,
  id: string,
  form: Form,
): Promise<void> {
  const { t } = context.pageContext
  const { processors, problems } = readSteps(form, t)
  if (problems.size > 0) throw new Fault(BAD_REQUEST, { reason: 'Nothing was saved.' })
  const change = { processors: processors.length === 0 ? null : processors }
  await desk.change(principal, id, change, form.get('opened'))
}

/** The form of the steps. */
export async function stepsContent(
  user: DeskUser,
  dataset: DeskDataset,
  added: string | undefined,
  state: FormState,
): Promise<Html> {
  const { desk, principal, context } = user
  const { given } = state
  const { t } = context.pageContext
  const processors = desk.definition(principal, dataset.id)?.processors ?? []
  const { steps, problems } =
    given === null
      ? { steps: stepsOf(processors), problems: await problemsOf(user, dataset.id, processors) }
      : readSteps(given, t)
  // A step is added to what was entered so far, which is judged when it is saved.
  const isAdding = given?.get('action') === 'try'
  const type = STEP_TYPES.find(it => it === (isAdding ? given?.get('add') : given === null ? added : null))
  const all = type === undefined ? steps : [...steps, { type, texts: {} }]
  return stepsBody(context, dataset, all, isAdding ? new Map() : problems, {
    ...state,
    isAdded: type !== undefined,
  })
}

/** Errors of the saved steps, at the member or the step in whose line they are. */
async function problemsOf(
  { desk, principal }: DeskUser,
  id: string,
  processors: readonly Processor[],
): Promise<Problems> {
  if (processors.length === 0) return new Map()
  try {
    await desk.preview(principal, id, 1)
    return new Map()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { line = 0, column: at } = error.place
    const index = processors.findLastIndex(({ placeOf }) => (placeOf().line ?? 0) <= line)
    const processor = processors[Math.max(0, index)]
    if (processor === undefined) return new Map()
    const members = STEPS[processor.step.type]
    const found = members.find(({ name }) => {
      const place = processor.placeOf(name)
      return place.line === line && place.column === at
    })
    return new Map([[`step.${Math.max(0, index)}.${(found ?? members[0])?.name}`, faultText(error)]])
  }
}

function stepsBody(
  desk: DeskContext,
  { id }: DeskDataset,
  steps: readonly FormStep[],
  problems: Problems,
  state: FormState & { readonly isAdded: boolean },
): Html {
  const { pageContext } = desk
  const { t } = pageContext
  const path = pageContext.href(`/desk/${id}/steps/`)
  const fieldsets = steps.map(
    (
      { type, texts, position, isRemoved },
      at,
    ) => html`<fieldset class="field"${state.isAdded && at === steps.length - 1 ? html` tabindex="-1" autofocus` : ''}><legend>${at + 1}. <code>${type}</code></legend>
${hiddenField(`step.${at}.type`, type)}${memberFields(STEPS[type], `step.${at}.`, texts, problems)}
<div class="field"><label for="step.${at}.position">${t('Position')}</label><input id="step.${at}.position" name="step.${at}.position" type="number" min="0" step="any" value="${position ?? at + 1}"></div>
${choiceField('checkbox', `step.${at}.remove`, t('Remove'), isRemoved === true)}</fieldset>
`,
  )
  const adding = html`<div class="field"><label for="add">${t('New step')}</label>
<select id="add" name="add">${STEP_TYPES.map(type => html`<option>${type}</option>`)}</select></div><div class="buttons"><button class="plain"${steps.length === 0 ? '' : html` name="action" value="try"`}>${t('Add')}</button></div>`
  return html`<h2>${t('Steps')}</h2><p>${t('Steps change the rows between the source and the fields, in their order.')}</p>
${
  steps.length === 0
    ? html`<form method="get" action="${path}">${languageField(pageContext)}${adding}</form>`
    : html`<form method="post" action="${path}">${sectionFields(desk, state, null)}${fieldsets}<div class="buttons"><button name="action" value="steps">${t('Save')}</button></div>
${adding}</form>`
}`
}
