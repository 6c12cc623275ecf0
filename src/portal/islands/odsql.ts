/** The ODSQL playground: its condition becomes an editor when it gets the focus, and another dataset starts with an empty query. */
const condition = document.querySelector<HTMLTextAreaElement>('#odsql [name=where]')
condition?.addEventListener(
  'focus',
  async () => {
    const { editCondition } = await import('./modules/condition-editor.ts')
    editCondition(condition)
  },
  { once: true },
)

for (const field of document.querySelectorAll<HTMLTextAreaElement>('#odsql textarea'))
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) field.form?.requestSubmit()
  })

document.querySelector<HTMLSelectElement>('#dataset')?.addEventListener('change', event => {
  const { form, value } = event.target as HTMLSelectElement
  const target = new URL(form?.action ?? location.href)
  const language = form?.querySelector<HTMLInputElement>('[name=lang]')?.value
  if (language !== undefined) target.searchParams.set('lang', language)
  target.searchParams.set('dataset', value)
  location.href = target.href
})

export {}
