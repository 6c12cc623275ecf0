import type { PlaygroundData } from '../../playground/sparql-page.ts'
import type { DownloadFormat } from './answer-files.ts'
import { linksOf } from './answer-links.ts'
import { AnswerTable, MAX_SHOWN, resourceAddress, shortName } from './answer-table.ts'
import { chartColumns } from './chart-columns.ts'
import { make } from './elements.ts'
import type { MessageRow, QueryMessage } from './query-messages.ts'

const WKT = 'http://www.opengis.net/ont/geosparql#wktLiteral'

/** Shows the progress of a query, and its answer as it arrives: statistics, a table, a map if it has places, files. */
export class QueryView {
  private readonly status: HTMLElement
  private readonly answer: HTMLElement
  private readonly data: PlaygroundData & { readonly here: string }
  private readonly statistics = make('p', { class: 'figures' })
  private table: AnswerTable | null = null
  private prefixes: Readonly<Record<string, string>> = {}
  private variables: readonly string[] = []
  private kind: 'rows' | 'triples' = 'rows'
  private rows: MessageRow[] = []
  private requests = 0
  private begun = 0
  private timer: ReturnType<typeof setInterval> | undefined

  constructor(status: HTMLElement, answer: HTMLElement, data: PlaygroundData & { readonly here: string }) {
    this.status = status
    this.answer = answer
    this.data = data
  }

  /** A query begins: clears the previous answer. */
  begin(query: string): void {
    this.prefixes = { ...this.data.prefixes, ...prefixesOf(query) }
    this.table = null
    this.rows = []
    this.requests = 0
    this.begun = performance.now()
    this.answer.replaceChildren(this.statistics)
    this.t(this.data.texts.loading)
    this.count()
    clearInterval(this.timer)
    this.timer = setInterval(() => this.count(), 200)
  }

  show(message: QueryMessage): void {
    const { texts } = this.data
    switch (message.type) {
      case 'ready':
        this.t(texts.running)
        break
      case 'requests':
        this.requests = message.count
        break
      case 'head':
        this.open(message.kind, message.variables)
        break
      case 'rows':
        for (const row of message.rows) this.rows.push(row)
        this.table?.add(message.rows)
        break
      case 'truth':
        this.answer.append(make('p', { class: 'truth' }, message.value ? texts.yes : texts.no))
        break
      case 'plan':
        this.answer.append(make('pre', { tabindex: '0' }, message.text))
        break
      case 'fault':
        this.fail(message.status === 401 ? texts.signIn : texts.failed, message.message, message.offset)
        break
      case 'done':
        this.finish(texts.done, texts.none)
        break
      default:
        message satisfies never
    }
    this.count()
  }

  /** The query was stopped: keeps the partial answer. */
  stop(): void {
    this.finish(this.data.texts.stopped)
  }

  fail(text: string, reason = '', offset: number | null = null): void {
    clearInterval(this.timer)
    this.t('')
    const sentence = make('p', {}, offset === null ? text : `${text} ${this.place(offset)}`)
    const words = reason === '' ? [] : [make('pre', { lang: 'en', dir: 'auto' }, reason)]
    this.answer.querySelector('.fault')?.remove()
    this.answer.prepend(make('div', { class: 'fault', role: 'alert' }, sentence, ...words))
  }

  private open(kind: 'rows' | 'triples', variables: readonly string[]): void {
    const { language, base, here, texts } = this.data
    this.kind = kind
    this.variables = variables
    this.table = new AnswerTable(variables, texts.answer, { prefixes: this.prefixes, language, base, here })
  }

  private finish(text: string, none = ''): void {
    clearInterval(this.timer)
    this.t(text)
    this.count()
    if (this.table === null) return
    const { texts } = this.data
    if (this.rows.length === 0 && none !== '') this.answer.append(make('p', { class: 'empty' }, none))
    if (this.rows.length > MAX_SHOWN)
      this.answer.append(make('p', { class: 'soft' }, texts.cut.replace('{n}', this.number(MAX_SHOWN))))
    if (this.rows.length > 0) this.statistics.after(this.downloads(), ...this.views())
    this.map().catch(() => undefined)
  }

  private count(): void {
    const { texts } = this.data
    const { length } = this.rows
    const shown: readonly (readonly [text: string, number: string])[] = [
      ...(this.table === null
        ? []
        : [[this.kind === 'rows' ? texts.rows : texts.triples, this.number(length)] as const]),
      [texts.requests, this.number(this.requests)],
      [texts.seconds, this.number((performance.now() - this.begun) / 1000, 1)],
    ]
    this.statistics.replaceChildren(
      ...shown.flatMap(([text, number]) => [make('span', {}, text.replace('{n}', number)), ' ']),
    )
    if (this.table !== null && length > 0 && !this.table.element.isConnected)
      this.answer.append(this.table.element)
  }

  private downloads(): HTMLElement {
    const line = make('p', { class: 'take-away' }, this.data.texts.download)
    const formats: readonly (readonly [DownloadFormat, string])[] = [
      this.kind === 'triples' ? ['turtle', 'Turtle'] : ['json', 'JSON'],
      ['csv', 'CSV'],
    ]
    for (const [format, name] of formats) {
      const button = make('button', { type: 'button', class: 'plain' }, name)
      button.addEventListener('click', async () => {
        const { saveAnswer } = await import('./answer-files.ts')
        saveAnswer(format, this.variables, this.rows, this.prefixes)
      })
      line.append(' ', button)
    }
    return line
  }

  /** Buttons that draw the answer, if it has something to draw. */
  private views(): readonly HTMLElement[] {
    const { texts, language, base, here } = this.data
    const { rows, variables, kind } = this
    const name = (iri: string) => shortName(iri, this.prefixes) ?? iri
    const draw = {
      chart: async () =>
        (await import('./answer-chart.ts')).drawAnswerChart(variables, rows, { texts, language }, name),
      graph: async () => {
        const { drawGraph } = await import('./answer-graph.ts')
        const address = (iri: string) => resourceAddress(iri, { base, here })
        return drawGraph(rows, kind, texts.graph, { name, address })
      },
    } as const
    const isDrawn = {
      chart: kind === 'rows' && chartColumns(variables, rows) !== null,
      graph: linksOf(rows.slice(0, MAX_SHOWN), kind).length > 0,
    } as const
    const names = (['chart', 'graph'] as const).filter(each => isDrawn[each])
    if (names.length === 0) return []
    const line = make('p', { class: 'take-away' })
    for (const each of names) {
      const attributes = { type: 'button', class: 'plain', 'aria-pressed': 'false' }
      const button = make('button', attributes, texts[each])
      let drawing: Element | null = null
      button.addEventListener('click', async () => {
        const isOn = button.getAttribute('aria-pressed') === 'true'
        button.setAttribute('aria-pressed', String(!isOn))
        if (isOn) drawing?.remove()
        else {
          drawing ??= await draw[each]()
          if (drawing !== null && rows === this.rows) this.table?.element.before(drawing)
        }
      })
      line.append(button, ' ')
    }
    return [line]
  }

  private async map(): Promise<void> {
    const isPlace = (row: MessageRow) => row.some(term => term?.type === 'literal' && term.datatype === WKT)
    const rows = this.rows
    if (!rows.some(isPlace)) return
    const { answerMap } = await import('./answer-map.ts')
    if (rows === this.rows) this.table?.element.before(answerMap(rows, this.data.texts.map))
  }

  /** A description of a position in the text of the query. */
  private place(offset: number): string {
    const query = (document.getElementById('query') as HTMLTextAreaElement).value
    const before = query.slice(0, offset).split('\n')
    return this.data.texts.place
      .replace('{line}', this.number(before.length))
      .replace('{column}', this.number((before.at(-1)?.length ?? 0) + 1))
  }

  private number(value: number, digits = 0): string {
    const shown = { minimumFractionDigits: digits, maximumFractionDigits: digits }
    return new Intl.NumberFormat(this.data.language, shown).format(value)
  }

  private t(text: string): void {
    this.status.textContent = text
  }
}

function prefixesOf(query: string): Readonly<Record<string, string>> {
  const found = query.matchAll(/\bPREFIX\s+([A-Za-z][\w-]*)?:\s*<([^<>\s]+)>/gi)
  return Object.fromEntries(Array.from(found, ([, prefix = '', namespace = '']) => [prefix, namespace]))
}
