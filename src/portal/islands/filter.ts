/** The condition of the filter bar becomes an editor when it gets the focus: it is loaded then. */
const field = document.querySelector<HTMLTextAreaElement>('.filter textarea[name=where]')
field?.addEventListener(
  'focus',
  async () => {
    const { editCondition } = await import('./modules/condition-editor.ts')
    editCondition(field)
  },
  { once: true },
)

/** Ctrl and Enter send the form from the plain field, too. */
field?.addEventListener('keydown', event => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) field.form?.requestSubmit()
})

/** A change of the order is applied immediately; a page that the browser restores shows its own order again. */
const order = document.querySelector<HTMLSelectElement>('.filter select[name=order_by]')
order?.addEventListener('change', () => order.form?.requestSubmit())
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) for (const option of order?.options ?? []) option.selected = option.defaultSelected
})

export {}
