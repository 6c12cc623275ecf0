/** What makes every page a little better: forms leave empty fields out of the address. */
for (const form of document.querySelectorAll<HTMLFormElement>('form[method=get]'))
  form.addEventListener('submit', () => {
    for (const field of form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>(
      '[name]',
    ))
      if (field.value === '') field.disabled = true
  })

/** Pages that come back from the history can be filled in again. */
window.addEventListener('pageshow', () => {
  for (const field of document.querySelectorAll<HTMLInputElement>('form[method=get] [name]:disabled'))
    field.disabled = false
})

export {}
