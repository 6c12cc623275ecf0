import { setMember } from '../../model/lookup.ts'
import type { XmlListener } from '../xml-events.ts'

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
export class ElementCutter implements XmlListener {
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
export function elementValue(element: XmlElement): unknown {
  const attributes = [...element.attributes].filter(([name]) => !TECHNICAL.test(name))
  if (element.attributes.get('nil') === 'true') return null
  const text = element.text.trim()
  if (attributes.length === 0 && element.children.length === 0) return text === '' ? null : text
  const data: Record<string, unknown> = {}
  for (const [name, value] of attributes) setMember(data, name, value)
  const byName = new Map<string, unknown[]>()
  for (const inner of element.children) {
    const values = byName.get(inner.name) ?? []
    values.push(elementValue(inner))
    byName.set(inner.name, values)
  }
  for (const [name, values] of byName) {
    const key = Object.hasOwn(data, name) ? `${name}_element` : name
    setMember(data, key, values.length === 1 ? values[0] : values.filter(value => value !== null))
  }
  if (text !== '') setMember(data, byName.size === 0 ? 'value' : 'text', text)
  return data
}
