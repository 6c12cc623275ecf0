import type { CsvDialect } from '../../model/csv-dialect.ts'
import { nearName } from '../../model/did-you-mean.ts'
import { words } from '../../model/words.ts'
import type { LogicalSource } from '../ir.ts'
import type { Context, Diagnostics } from './context.ts'
import { readKeys, SOURCE_KEYS } from './keys.ts'
import { described, isEmpty, quoted, type YamlNode, type YamlText } from './node.ts'

const FORMULATIONS = new Map<string, 'csv' | 'json'>([
  ['csv', 'csv'],
  ['jsonpath', 'json'],
  ['json', 'json'],
])

/** Keys of databases and web services. */
const UNSUPPORTED = words('query queryFormulation credentials security driver operationType')

/** The sources of one mapping: names of declared ones, or inline sources. */
export function readSources(context: Context, node: YamlNode): readonly LogicalSource[] {
  switch (node.type) {
    case 'text': {
      if (isEmpty(node)) {
        context.report('value-shape', node, 'the source is empty', 'Name one, or leave the key out.')
        return []
      }
      const named = context.sources.get(node.text)
      if (named !== undefined) return present(named.source)
      if (node.text.includes('~')) return present(readSource(context, node))
      const close = nearName(node.text, context.sources.keys())
      context.report(
        'source-unknown',
        node,
        `the source ${quoted(node.text)} is not declared`,
        close === undefined
          ? 'Declare it at the top, or leave it out: the records of the dataset need none.'
          : `Did you mean ${quoted(close)}?`,
      )
      const near = close === undefined ? undefined : context.sources.get(close)?.key
      if (near !== undefined) {
        const found = `the source has this name, and ${quoted(node.text)} is used`
        context.report('source-unknown', near, found)
      }
      return []
    }
    case 'map':
      return present(readSource(context, node))
    case 'list':
      if (isShortcut(node.items, context)) return present(readSource(context, node))
      return node.items.flatMap((item, _index) => readSources(context, item))
  }
}

function isShortcut(items: readonly YamlNode[], context: Context): boolean {
  const [first] = items
  return first?.type === 'text' && first.text.includes('~') && !context.sources.has(first.text)
}

function present(source: LogicalSource | null): readonly LogicalSource[] {
  return source === null ? [] : [source]
}

/** One source: `path~formulation`, `[path~formulation, iterator]`, or a map; null if it is invalid, which is reported. */
export function readSource(context: Context, node: YamlNode): LogicalSource | null {
  if (node.type === 'map') return readSourceMap(context, node)
  const [first, second] = node.type === 'list' ? node.items : [node]
  const tooMany = node.type === 'list' && node.items.length > 2
  if (first?.type !== 'text' || (second !== undefined && second.type !== 'text') || tooMany)
    return context.report(
      'value-shape',
      node,
      `a source is written [path~formulation, iterator], found ${described(node)}`,
    )
  const tilde = first.text.lastIndexOf('~')
  if (tilde < 0) {
    const found = `the source ${quoted(first.text)} has no type: path~csv or path~jsonpath`
    return context.report('value-shape', first, found)
  }
  const formulation = formulationOf(context, first, first.text.slice(tilde + 1))
  if (formulation === null || !isLocal(context, first, first.text.slice(0, tilde))) return null
  return {
    path: first.text.slice(0, tilde),
    formulation,
    ...iteratorOf(context, formulation, second),
  }
}

function readSourceMap(context: Context, node: YamlNode & { type: 'map' }): LogicalSource | null {
  const keys = readKeys(context, node, SOURCE_KEYS)
  for (const feature of UNSUPPORTED) {
    const entry = keys[feature]
    if (entry === undefined) continue
    return context.report(
      'unsupported',
      entry.key,
      `sources with ${quoted(feature)} are not supported: only files are`,
    )
  }
  const text = (name: 'access' | 'referenceFormulation' | 'iterator' | 'delimiter' | 'encoding' | 'type') => {
    const value = keys[name]?.value
    if (value === undefined || value.type === 'text') return value
    context.report('value-shape', value, `${name} is a text, found ${described(value)}`)
    return undefined
  }
  const type = text('type')
  if (type !== undefined && type.text !== 'localfile') {
    const found = `sources of the type ${quoted(type.text)} are not supported: only files are`
    return context.report('unsupported', type, found)
  }
  const access = text('access')
  const named = text('referenceFormulation')
  if (access === undefined || named === undefined) {
    const found = `a source needs ${access === undefined ? 'access' : 'referenceFormulation'}`
    return context.report('value-shape', node, found)
  }
  const formulation = formulationOf(context, named, named.text)
  if (formulation === null || !isLocal(context, access, access.text)) return null
  const delimiter = text('delimiter')?.text
  const encoding = text('encoding')?.text
  const dialect: CsvDialect = {
    ...(delimiter === undefined ? {} : { delimiter: delimiter === '\\t' ? '\t' : delimiter }),
    ...(encoding === undefined ? {} : { encoding }),
  }
  return {
    path: access.text,
    formulation,
    ...iteratorOf(context, formulation, text('iterator')),
    ...(Object.keys(dialect).length === 0 ? {} : { dialect }),
  }
}

function iteratorOf(
  context: Diagnostics,
  formulation: 'csv' | 'json',
  node: YamlText | undefined,
): Pick<LogicalSource, 'iterator' | 'iteratorPlace'> {
  if (formulation !== 'json' || node === undefined) return { iterator: null }
  return { iterator: node.text, iteratorPlace: context.place(node) }
}

function formulationOf(context: Diagnostics, node: YamlText, name: string): 'csv' | 'json' | null {
  const known = FORMULATIONS.get(name.toLowerCase())
  if (known !== undefined) return known
  return context.report(
    'unsupported',
    node,
    `the reference formulation ${quoted(name)} is not supported`,
    'Supported are csv and jsonpath.',
  )
}

function isLocal(context: Diagnostics, node: YamlText, access: string): boolean {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(access)) return true
  context.report('unsupported', node, `the remote source ${quoted(access)} is not supported: only files are`)
  return false
}
