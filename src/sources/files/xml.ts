import { setMember } from '../../model/lookup.ts'
import { memoised } from '../../model/memoised.ts'
import type { DataFile } from '../data-file.ts'
import { BATCH_ROWS, type RecordSource, type SourceRow, unreadable } from '../source.ts'
import { readXml, type XmlListener } from '../xml-events.ts'

/**
 * An XML document whose records are the elements at one path, read one by one: attributes and children by name.
 *
 * @param records path of the element, `/catalog/book`; by default the repeated element with most of the document's content
 */
export function xmlSource(data: DataFile, records: string | undefined): RecordSource {
  return {
    name: data.name,
    textual: true,
    async *read() {
      const path = pathOf(records ?? (await xmlRecordPath(data)))
      yield* elementRows(
        data,
        it => it.length === path.length && it.every((name, at) => name === path[at] || path[at] === '*'),
        element => dataOf(element),
        () => nothing(data, records),
      )
    },
  }
}

/** Rows of the selected elements, in order. */
export async function* elementRows(
  data: DataFile,
  isRequired: (path: readonly string[]) => boolean,
  rowOf: (element: XmlElement, path: readonly string[]) => Readonly<Record<string, unknown>> | null,
  otherwise?: () => Promise<never>,
): AsyncGenerator<readonly SourceRow[]> {
  let batch: SourceRow[] = []
  let row = 0
  const cutter = new ElementCutter(isRequired, (element, path) => {
    const values = rowOf(element, path)
    if (values !== null) batch.push({ row: ++row, line: undefined, data: values })
  })
  for await (const _ of readXml(data.pieces(2 ** 17), data.name, cutter)) {
    if (batch.length < BATCH_ROWS) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
  if (row === 0) await otherwise?.()
}

function dataOf(element: XmlElement): Readonly<Record<string, unknown>> {
  const value = elementValue(element)
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : { value }
}

function pathOf(text: string): readonly string[] {
  return text.split('/').filter(step => step !== '')
}

/** Statistics of the elements at one path. */
interface PathCount {
  readonly depth: number
  count: number
  /** Elements and attributes within all of them. */
  content: number
}

/** Maximum number of distinct element paths of a document with records. */
const MAX_PATHS = 20_000

/** The path of the record elements: of the repeated ones, those with the most content. */
export async function xmlRecordPath(data: DataFile): Promise<string> {
  const found = await countPaths(data)
  const best = [...found].filter(([, { count, content }]) => count > 1 && content > count)
  best.sort(([, a], [, b]) => b.content - a.content || a.depth - b.depth)
  const first =
    best[0] ??
    [...found].find(([, { count, content, depth }]) => depth === 2 && count >= 1 && content > count)
  if (first !== undefined) return first[0]
  throw unreadable(
    'No element repeats that could be a record.',
    { file: data.name },
    `options: { records: /path/of/the/element } (or --records). Elements: ${[...found.keys()].slice(0, 8).join(', ')}`,
  )
}

async function countPaths(data: DataFile): Promise<ReadonlyMap<string, PathCount>> {
  const found = new Map<string, PathCount>()
  const open: PathCount[] = []
  const path: string[] = []
  const listener = {
    start(name: string, attributes: ReadonlyMap<string, string>) {
      path.push(name)
      const key = `/${path.join('/')}`
      let known = found.get(key)
      if (known === undefined) {
        if (found.size >= MAX_PATHS)
          throw unreadable(
            'The document has too many different elements.',
            { file: data.name },
            'Name the element of a record: options: { records: path/of/element }.',
          )
        known = { depth: path.length, count: 0, content: 0 }
        found.set(key, known)
      }
      known.count++
      open.push(known)
      for (const each of open) each.content += 1 + attributes.size
    },
    end() {
      path.pop()
      open.pop()
    },
  }
  for await (const _ of readXml(data.pieces(2 ** 18), data.name, listener));
  return found
}

async function nothing(data: DataFile, records: string | undefined): Promise<never> {
  const found = await countPaths(data)
  throw unreadable(
    `There is no element at ${JSON.stringify(records ?? '')}.`,
    { file: data.name },
    `Elements: ${[...found.keys()].slice(0, 8).join(', ')}`,
  )
}

/** An element with its content. */
export interface XmlElement {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: XmlElement[]
  /** Its own text, without that of its children. */
  text: string
}

/** Maximum elements of one record. */
const MAX_ELEMENTS = 2_000_000

/** Extracts the elements that a function selects, with their content, and passes them on. */
class ElementCutter implements XmlListener {
  private readonly isSelected: (path: readonly string[]) => boolean
  private readonly onElement: (element: XmlElement, path: readonly string[]) => void
  private readonly path: string[] = []
  private readonly open: XmlElement[] = []
  private count = 0

  constructor(
    isRequired: (path: readonly string[]) => boolean,
    onElement: (element: XmlElement, path: readonly string[]) => void,
  ) {
    this.isSelected = isRequired
    this.onElement = onElement
  }

  start(name: string, attributes: ReadonlyMap<string, string>): void {
    this.path.push(name)
    const parent = this.open.at(-1)
    if (parent === undefined && !this.isSelected(this.path)) return
    if (parent === undefined) this.count = 0
    if (++this.count > MAX_ELEMENTS) throw new RangeError('an element with too many others in it')
    const element: XmlElement = { name, attributes, children: [], text: '' }
    parent?.children.push(element)
    this.open.push(element)
  }

  text(text: string): void {
    const element = this.open.at(-1)
    if (element !== undefined) element.text += text
  }

  end(): void {
    const element = this.open.pop()
    if (element !== undefined && this.open.length === 0) this.onElement(element, this.path)
    this.path.pop()
  }
}

/** The first child with a name; undefined if there is none. */
export function child({ children }: XmlElement, name: string): XmlElement | undefined {
  return children.find(it => it.name === name)
}

/** The trimmed text of the first child with a name; null if there is none. */
export function childText(element: XmlElement, name: string): string | null {
  const text = child(element, name)?.text.trim() ?? ''
  return text === '' ? null : text
}

/** Attributes that describe the document and not the record. */
const TECHNICAL = /^(?:schemaLocation|noNamespaceSchemaLocation)$/

/**
 * An element as the data of a record: attributes and children by name, children of the same name as an array; an element with
 * text alone is its text, and an empty one is null.
 */
function elementValue(element: XmlElement): unknown {
  const attributes = [...element.attributes].filter(([name]) => !TECHNICAL.test(name))
  if (/^(?:true|1)$/.test(element.attributes.get('nil') ?? '')) return null
  const text = element.text.trim()
  if (attributes.length === 0 && element.children.length === 0) return text === '' ? null : text
  const data: Record<string, unknown> = {}
  for (const [name, value] of attributes) setMember(data, name, value)
  const byName = new Map<string, unknown[]>()
  for (const inner of element.children) memoised(byName, inner.name, () => []).push(elementValue(inner))
  for (const [name, values] of byName) {
    const key = Object.hasOwn(data, name) ? `${name}_element` : name
    setMember(data, key, values.length === 1 ? values[0] : values.filter(value => value !== null))
  }
  if (text !== '') setMember(data, byName.size === 0 ? 'value' : 'text', text)
  return data
}
