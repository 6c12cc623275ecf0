import type { DataFile } from '../data-file.ts'
import { BATCH_ROWS, type RecordSource, type SourceRow } from '../source.ts'
import { unreadable } from '../unreadable.ts'
import { readXml } from '../xml-events.ts'
import { ElementCutter, elementValue, type XmlElement } from './xml-tree.ts'

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
