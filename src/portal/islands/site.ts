/** Enhancements of every page: forms leave empty fields out of the address. */
for (const form of document.querySelectorAll<HTMLFormElement>('form[method=get]'))
  form.addEventListener('submit', () => {
    for (const field of form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>(
      '[name]',
    ))
      if (field.value === '') field.disabled = true
  })

/** Enables the fields of forms again on pages restored from the history. */
window.addEventListener('pageshow', () => {
  for (const field of document.querySelectorAll<HTMLInputElement>('form[method=get] [name]:disabled'))
    field.disabled = false
})

export {}
