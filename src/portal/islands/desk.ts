/** Shows the progress of an upload, and accepts files that are dropped on the form, which also works without the script. */
for (const form of document.querySelectorAll<HTMLFormElement>('form.upload')) {
  const input = form.querySelector<HTMLInputElement>('input[type=file]')
  const progress = form.querySelector('progress')
  const error = form.querySelector<HTMLElement>('.error')
  const cancel = form.querySelector<HTMLButtonElement>('button[type=button]')
  if (!input || !progress || !error || !cancel) continue
  let sending: XMLHttpRequest | null = null
  const setSending = (request: XMLHttpRequest | null) => {
    sending = request
    progress.hidden = cancel.hidden = request === null
  }
  cancel.addEventListener('click', () => {
    sending?.abort()
    setSending(null)
    input.focus()
  })

  form.addEventListener('dragover', event => {
    event.preventDefault()
    form.classList.add('dropping')
  })
  form.addEventListener('dragleave', () => form.classList.remove('dropping'))
  form.addEventListener('drop', event => {
    event.preventDefault()
    form.classList.remove('dropping')
    const files = event.dataTransfer?.files
    if (files?.length !== 1 || sending) return
    input.files = files
    form.requestSubmit()
  })

  form.addEventListener('submit', event => {
    event.preventDefault()
    if (sending) return
    const request = new XMLHttpRequest()
    request.open('POST', form.action)
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      if (loaded < total) progress.value = loaded / total
      // The file is there, and is being read.
      else progress.removeAttribute('value')
    })
    request.addEventListener('load', () => {
      if (request.status < 400) {
        location.assign(request.responseURL)
        return
      }
      setSending(null)
      const answer = new DOMParser().parseFromString(request.responseText, 'text/html')
      // What is wrong, wherever it stands; the page of an error that is not of the desk begins with it.
      const found = ['[role=alert] p', '.error[role=alert]:not([hidden])', 'main p']
        .map(selector => answer.querySelector<HTMLElement>(selector))
        .find(element => element !== null)
      error.textContent = found?.textContent?.trim() ?? request.statusText
      error.lang = found?.lang ?? ''
      error.dir = found?.dir ?? ''
      error.hidden = false
    })
    request.addEventListener('error', () => form.submit())
    error.hidden = true
    setSending(request)
    request.send(new FormData(form))
  })

  // A browser may show the page again as it was left.
  addEventListener('pagehide', () => setSending(null))
}

/** Asks before input that is not saved is left, as by the button that publishes what is; a refused form has some from the start. */
let changed = document.querySelector<HTMLInputElement>('[data-unsaved]')?.form ?? null
addEventListener('input', ({ target }) => {
  const form = (target as HTMLInputElement).form
  if (form?.matches('[method=post]:not(.upload)')) changed = form
})
addEventListener('submit', ({ target }) => {
  if (target === changed) changed = null
})
addEventListener('beforeunload', event => {
  if (changed) event.preventDefault()
})

/** Updates the inferred fields while the reading options change. Without the script a button does so. */
for (const form of document.querySelectorAll<HTMLFormElement>('form.source')) {
  let latest = new AbortController()
  const show = async () => {
    latest.abort()
    const mine = new AbortController()
    latest = mine
    const fields = new URLSearchParams()
    for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields.append(name, value)
    fields.set('action', 'try')
    // The buttons of the form are called action, too.
    const answer = await fetch(form.getAttribute('action') ?? '', {
      method: 'POST',
      body: fields,
      signal: mine.signal,
    })
    const text = await answer.text()
    const found = new DOMParser().parseFromString(text, 'text/html').querySelector('#inferred')
    const shown = document.querySelector('#inferred')
    if (!mine.signal.aborted && found && shown) shown.replaceChildren(...found.childNodes)
  }
  let timer = 0
  form.addEventListener('input', () => {
    clearTimeout(timer)
    timer = window.setTimeout(() => void show().catch(() => undefined), 500)
  })
}

export {}
