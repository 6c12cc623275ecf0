import { editOnFocus, sendOnEnter } from './modules/edit-on-focus.ts'
import { focusList, leaveBy } from './modules/list-focus.ts'

const field = document.querySelector<HTMLTextAreaElement>('.filter textarea[name=where]')
editOnFocus(field)
sendOnEnter(field)

/** The field lies over the page: Escape closes it, after the list of completions. */
const panel = field?.closest('details')
panel?.addEventListener('keydown', event => {
  if (event.key !== 'Escape' || event.defaultPrevented) return
  panel.open = false
  panel.querySelector('summary')?.focus()
})

/** A change of the order is applied immediately; a page that the browser restores shows its own order again. */
const order = document.querySelector<HTMLSelectElement>('.filter select[name=order_by]')
order?.addEventListener('change', () => leaveBy(order, () => order.form?.requestSubmit()))
focusList(order?.form)
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) for (const option of order?.options ?? []) option.selected = option.defaultSelected
})
