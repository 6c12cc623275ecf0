/** Enhancements of pages: forms leave empty fields out of the address, and are sent once. */
for (const form of document.querySelectorAll<HTMLFormElement>('form[method=get]'))
  form.addEventListener('formdata', ({ formData }) => {
    const given = [...formData].filter(([, value]) => value !== '')
    for (const name of new Set(formData.keys())) formData.delete(name)
    for (const [name, value] of given) formData.append(name, value)
  })

/** Milliseconds after which a form whose answer did not come may be sent again. */
const SUBMIT_TIMEOUT = 10_000

/** Forms that change something and were sent: a second submission would create a second dataset, or publish again. */
const sent = new Set<HTMLFormElement>()

window.addEventListener('submit', event => {
  const form = event.target as HTMLFormElement
  if (event.defaultPrevented || form.getAttribute('method') !== 'post') return
  if (sent.has(form)) event.preventDefault()
  sent.add(form)
  setTimeout(() => sent.delete(form), SUBMIT_TIMEOUT)
})

/** Enables forms again on pages restored from the history. */
window.addEventListener('pageshow', () => sent.clear())

export {}
