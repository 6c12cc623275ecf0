/** Enables the copy buttons next to addresses and source texts. */
for (const button of document.querySelectorAll<HTMLButtonElement>('button.copy')) button.hidden = false

/** Milliseconds for which a button confirms the copy. */
const REPORTED = 1600

document.addEventListener('click', event => {
  const button =
    event.target instanceof Element ? event.target.closest<HTMLButtonElement>('button.copy') : null
  const source = button?.parentElement?.querySelector('code')
  if (!button || !source || button.dataset.label !== undefined) return
  void copy(source).then(isCopied => {
    // To select the text can move the focus to the area around it.
    button.focus({ preventScroll: true })
    if (button.dataset.label !== undefined) return
    button.dataset.label = button.textContent ?? ''
    button.textContent = (isCopied ? button.dataset.done : button.dataset.failed) ?? ''
    setTimeout(() => {
      button.textContent = button.dataset.label ?? ''
      delete button.dataset.label
    }, REPORTED)
  })
})

/**
 * Copies a text. Without TLS there is no clipboard API, and a browser may refuse it: then the text is selected and copied by a
 * command, and remains selected if that fails, too.
 */
async function copy(source: Element): Promise<boolean> {
  try {
    if (navigator.clipboard !== undefined) {
      await navigator.clipboard.writeText(source.textContent ?? '')
      return true
    }
  } catch {
    // Refused: the command remains.
  }
  getSelection()?.selectAllChildren(source)
  return document.execCommand('copy')
}

export {}
