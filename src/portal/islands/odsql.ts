import { editOnFocus, sendOnEnter } from './modules/edit-on-focus.ts'

/** The ODSQL playground: its condition becomes an editor, and another dataset starts with an empty query. */
editOnFocus(document.querySelector<HTMLTextAreaElement>('#odsql [name=where]'))
for (const field of document.querySelectorAll<HTMLTextAreaElement>('#odsql textarea')) sendOnEnter(field)

document.querySelector<HTMLSelectElement>('#dataset')?.addEventListener('change', event => {
  const { form, value } = event.target as HTMLSelectElement
  const target = new URL(form?.action ?? location.href)
  const language = form?.querySelector<HTMLInputElement>('[name=lang]')?.value
  if (language !== undefined) target.searchParams.set('lang', language)
  target.searchParams.set('dataset', value)
  location.href = target.href
})
