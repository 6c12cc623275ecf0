import type { TermMap } from '../ir.ts'
import type { Context } from './context.ts'
import { readIri, SUBJECT } from './iris.ts'
import { childPath, readKeys, SUBJECT_KEYS } from './keys.ts'
import {
  described,
  isEmpty,
  quoted,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlText,
} from './node.ts'
import { segmentsOf } from './template.ts'
import { reportUnsupported } from './unsupported.ts'

/** The subjects of a mapping; null for one that could not be read, which was reported. */
export function readSubjects(
  context: Context,
  entry: YamlEntry,
  path: string,
  type: YamlText | undefined,
): readonly (TermMap | null)[] {
  const here = childPath(path, entry.key.text)
  const { value } = entry
  if (isEmpty(value) || (value.type === 'list' && value.items.length === 0))
    return withoutSubject(context, entry.key, here, type)
  if (value.type === 'list')
    return value.items.map((item, index) => readSubject(context, item, `${here}[${index}]`, type))
  return [readSubject(context, value, here, type)]
}

/** The subjects of a mapping that names none: a blank node of each record (YARRRML, "Subjects"), unless an IRI is wanted. */
export function withoutSubject(
  context: Context,
  key: YamlText,
  path: string,
  type: YamlText | undefined,
): readonly TermMap[] {
  if (type?.text === 'iri') {
    const found = 'the mapping has no subject, and its type is iri'
    context.diagnostics.report('subject-missing', key.span, path, found, IRI_HINT)
    return []
  }
  if (type === undefined) {
    const found =
      'the mapping has no subject: each record becomes a blank node, which nothing else can refer to'
    const hint = `${IRI_HINT} Where a blank node is meant, say so: subject: {type: blank}.`
    context.diagnostics.report('subject-blank', key.span, path, found, hint)
  }
  return [{ type: 'blank', segments: [] }]
}

const IRI_HINT = 'Write the template of an IRI, as in subject: http://example.org/city/$(name).'

function readSubject(
  context: Context,
  node: YamlNode,
  path: string,
  type: YamlText | undefined,
): TermMap | null {
  switch (node.type) {
    case 'text':
      return subjectTerm(context, node, path, type)
    case 'map':
      return readSubjectMap(context, node, path)
    case 'list':
      context.diagnostics.report(
        'value-shape',
        node.span,
        path,
        `a subject is a text, found ${described(node)}`,
      )
      return null
  }
}

function readSubjectMap(context: Context, node: YamlMap, path: string): TermMap | null {
  const before = context.diagnostics.count()
  const keys = readKeys(context, node, SUBJECT_KEYS, path)
  if (reportUnsupported(context, keys, path)) return null
  const type = keys.type?.value
  const value = keys.value?.value
  if (type !== undefined && (type.type !== 'text' || !['iri', 'blank'].includes(type.text))) {
    const found = `the type of a subject is iri or blank, found ${described(type)}`
    context.diagnostics.report('value-shape', type.span, childPath(path, 'type'), found)
    return null
  }
  if (value === undefined || isEmpty(value)) {
    if (type?.text === 'blank') return { type: 'blank', segments: [] }
    if (context.diagnostics.count() === before)
      context.diagnostics.report('subject-missing', node.span, path, 'the subject has no value')
    return null
  }
  if (value.type === 'text') return subjectTerm(context, value, childPath(path, 'value'), type)
  const found = `the value of a subject is a text, found ${described(value)}`
  context.diagnostics.report('value-shape', value.span, childPath(path, 'value'), found)
  return null
}

function subjectTerm(
  context: Context,
  node: YamlText,
  path: string,
  type: YamlText | undefined,
): TermMap | null {
  const suffix = /^(.*)~(iri|blank)$/s.exec(node.text)
  const kind = type?.text ?? suffix?.[2] ?? 'iri'
  const bare: YamlText = suffix === null ? node : { ...node, text: suffix[1] ?? '' }
  if (bare.text === '') {
    context.diagnostics.report('subject-missing', node.span, path, 'the subject is empty')
    return null
  }
  if (kind === 'blank') {
    const read = segmentsOf(context, bare, path)
    return read === null ? null : { type: 'blank', segments: read.segments }
  }
  if (bare.text.startsWith('_:')) {
    context.diagnostics.report(
      'subject-not-iri',
      node.span,
      path,
      `the subject ${quoted(node.text)} is a blank node`,
      'Write {value: …, type: blank} for blank nodes, or an IRI that others can refer to.',
    )
    return null
  }
  return readIri(context, bare, path, SUBJECT)
}
