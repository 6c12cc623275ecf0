import { readFileSync } from 'node:fs'
import { mock } from 'node:test'
import { parseHTML } from 'linkedom'
import t, { type Test } from 'tap'
import { drawAnswerChart } from '../src/portal/islands/modules/answer-chart.ts'
import { chartColumns, chartPoints } from '../src/portal/islands/modules/chart-columns.ts'
import { CompletionList, vocabularySource } from '../src/portal/islands/modules/completion-list.ts'
import { problemsOf } from '../src/portal/islands/modules/condition-editor.ts'
import { QueryView } from '../src/portal/islands/modules/query-view.ts'
import type { Term } from '../src/rdf/term.ts'
import { XSD } from '../src/rdf/vocab.ts'

/** The scripts of pages, in a document without a browser. */

/** Makes globals for a script, and puts back those that were there after the test. */
function globals(t: Test, given: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(given)) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name)
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
    t.teardown(() => {
      if (before === undefined) Reflect.deleteProperty(globalThis, name)
      else Object.defineProperty(globalThis, name, before)
    })
  }
}

const settled = () => new Promise(resolve => setImmediate(resolve))
const literal = (value: string, datatype: string): Term => ({
  type: 'literal',
  value,
  datatype,
  language: '',
})
const number = (value: string) => literal(value, XSD.integer)

t.test('a chart has no points for values that are not bound', t => {
  const { TZ } = process.env
  t.teardown(() => (TZ === undefined ? delete process.env.TZ : Object.assign(process.env, { TZ })))
  process.env.TZ = 'America/New_York'
  const names = (iri: string) => iri.replace(/^.*\//, '')
  const a: Term = { type: 'iri', value: 'http://x/a' }
  const cases = [
    {
      rows: [
        [a, number('3')],
        [null, number('4')],
        [a, null],
      ],
      points: [
        { x: 'a', y: 3 },
        { x: 'no value', y: 4 },
      ],
    },
    {
      rows: [
        [number('1'), number('3')],
        [null, number('4')],
        [number('2'), null],
      ],
      points: [{ x: 1, y: 3 }],
    },
    {
      rows: [
        [literal('2020-01-01', XSD.date), number('3')],
        [null, number('4')],
        [literal('2020-01-02', XSD.date), null],
      ],
      points: [{ x: new Date('2020-01-01'), y: 3 }],
    },
    {
      rows: [
        [literal('2020-01-01T10:00:00', XSD.dateTime), number('3')],
        [literal('-0044-03-15', XSD.date), number('4')],
      ],
      points: [
        { x: new Date('2020-01-01T10:00:00Z'), y: 3 },
        { x: new Date('-000044-03-15'), y: 4 },
      ],
    },
  ]
  for (const { rows, points } of cases) {
    const columns = chartColumns(['x', 'y'], rows)
    t.strictSame(columns && chartPoints(columns, rows, names, 'no value'), points, columns?.type ?? 'none')
  }
  t.end()
})

t.test('charts of answers are in the language of the page', t => {
  const { document } = parseHTML('<body></body>')
  globals(t, { window: { document } })
  const texts = { chart: 'Diagramm', noValue: 'kein Wert' }
  const rows = ['2020-01-01', '2020-06-01', '2020-12-01'].map((day, at) => [
    literal(day, XSD.date),
    number(String(at * 2500)),
  ])
  const drawn = drawAnswerChart(['x', 'y'], rows, { texts, language: 'de' }, iri => iri)
  const ticks = [...(drawn?.querySelectorAll('text') ?? [])].map(each => each.textContent)
  t.equal(drawn?.querySelectorAll('[aria-label]').length, 0, 'only the picture has a name')
  t.ok(ticks.includes('5.000') && ticks.includes('2020') && ticks.includes('Mai 2020'), ticks.join(' '))
  t.end()
})

t.test('errors of a text that was changed meanwhile are not shown', async t => {
  const { document } = parseHTML('<div><textarea data-check="/check"></textarea><div></div></div>')
  const field = document.querySelector('textarea')
  if (field === null) throw new Error('the document has no field')
  const answers: (() => void)[] = []
  const fetch = (address: string) =>
    new Promise(resolve => {
      const fault = address.includes('good') ? null : { message: 'wrong' }
      answers.push(() => resolve({ ok: true, json: async () => ({ fault }) }))
    })
  globals(t, { document, fetch })
  let text = 'bad'
  const view = { state: { doc: { toString: () => text } } } as unknown as Parameters<typeof problemsOf>[0]
  const first = problemsOf(view, field)
  text = 'good'
  const second = problemsOf(view, field)
  for (const answer of answers.reverse()) answer()
  t.strictSame([await first, await second], [[], []])
  t.notMatch(document.querySelector('.fault')?.textContent, 'wrong')
  text = 'bad'
  const third = problemsOf(view, field)
  answers.at(-1)?.()
  t.equal((await third).length, 1)
  t.match(document.querySelector('.fault')?.textContent, 'wrong')
})

/** A class of requests that are never answered, and those that were sent. */
function fakeRequests() {
  const sent: Request[] = []
  class Request extends EventTarget {
    readonly upload = new EventTarget()
    readonly status = 500
    readonly statusText = 'Failed'
    readonly responseText = ''
    isAborted = false
    open() {}
    send() {
      sent.push(this)
    }
    abort() {
      this.isAborted = true
    }
  }
  return { sent, Request }
}

/** Events of a page, and whether they were prevented. */
const firedOn = (page: EventTarget) => (type: string, target: object | null | undefined) => {
  const event = new globalThis.Event(type, { cancelable: true })
  Object.defineProperty(event, 'target', { get: () => target })
  page.dispatchEvent(event)
  return event.defaultPrevented
}

t.test('one upload at a time', async t => {
  const { document, Event } = parseHTML(
    `<form class="upload" method="post" action="/desk/"><input type="file"><progress hidden value="0"></progress><p class="error" hidden></p><button type="button" hidden></button></form>
<form method="post"><input name="title"><input type="hidden" name="opened" data-unsaved></form>`,
  )
  const [, other] = document.querySelectorAll('form')
  Object.defineProperty(document.querySelector('[data-unsaved]'), 'form', { value: other })
  const { sent, Request } = fakeRequests()
  const page = new EventTarget()
  let refused = '<main></main>'
  globals(t, {
    document,
    XMLHttpRequest: Request,
    FormData: class {},
    DOMParser: class {
      parseFromString = () => parseHTML(refused).document
    },
    addEventListener: page.addEventListener.bind(page),
  })
  await import('../src/portal/islands/desk.ts')
  const form = document.querySelector('form')
  const submit = () => form?.dispatchEvent(new Event('submit', { cancelable: true }))
  submit()
  submit()
  t.equal(sent.length, 1)
  const shown = () => form?.querySelector('progress')?.hasAttribute('value')
  const message = () => form?.querySelector('.error')?.textContent
  const uploaded = (loaded: number) =>
    sent[0]?.upload.dispatchEvent(Object.assign(new globalThis.Event('progress'), { loaded, total: 2 }))
  uploaded(1)
  t.ok(shown(), 'how much is sent')
  uploaded(2)
  t.notOk(shown(), 'the whole file is sent, and being read')
  sent[0]?.dispatchEvent(new globalThis.Event('load'))
  t.equal(message(), 'Failed')
  submit()
  t.equal(sent.length, 2, 'again after it was refused')
  refused = '<main><p>published</p><div role="alert"><p>Too long</p></div></main>'
  sent[1]?.dispatchEvent(new globalThis.Event('load'))
  t.equal(
    form?.querySelector('.error')?.textContent,
    'Too long',
    'what is wrong, not what the page begins with',
  )
  submit()
  page.dispatchEvent(new globalThis.Event('pagehide'))
  submit()
  t.equal(sent.length, 4, 'and when the page is shown again')
  const cancel = form?.querySelector('button')
  t.equal(cancel?.hidden, false)
  Object.assign(form?.querySelector('input') ?? {}, { focus: () => {} })
  cancel?.dispatchEvent(new Event('click'))
  t.same([sent[3]?.isAborted, cancel?.hidden], [true, true])
  submit()
  t.equal(sent.length, 5, 'and after it was cancelled')
  const fired = firedOn(page)
  t.ok(fired('beforeunload', null), 'a form that was refused is not left without a question')
  fired('submit', other)
  fired('input', { form })
  t.notOk(fired('beforeunload', null), 'a file that is chosen')
  fired('input', { form: other })
  fired('submit', form)
  t.ok(fired('beforeunload', null), 'input that is not saved is not left without a question')
  fired('submit', other)
  t.notOk(fired('beforeunload', null), 'saved')
})

t.test('forms that change something are sent once', async t => {
  const { document, Event } = parseHTML(
    `<form method="post"></form><form data-passkey="get" data-options='{"challenge":"","allowCredentials":[]}'><input name="credential"></form>
<form method="get"></form>`,
  )
  const [plain, passkey, search] = document.querySelectorAll('form')
  const page = new EventTarget()
  const calls: (() => void)[] = []
  globals(t, {
    document,
    window: Object.assign(page, { PublicKeyCredential: {} }),
    addEventListener: page.addEventListener.bind(page),
    navigator: {
      credentials: { get: () => new Promise((_, reject) => calls.push(() => reject(new Error()))) },
    },
  })
  await import('../src/portal/islands/site.ts')
  await import('../src/portal/islands/passkey.ts')
  const isSent = (form: HTMLFormElement | undefined) => {
    const event = new globalThis.Event('submit', { cancelable: true })
    Object.defineProperty(event, 'target', { get: () => form })
    page.dispatchEvent(event)
    return !event.defaultPrevented
  }
  t.strictSame([plain, plain, search, search].map(isSent), [true, false, true, true])
  page.dispatchEvent(new globalThis.Event('pageshow'))
  t.ok(isSent(plain), 'and again when the page is shown again')
  const formData = new FormData()
  for (const [name, value] of [
    ['refine', 'a:1'],
    ['q', ''],
    ['refine', 'b:2'],
  ] as const)
    formData.append(name, value)
  search?.dispatchEvent(Object.assign(new Event('formdata'), { formData }))
  const refinements = [
    ['refine', 'a:1'],
    ['refine', 'b:2'],
  ]
  t.strictSame([...formData], refinements, 'empty fields are left out of what is sent, and stay as they are')
  const submit = () => passkey?.dispatchEvent(new Event('submit', { cancelable: true }))
  submit()
  submit()
  t.equal(calls.length, 1)
  calls[0]?.()
  await settled()
  submit()
  t.equal(calls.length, 2, 'again after the dialog was cancelled')
})

t.test('a clipboard that refuses', async t => {
  const { document, Event, Element } = parseHTML(
    '<p><code>text</code><button class="copy" data-done="Copied" data-failed="Not copied" hidden>Copy</button></p>',
  )
  const button = document.querySelector('button')
  let [isAllowed, selected] = [false, '']
  Object.assign(document, { execCommand: () => isAllowed })
  globals(t, {
    document,
    Element,
    navigator: { clipboard: { writeText: () => Promise.reject(new Error('NotAllowedError')) } },
    getSelection: () => ({
      selectAllChildren: (source: Element) => {
        selected = source.textContent ?? ''
      },
    }),
  })
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  await import('../src/portal/islands/copy.ts')
  const click = async () => {
    button?.dispatchEvent(new Event('click', { bubbles: true }))
    await settled()
  }
  await click()
  t.match([selected, button?.textContent], ['text', 'Not copied'], 'the text is selected')
  mock.timers.tick(2000)
  t.equal(button?.textContent, 'Copy')
  isAllowed = true
  await click()
  t.equal(button?.textContent, 'Copied', 'the command copies it')
})

t.test('Escape closes the condition, after what lies over it', async t => {
  const { document, Event } = parseHTML(
    '<form class="filter"><details open><summary>Condition</summary><textarea name="where"></textarea></details></form>',
  )
  const [panel, summary] = [document.querySelector('details'), document.querySelector('summary')]
  const field = document.querySelector('textarea')
  let focused = false
  Object.assign(panel ?? {}, { open: true })
  Object.assign(summary ?? {}, { focus: () => (focused = true) })
  globals(t, { document, addEventListener: () => {} })
  await import('../src/portal/islands/filter.ts')
  const press = () =>
    Object.assign(new Event('keydown', { bubbles: true, cancelable: true }), { key: 'Escape' })
  field?.addEventListener('keydown', event => event.preventDefault(), { once: true })
  field?.dispatchEvent(press())
  t.strictSame([panel?.open, focused], [true, false], 'the list of completions was open')
  field?.dispatchEvent(press())
  t.strictSame([panel?.open, focused], [false, true])
})

t.test('completions are those of a field that has the focus', async t => {
  const { document, Event } = parseHTML('<div><pre></pre><textarea></textarea></div>')
  const [paint, area] = [document.querySelector('pre'), document.querySelector('textarea')]
  if (paint === null || area === null) throw new Error('the document has no field')
  const text = 'SELECT * { ?s foaf:kn'
  const at = { selectionStart: text.length, selectionEnd: text.length }
  const field = Object.assign(area, { value: text, ...at })
  let active: unknown = field
  Object.defineProperty(document, 'activeElement', { get: () => active })
  globals(t, { document, NodeFilter: { SHOW_TEXT: 4 } })
  const vocabulary = {
    prefixes: { foaf: 'http://foaf.example/' },
    classes: [],
    properties: ['http://foaf.example/knows'],
  }
  new CompletionList(field, paint, 'Names', async () => vocabulary)
  const offersAfter = async (focused: unknown) => {
    field.dispatchEvent(new Event('input'))
    active = focused
    await settled()
    return document.querySelectorAll('ul li').length
  }
  t.equal(await offersAfter(null), 0, 'it lost the focus while the names were read')
  active = field
  field.dispatchEvent(new Event('input'))
  field.dispatchEvent(Object.assign(new Event('keydown'), { key: 'Escape' }))
  await settled()
  t.equal(document.querySelectorAll('ul li').length, 0, 'it was closed while the names were read')
  t.equal(await offersAfter(field), 1)
})

t.test('names that could not be read are requested again', async t => {
  const description = '<urn:p> <http://rdfs.org/ns/void#class> <http://x.example/Thing> .'
  const answers = [
    () => Promise.reject(new Error('offline')),
    async () => ({ ok: false }),
    async () => ({ ok: true, text: async () => description }),
  ]
  let asked = 0
  globals(t, { fetch: () => answers[asked++]?.() })
  const names = vocabularySource('', {}, () => ['cities'])
  const classes: unknown[] = []
  for (let at = 0; at < 4; at++) classes.push((await names()).classes)
  t.strictSame(classes, [[], [], ['http://x.example/Thing'], ['http://x.example/Thing']])
  t.equal(asked, 3, 'once, where they were')
})

t.test('the console is busy until the API answers, and shows what it answers', async t => {
  const result = '<div id="call" data-call="/api" data-status="{status}"><p class="status"></p>'
  const page = `${result}<div class="answer"><pre><code>of the page</code></pre></div></div>`
  const { document, Event, DOMParser } = parseHTML(
    `<html lang="en"><body><form class="api-form"></form>${page}</body></html>`,
  )
  const form = document.querySelector('form')
  Object.assign(form ?? {}, { action: 'http://portal.example/console' })
  const refused = {
    ok: false,
    status: 429,
    headers: new Headers({ 'content-type': 'application/json' }),
    arrayBuffer: async () => new TextEncoder().encode('{"errorcode":10002}').buffer,
  }
  let answer: (given: unknown) => void = () => {}
  const called = new Promise(resolve => {
    answer = resolve
  })
  globals(t, {
    document,
    DOMParser,
    FormData: class {
      [Symbol.iterator]() {
        return [][Symbol.iterator]()
      }
    },
    history: { replaceState: () => {} },
    fetch: (address: unknown) =>
      String(address) === '/api' ? called : Promise.resolve({ text: async () => page }),
  })
  await import('../src/portal/islands/api-form.ts')
  form?.dispatchEvent(new Event('submit', { cancelable: true }))
  await settled()
  const shown = () => document.querySelector('#call')
  t.equal(shown()?.getAttribute('aria-busy'), 'true')
  answer(refused)
  await settled()
  await settled()
  t.notOk(shown()?.hasAttribute('aria-busy'))
  t.equal(shown()?.querySelector('.status')?.textContent, '429')
  t.equal(shown()?.querySelector('code')?.textContent, '{\n  "errorcode": 10002\n}')
})

t.test('buttons that need scripts stay hidden without them', t => {
  const css = readFileSync(new URL('../src/portal/islands/site.css', import.meta.url), 'utf8')
  const shown = Array.from(css.matchAll(/([^{}]*)\{([^{}]*)\}/g)).filter(([, selectors = '', rules = '']) => {
    return /(?:^|,)\s*button(?:\.\w+)?\s*(?:,|$)/.test(selectors) && /\bdisplay: (?!none)/.test(rules)
  })
  t.strictSame(shown, [], 'a display of their own would show them in spite of the attribute')
  t.end()
})

t.test('the key of a chart keeps its colours on paper and in colours of the user', t => {
  const css = readFileSync(new URL('../src/portal/islands/modules/analyze.css', import.meta.url), 'utf8')
  const swatch = /^\.swatch \{[^}]*\}/m.exec(css)?.[0]
  t.match(swatch, 'print-color-adjust: exact;')
  t.match(swatch, 'forced-color-adjust: none;')
  t.end()
})

t.test('a query that is stopped says nothing of what there is', t => {
  const { document } = parseHTML('<p></p><div></div>')
  globals(t, { document })
  const names = ['loading', 'running', 'done', 'stopped', 'none', 'rows', 'requests', 'seconds', 'answer']
  const texts = Object.fromEntries(names.map(name => [name, name]))
  const [status, answer] = [document.querySelector('p'), document.querySelector('div')]
  const data = { texts, prefixes: {}, language: 'en' } as unknown as ConstructorParameters<
    typeof QueryView
  >[2]
  const view = new QueryView(status as HTMLElement, answer as HTMLElement, data)
  for (const [end, isEmpty] of [
    [() => view.stop(), false],
    [() => view.show({ type: 'done' }), true],
  ] as const) {
    view.begin('')
    view.show({ type: 'head', kind: 'rows', variables: ['n'] })
    end()
    t.equal(answer?.querySelector('.empty') !== null, isEmpty, status?.textContent ?? '')
  }
  t.end()
})
