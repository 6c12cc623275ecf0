interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path'
  readonly description: string
  readonly example?: string | readonly string[]
  readonly schema: {
    readonly type?: string
    readonly enum?: readonly string[]
    readonly default?: unknown
    readonly minimum?: number
    readonly maximum?: number
  }
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
}

interface Word {
  readonly word: string
  readonly description: string
}

interface Description {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>
  readonly 'x-odsql': {
    readonly functions: Readonly<
      Record<string, readonly { readonly signature: string; readonly says: string }[] | undefined>
    >
    readonly fields: readonly { readonly name: string; readonly type: string; readonly label: string }[]
  }
}

/**
 * The program of the console: lists operations, builds a form for the parameters of one, shows the address, sends the
 * request and shows the answer. The browser runs its source text, so it uses nothing from outside but types.
 */
export function consoleProgram(): void {
  const MAX_SHOWN = 400_000
  const root = location.pathname.replace(/(\/catalog\/datasets\/[^/]+)?\/console\/?$/, '')
  const documentAddress = location.pathname.replace(/console\/?$/, 'swagger.json')
  const vocabularies = new Map<string, Promise<Description['x-odsql']>>()
  let sending: AbortController | null = null

  function make<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Readonly<Record<string, string>> = {},
    ...children: readonly (Node | string)[]
  ): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag)
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
    element.append(...children)
    return element
  }

  function prose(text: string): readonly (Node | string)[] {
    return text.split('`').map((piece, index) => (index % 2 === 0 ? piece : make('code', {}, piece)))
  }

  function place(id: string): HTMLElement {
    const found = document.getElementById(id)
    if (found === null) throw new Error(id)
    return found
  }

  async function start(): Promise<void> {
    const answer = await fetch(documentAddress)
    if (!answer.ok) throw new Error(`${answer.status} ${documentAddress}`)
    const described: Description = await answer.json()
    document.title = `${described.info.title} – console`
    place('title').textContent = `${described.info.title} ${described.info.version}`
    place('about').replaceChildren(...prose(described.info.description))
    place('document').setAttribute('href', documentAddress)
    const operations = Object.entries(described.paths).map(([path, { get }]) => ({ path, ...get }))
    const tags = new Set(operations.flatMap(({ tags }) => tags))
    for (const tag of tags) {
      const items = operations.filter(({ tags: [own] }) => own === tag)
      const links = items.map(({ operationId, summary, path }) =>
        make('li', {}, make('a', { href: `#${operationId}`, title: path }, summary)),
      )
      place('operations').append(make('h2', {}, tag), make('ul', {}, ...links))
    }
    const show = () => {
      const [id = '', query = ''] = location.hash.slice(1).split('?')
      const chosen = operations.find(({ operationId }) => operationId === id) ?? operations[0]
      if (chosen === undefined) return
      for (const link of place('operations').querySelectorAll('a'))
        if (link.hash === `#${chosen.operationId}`) link.setAttribute('aria-current', 'page')
        else link.removeAttribute('aria-current')
      showOperation(chosen, new URLSearchParams(query), described['x-odsql'])
    }
    addEventListener('hashchange', show)
    show()
  }

  function showOperation(
    operation: Operation & { readonly path: string },
    given: URLSearchParams,
    vocabulary: Description['x-odsql'],
  ): void {
    sending?.abort()
    const { path, parameters, summary, description, operationId } = operation
    const controls = parameters.map(parameter => ({ parameter, control: controlFor(parameter, given) }))
    const address = make('a', { class: 'address' })
    const result = make('div', { class: 'result' })
    const form = make('form', {}, make('h2', {}, summary), make('p', {}, make('code', {}, `GET ${path}`)))
    form.append(make('p', {}, ...prose(description)))
    for (const { parameter, control } of controls) {
      const hints = make('ul', { class: 'hints', role: 'listbox', hidden: '', id: `${control.id}-words` })
      form.append(row(parameter, control, hints))
      const words = () => wordsFor(parameter.name, path, vocabulary, controls)
      if (isClause(parameter.name) && !(control instanceof HTMLSelectElement)) complete(control, hints, words)
    }
    form.append(make('p', { class: 'send' }, make('button', {}, 'Send'), address))
    const reported = () => {
      const target = addressOf(path, controls)
      address.textContent = target
      address.href = target
      return target
    }
    form.addEventListener('input', reported)
    form.addEventListener('submit', event => {
      event.preventDefault()
      const target = reported()
      const state = new URLSearchParams()
      for (const { parameter, control } of controls)
        if (control.value !== '') state.set(parameter.name, control.value)
      history.replaceState(null, '', `#${operationId}?${state}`)
      void send(target, result)
    })
    reported()
    place('main').replaceChildren(form, result)
  }

  type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement
  type Filled = readonly { readonly parameter: Parameter; readonly control: Control }[]

  function exampleOf({ example }: Parameter): string {
    return example === undefined ? '' : typeof example === 'string' ? example : example.join('\n')
  }

  function controlFor(parameter: Parameter, given: URLSearchParams): Control {
    const { name, schema } = parameter
    const id = `p-${parameter.in}-${name}`
    const about = { id, name, 'aria-describedby': `${id}-says` }
    const standard = parameter.in === 'path' ? exampleOf(parameter) : ''
    const values = schema.type === 'boolean' ? ['false', 'true'] : schema.enum
    let control: Control
    if (values !== undefined) {
      const none = `default${schema.default === undefined ? '' : ` (${schema.default})`}`
      const empty = parameter.in === 'path' ? [] : [make('option', { value: '' }, none)]
      control = make('select', about, ...empty, ...values.map(value => make('option', { value }, value)))
    } else if (schema.type === 'integer') {
      const { minimum, maximum } = schema
      const least = minimum === undefined ? {} : { min: String(minimum) }
      const max = maximum === undefined ? {} : { max: String(maximum) }
      const hint = { placeholder: String(schema.default ?? '') }
      control = make('input', { ...about, type: 'number', ...least, ...max, ...hint })
    } else if (schema.type === 'array') {
      control = make('textarea', {
        ...about,
        rows: '1',
        spellcheck: 'false',
        placeholder: 'one in each line',
      })
    } else {
      const hint = { placeholder: String(schema.default ?? '') }
      control = make('input', { ...about, type: 'text', spellcheck: 'false', autocomplete: 'off', ...hint })
    }
    if (parameter.in === 'path') control.required = true
    control.value = given.get(name) ?? standard
    return control
  }

  function row(parameter: Parameter, control: Control, hints: HTMLElement): HTMLElement {
    const { name, description } = parameter
    const explanation = make('p', { class: 'says', id: `${control.id}-says` }, ...prose(description))
    const example = exampleOf(parameter)
    if (example !== '') {
      const use = make('button', { type: 'button', class: 'example' }, example)
      use.setAttribute('aria-label', `Use the example ${example} for ${name}`)
      use.addEventListener('click', () => {
        control.value = example
        control.dispatchEvent(new Event('input', { bubbles: true }))
        control.focus()
      })
      explanation.append(' Example: ', use)
    }
    const label = make('label', { for: control.id }, name)
    return make('div', { class: 'row' }, label, make('div', { class: 'field' }, control, hints, explanation))
  }

  function addressOf(path: string, controls: Filled): string {
    const query = new URLSearchParams()
    let address = path
    for (const { parameter, control } of controls) {
      const { name, schema } = parameter
      if (parameter.in === 'path')
        address = address.replace(`{${name}}`, encodeURIComponent(control.value.trim()))
      else
        for (const value of schema.type === 'array' ? control.value.split('\n') : [control.value])
          if (value.trim() !== '') query.append(name, value)
    }
    const text = query.toString()
    return `${location.origin}${root}${address}${text === '' ? '' : `?${text}`}`
  }

  async function send(address: string, result: HTMLElement): Promise<void> {
    sending?.abort()
    const own = new AbortController()
    sending = own
    result.replaceChildren(make('p', { role: 'status' }, 'Asking …'))
    const began = performance.now()
    try {
      const answer = await fetch(address, { signal: own.signal })
      const { text, isWhole } = await bodyOf(answer)
      const time = Math.round(performance.now() - began)
      const status = `${answer.status} ${answer.statusText}`.trim()
      const kind = answer.ok ? 'status good' : 'status bad'
      const headers = [...answer.headers].map(([name, value]) =>
        make('tr', {}, make('th', { scope: 'row' }, name), make('td', {}, value)),
      )
      result.replaceChildren(
        make(
          'p',
          { role: 'status' },
          make('strong', { class: kind }, status),
          ` in ${time} ms, ${text.length.toLocaleString('en')} characters${isWhole ? '' : ', the beginning only'}`,
        ),
        make('details', {}, make('summary', {}, `${headers.length} headers`), make('table', {}, ...headers)),
        make('pre', { tabindex: '0', 'aria-label': 'Body of the answer' }, pretty(text, isWhole)),
      )
    } catch (error) {
      if (own.signal.aborted) return
      result.replaceChildren(
        make('p', { role: 'status' }, make('strong', { class: 'status bad' }, String(error))),
      )
    }
  }

  async function bodyOf(answer: Response): Promise<{ readonly text: string; readonly isWhole: boolean }> {
    const reader = answer.body?.getReader()
    const decoder = new TextDecoder()
    let text = ''
    while (reader !== undefined) {
      const { value, done } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
      if (text.length <= MAX_SHOWN) continue
      await reader.cancel()
      return { text: text.slice(0, MAX_SHOWN), isWhole: false }
    }
    return { text: text + decoder.decode(), isWhole: true }
  }

  function pretty(text: string, isWhole: boolean): string {
    if (!isWhole || !/^\s*[{[]/.test(text)) return text
    try {
      return JSON.stringify(JSON.parse(text), null, 2)
    } catch {
      return text
    }
  }

  function isClause(name: string): boolean {
    return ['select', 'where', 'group_by', 'order_by'].includes(name)
  }

  /** The fields of the catalog or of the dataset that is named, and the functions of the clause. */
  async function wordsFor(
    clause: string,
    path: string,
    own: Description['x-odsql'],
    controls: Filled,
  ): Promise<readonly Word[]> {
    const id = controls.find(({ parameter }) => parameter.name === 'dataset_id')?.control.value ?? ''
    const isOther = path.startsWith('/catalog/datasets/{dataset_id}/') && id !== ''
    const { fields } = isOther ? await vocabularyOf(id, own) : own
    const named = fields.map(({ name, type, label }) => ({ word: name, description: `${type}, ${label}` }))
    const ofClause = new Map(Object.entries(own.functions)).get(clause) ?? []
    const functions = ofClause.map(({ signature, says }) => ({ word: signature, description: says }))
    return [...named, ...functions]
  }

  function vocabularyOf(id: string, own: Description['x-odsql']): Promise<Description['x-odsql']> {
    const known = vocabularies.get(id)
    if (known !== undefined) return known
    const requested = fetch(`${root}/catalog/datasets/${encodeURIComponent(id)}/swagger.json`)
      .then(async answer => (answer.ok ? ((await answer.json()) as Description)['x-odsql'] : null))
      .then(found => found ?? { functions: own.functions, fields: [] })
    vocabularies.set(id, requested)
    return requested
  }

  /** Completes the word before the cursor: arrows select, Enter or Tab accepts, Escape closes. */
  function complete(
    control: HTMLInputElement | HTMLTextAreaElement,
    list: HTMLElement,
    words: () => Promise<readonly Word[]>,
  ): void {
    let chosen = -1
    const close = () => {
      list.hidden = true
      chosen = -1
      control.setAttribute('aria-expanded', 'false')
      control.removeAttribute('aria-activedescendant')
    }
    for (const [name, value] of [
      ['role', 'combobox'],
      ['aria-controls', list.id],
      ['aria-autocomplete', 'list'],
      ['aria-expanded', 'false'],
    ] as const)
      control.setAttribute(name, value)
    const begun = () => /[\w.]+$/.exec(control.value.slice(0, control.selectionStart ?? 0))?.[0] ?? ''
    const take = (word: string) => {
      const end = control.selectionStart ?? 0
      const call = word.indexOf('(')
      control.setRangeText(call < 0 ? word : word.slice(0, call + 1), end - begun().length, end, 'end')
      close()
      control.dispatchEvent(new Event('change', { bubbles: true }))
    }
    const mark = (next: number) => {
      const options = [...list.children]
      chosen = (next + options.length) % options.length
      options.forEach((option, index) => {
        option.setAttribute('aria-selected', String(index === chosen))
      })
      control.setAttribute('aria-activedescendant', options[chosen]?.id ?? '')
    }
    const suggest = async () => {
      const start = begun().toLowerCase()
      const fitting =
        start === '' ? [] : (await words()).filter(({ word }) => word.toLowerCase().startsWith(start))
      if (fitting.length === 0 || start !== begun().toLowerCase()) return close()
      const options = fitting.slice(0, 8).map(({ word, description: explanation }, index) => {
        const option = make(
          'li',
          { role: 'option', id: `${list.id}-${index}` },
          make('code', {}, word),
          ` ${explanation}`,
        )
        option.addEventListener('mousedown', event => {
          event.preventDefault()
          take(word)
        })
        option.dataset.word = word
        return option
      })
      list.replaceChildren(...options)
      list.hidden = false
      chosen = -1
      control.setAttribute('aria-expanded', 'true')
    }
    control.addEventListener('input', () => void suggest())
    control.addEventListener('blur', close)
    control.addEventListener('keydown', event => {
      if (!(event instanceof KeyboardEvent) || list.hidden) return
      const option = list.children[chosen]
      if (event.key === 'ArrowDown') mark(chosen + 1)
      else if (event.key === 'ArrowUp') mark(chosen < 0 ? -1 : chosen - 1)
      else if (event.key === 'Escape') close()
      else if ((event.key === 'Enter' || event.key === 'Tab') && option instanceof HTMLElement)
        take(option.dataset.word ?? '')
      else return
      event.preventDefault()
    })
  }

  start().catch((error: unknown) => {
    place('about').textContent = `The description of the API cannot be read: ${String(error)}`
  })
}
