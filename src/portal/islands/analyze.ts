import { focusList, leaveBy } from './modules/list-focus.ts'

/** Submits the form of a chart as soon as an option changes. */
const form = document.querySelector<HTMLFormElement>('.chart-form')

form?.addEventListener('change', event => {
  const list = event.target as HTMLSelectElement
  // For another axis its default order is used.
  const sort = form.querySelector<HTMLSelectElement>('[name=sort]')
  if (list.name === 'x' && sort !== null) sort.selectedIndex = -1
  leaveBy(list, () => form.requestSubmit())
})

// A page that the browser restores shows its own chart again, not the options that led to the next one.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) form?.reset()
})

focusList(form)
