import { editOnFocus, sendOnEnter } from './modules/edit-on-focus.ts'
import { focusList, leaveBy } from './modules/list-focus.ts'

/** The ODSQL playground: its condition becomes an editor, and another dataset starts with an empty query. */
editOnFocus(document.querySelector<HTMLTextAreaElement>('#odsql [name=where]'))
for (const field of document.querySelectorAll<HTMLTextAreaElement>('#odsql textarea')) sendOnEnter(field)

const dataset = document.querySelector<HTMLSelectElement>('#dataset')
dataset?.addEventListener('change', () => {
  const target = new URL(dataset.form?.action ?? location.href)
  const language = dataset.form?.querySelector<HTMLInputElement>('[name=lang]')?.value
  if (language !== undefined) target.searchParams.set('lang', language)
  target.searchParams.set('dataset', dataset.value)
  leaveBy(dataset, () => location.assign(target.href))
})
focusList(dataset?.form)

// A page that the browser restores is about its own dataset.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) for (const option of dataset?.options ?? []) option.selected = option.defaultSelected
})
