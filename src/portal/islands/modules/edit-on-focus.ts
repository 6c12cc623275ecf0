/** The field of a condition becomes an editor when it gets the focus: the editor is loaded then. */
export function editOnFocus(field: HTMLTextAreaElement | null | undefined): void {
  const edit = async () => (await import('./condition-editor.ts')).editCondition(field as HTMLTextAreaElement)
  field?.addEventListener('focus', edit, { once: true })
}

/** Ctrl and Enter send the form from a plain field, too. */
export function sendOnEnter(field: HTMLTextAreaElement | null): void {
  field?.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) field.form?.requestSubmit()
  })
}
