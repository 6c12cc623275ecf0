/** Submits the form of a chart as soon as an option changes. */
const form = document.querySelector<HTMLFormElement>('.chart-form')

form?.addEventListener('change', event => {
  const { name } = event.target as HTMLSelectElement
  // For another axis its default order is used.
  const sort = form.querySelector<HTMLSelectElement>('[name=sort]')
  if (name === 'x' && sort !== null) sort.selectedIndex = -1
  sessionStorage.setItem('chart', name)
  form.requestSubmit()
})

// A page that the browser restores shows its own chart again, not the options that led to the next one.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) form?.reset()
})

const chosen = sessionStorage.getItem('chart')
if (form !== null && chosen !== null) {
  sessionStorage.removeItem('chart')
  form.querySelector<HTMLSelectElement>(`select[name="${CSS.escape(chosen)}"]`)?.focus()
}

export {}
