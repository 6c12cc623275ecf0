/** Enables the copy buttons next to addresses and source texts. */
for (const button of document.querySelectorAll<HTMLButtonElement>('button.copy')) button.hidden = false

/** Milliseconds for which a button confirms the copy. */
const REPORTED = 1600

document.addEventListener('click', event => {
  const button =
    event.target instanceof Element ? event.target.closest<HTMLButtonElement>('button.copy') : null
  const source = button?.parentElement?.querySelector('code')
  if (!button || !source || button.dataset.label !== undefined) return
  void copy(source).then(() => {
    button.dataset.label = button.textContent ?? ''
    button.textContent = button.dataset.done ?? ''
    setTimeout(() => {
      button.textContent = button.dataset.label ?? ''
      delete button.dataset.label
    }, REPORTED)
  })
})

/** Without TLS there is no clipboard API: then the text is selected and copied by a command. */
async function copy(source: Element): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(source.textContent ?? '')
  getSelection()?.selectAllChildren(source)
  document.execCommand('copy')
}

export {}
