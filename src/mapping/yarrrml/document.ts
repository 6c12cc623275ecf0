import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import { MAX_NESTED, nestedTooDeep } from '../../model/yaml-nesting.ts'
import { createDiagnostics, type Diagnostics } from './context.ts'
import { childPath } from './keys.ts'
import { layoutProblems } from './layout.ts'
import { quoted, type YamlEntry, type YamlNode, type YamlPart, type YamlText } from './node.ts'
import { ESCAPABLE } from './template.ts'

const MAX_BYTES = 256_000
/** Maximum number of nodes of a document with its aliases expanded. */
const MAX_NODES = 200_000

/**
 * Reads YAML in which every scalar stays the author's text. Unreadable parts are reported and become null; no text makes it
 * throw, hang or use much memory.
 */
export function readYaml(text: string): {
  readonly root: YamlNode | null
  readonly diagnostics: Diagnostics
} {
  const lines = new LineCounter()
  const diagnostics = createDiagnostics(lines)
  lines.addNewLine(0)
  const bytes = Buffer.byteLength(text)
  const start = { span: { start: 0, end: 0 }, path: '' }
  if (bytes > MAX_BYTES) {
    const found = `the document has ${bytes} bytes, a mapping has at most ${MAX_BYTES}`
    diagnostics.report('yaml-too-big', start, found)
    return { root: null, diagnostics }
  }
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1)
  const deep = nestedTooDeep(text)
  if (deep !== null) {
    const found = `the document is nested more than ${MAX_NESTED} deep`
    diagnostics.report('limits', { span: { start: deep, end: deep + 1 }, path: '' }, found)
    return { root: null, diagnostics }
  }
  try {
    const document = parseDocument(text, { schema: 'failsafe', uniqueKeys: false, prettyErrors: false })
    const errors = document.errors.filter(error => !isTemplateEscape(error, text))
    if (errors.length > 0) {
      reportSyntax(text, errors, diagnostics)
      return { root: null, diagnostics }
    }
    return { root: converted(document, text, diagnostics), diagnostics }
  } catch (error) {
    diagnostics.report('yaml-syntax', start, `the document cannot be read: ${(error as Error).message}`)
    return { root: null, diagnostics }
  }
}

/**
 * True for an escape of YARRRML in double quotes, such as `"ex\\:name"`: YAML has no such escape and keeps both characters, which
 * is how templates are read.
 */
function isTemplateEscape({ code, pos }: YAMLError, text: string): boolean {
  return code === 'BAD_DQ_ESCAPE' && ESCAPABLE.includes(text.charAt(pos[0] + 1))
}

/** Aborts the conversion after a reported error. */
class Refused extends Error {}

/** A part of a document with the number of its nodes, those of aliases counted each time. */
interface Converted {
  readonly node: YamlNode
  readonly size: number
}

/** The state of the conversion of a document, with the anchors so far; null for one that is not complete yet. */
interface Conversion {
  readonly text: string
  readonly diagnostics: Diagnostics
  readonly anchors: Map<string, Converted | null>
}

function converted(document: Document, text: string, diagnostics: Diagnostics): YamlNode | null {
  const conversion: Conversion = { text, diagnostics, anchors: new Map() }
  try {
    return convert(conversion, document.contents as ParsedNode | null, 0, '').node
  } catch (error) {
    if (error instanceof Refused) return null
    throw error
  }
}

function convert(conversion: Conversion, node: Node | null, after: number, path: string): Converted {
  if (node === null) return { node: nothingAt(after, path), size: 1 }
  const { diagnostics, anchors } = conversion
  const part = { span: spanOf(node), path }
  if (isAlias(node)) {
    const target = anchors.get(node.source)
    if (target === undefined)
      refuse(diagnostics, 'yaml-syntax', part, `the alias *${node.source} has no anchor before it`)
    else if (target === null)
      refuse(diagnostics, 'alias-bomb', part, `the alias *${node.source} is used inside its own anchor`)
    else return target
  }
  if (node.tag !== undefined && !/^tag:yaml\.org,2002:(str|map|seq)$/.test(node.tag))
    diagnostics.report('unsupported', part, `the YAML tag ${quoted(node.tag)} has no meaning in a mapping`)
  const anchor = (node as { anchor?: string }).anchor
  if (anchor !== undefined) anchors.set(anchor, null)
  const converted = convertPlain(conversion, node, part)
  if (converted.size > MAX_NODES)
    refuse(diagnostics, 'alias-bomb', part, 'the aliases of the document multiply beyond measure')
  if (anchor !== undefined) anchors.set(anchor, converted)
  return converted
}

function convertPlain(conversion: Conversion, node: Node, part: YamlPart): Converted {
  const { span, path } = part
  if (isSeq<Node | null>(node)) {
    let size = 1
    const items = node.items.map((item, index) => {
      const converted = convert(conversion, item, span.start, `${path}[${index}]`)
      size += converted.size
      return converted.node
    })
    return { node: { type: 'list', items, ...part }, size }
  }
  if (isMap<Node | null, Node | null>(node)) return convertMap(conversion, node, part)
  if (!isScalar(node)) return { node: nothingAt(span.start, path), size: 1 }
  const value = String(node.value ?? '')
  const quotes = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE'
  const first = span.start + (quotes ? 1 : 0)
  const verbatim = conversion.text.startsWith(value, first) ? first : null
  const scalar: YamlText = { type: 'text', text: value, ...part, verbatim, quoted: quotes }
  return { node: scalar, size: 1 }
}

function convertMap(
  conversion: Conversion,
  node: YAMLMap<Node | null, Node | null>,
  part: YamlPart,
): Converted {
  const { text, diagnostics } = conversion
  const { span, path } = part
  let size = 1
  const keys = new Set<string>()
  const entries: YamlEntry[] = []
  for (const pair of node.items) {
    const key = convert(conversion, pair.key, span.start, path).node
    if (key.type !== 'text') {
      diagnostics.report('value-shape', key, 'a key has to be a plain text')
      continue
    }
    if (key.text === '<<' && !key.quoted) {
      const hint = 'Write the keys out, or let an alias stand for a whole value, as in po: *base.'
      diagnostics.report('unsupported', key, 'the merge key `<<` of YAML is not supported', hint)
      continue
    }
    const named: YamlText = { ...key, path: childPath(path, key.text) }
    const value = convert(conversion, pair.value, key.span.end, named.path)
    size += value.size + 1
    if (keys.has(key.text))
      diagnostics.report(
        'yaml-duplicate-key',
        named,
        `the key ${quoted(key.text)} is there twice`,
        'Only one of the two could count: give the second another name, or put them together.',
      )
    keys.add(key.text)
    entries.push({ key: named, value: value.node })
  }
  const form = !node.flow ? 'lines' : text.charAt(span.start) === '{' ? 'braces' : 'bare'
  return { node: { type: 'map', entries, ...part, form }, size }
}

function nothingAt(start: number, path: string): YamlText {
  return { type: 'text', text: '', span: { start, end: start + 1 }, path, verbatim: null, quoted: false }
}

function refuse(
  diagnostics: Diagnostics,
  code: 'yaml-syntax' | 'alias-bomb',
  part: YamlPart,
  message: string,
): never {
  diagnostics.report(code, part, message)
  throw new Refused(message)
}

function spanOf(node: Node): YamlPart['span'] {
  const [start, end] = node.range ?? [0, 0]
  return { start, end: Math.max(end, start + 1) }
}

/**
 * Reports why a text is no YAML: the layout error, as far as it can be found, and the message of the parser, which often refers
 * to a later line.
 */
function reportSyntax(text: string, errors: readonly YAMLError[], diagnostics: Diagnostics): void {
  const problems = layoutProblems(text)
  const lines = new Set<number>()
  for (const { start, end, message, hint } of problems) {
    diagnostics.report('yaml-syntax', { span: { start, end }, path: '' }, message, hint)
    lines.add(lineStart(text, start))
  }
  for (const { code, pos, message } of errors.slice(0, problems.length === 0 ? 3 : 1)) {
    const start = Math.min(pos[0], Math.max(0, text.length - 1))
    if (lines.has(lineStart(text, start))) continue
    lines.add(lineStart(text, start))
    const part = { span: { start, end: Math.max(pos[1], start + 1) }, path: '' }
    if (code === 'MULTIPLE_DOCS')
      diagnostics.report(
        'yaml-syntax',
        part,
        'a second document begins here, a mapping is one',
        'Remove the line ---, or what follows it.',
      )
    else diagnostics.report('yaml-syntax', part, `this is no YAML: ${message}`)
  }
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1)
}
