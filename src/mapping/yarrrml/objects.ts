import { nearName } from '../../model/did-you-mean.ts'
import { literalType } from '../../rdf/literals.ts'
import { constantText, type ObjectMap, type Segment } from '../ir.ts'
import type { Context } from './context.ts'
import {
  type ObjectWish,
  readLiteralAnnotations,
  reportGuesses,
  reportNearKey,
  reportSuffix,
} from './guesses.ts'
import { CLASS, type IriRole, OBJECT, readIri } from './iris.ts'
import { OBJECT_KEYS, readKeys, reportUnsupported } from './keys.ts'
import { described, isEmpty, quoted, type YamlMap, type YamlNode, type YamlText } from './node.ts'
import { readJoin } from './predicates.ts'
import { segmentsOf } from './template.ts'

/** Reads one object; null if it cannot be read, which is reported. */
export function readObject(context: Context, node: YamlNode, wish: ObjectWish): ObjectMap | null {
  switch (node.type) {
    case 'text':
      return objectOfText(context, node, wish)
    case 'map':
      return objectOfMap(context, node, wish)
    case 'list':
      return objectOfPair(context, node.items, node, wish)
  }
}

/** `[value, datatype]` or `[value, xx~lang]`. */
function objectOfPair(
  context: Context,
  items: readonly YamlNode[],
  node: YamlNode,
  wish: ObjectWish,
): ObjectMap | null {
  const [value, mark] = items
  if (value === undefined || items.length > 2 || value.type === 'list') {
    const found = `an object in brackets is [value, datatype] or [value, en~lang], found ${described(node)}`
    return context.report('value-shape', node, found)
  }
  if (mark === undefined) return readObject(context, value, wish)
  if (mark.type !== 'text') {
    const found = `a datatype or a language is a text, found ${described(mark)}`
    return context.report('value-shape', mark, found)
  }
  return readObject(context, value, { ...wish, mark })
}

function objectOfMap(context: Context, node: YamlMap, wish: ObjectWish): ObjectMap | null {
  if (node.form === 'bare')
    return context.report(
      'value-shape',
      node,
      `${described(node)} was found where a value is expected`,
      'In a list between brackets `a: b` is a map: put a text with a colon and a space in quotes.',
    )
  const before = context.count()
  const keys = readKeys(context, node, OBJECT_KEYS)
  const { conditions, ...others } = keys
  if (reportUnsupported(context, keys.mapping === undefined ? keys : others)) return null
  if (keys.mapping !== undefined) return readLink(context, node, keys.mapping.value, conditions?.value)
  const text = (name: 'type' | 'datatype' | 'language') => {
    const value = keys[name]?.value
    if (value === undefined || (value.type === 'text' && !isEmpty(value)))
      return value as YamlText | undefined
    const found = `${name} is a text, found ${described(value)}`
    context.report('value-shape', keys[name]?.key ?? value, found)
    return undefined
  }
  const own: ObjectWish = {
    ...wish,
    type: text('type') ?? wish.type,
    datatype: text('datatype'),
    language: text('language'),
  }
  if (keys.value === undefined) {
    if (context.count() === before)
      context.report('value-shape', node, 'the object has neither a value nor a mapping')
    return null
  }
  const { value } = keys.value
  if (value.type === 'text') return objectOfText(context, value, own, true)
  return context.report('value-shape', value, `the value of an object is a text, found ${described(value)}`)
}

function readLink(
  context: Context,
  node: YamlMap,
  target: YamlNode,
  condition: YamlNode | undefined,
): ObjectMap | null {
  if (target.type !== 'text')
    return context.report('value-shape', target, `mapping is a text, found ${described(target)}`)
  if (!context.mappingKeys.has(target.text)) {
    const close = nearName(target.text, context.mappingKeys.keys())
    const known = `There are: ${[...context.mappingKeys.keys()].slice(0, 10).join(', ')}.`
    const hint = close === undefined ? known : `Did you mean ${quoted(close)}?`
    context.report('link-unknown', target, `there is no mapping ${quoted(target.text)}`, hint)
    reportNearKey(context, 'link-unknown', close, target.text)
    return null
  }
  const join = readJoin(context, condition, target.text)
  if (join === null) return null
  for (const { key } of node.entries)
    if (['value', 'v', 'datatype', 'language'].includes(key.text))
      context.report('value-shape', key, `${quoted(key.text)} has no meaning beside mapping`)
  return { type: 'link', resource: target.text, ...join }
}

/** The text after the last `~`, unless that is escaped. */
const SUFFIX = /^(.*)(?<!\\)~([^~\s]+)$/s

/** Decides how a text is interpreted (README.md, "Objects"). */
function objectOfText(
  context: Context,
  node: YamlText,
  wish: ObjectWish,
  explicit = false,
): ObjectMap | null {
  const read = readLiteralAnnotations(context, wish, node.text)
  if (read === null) return null
  const { datatype, language } = read
  const typed = datatype !== undefined || language !== undefined
  if (isEmpty(node)) {
    const found = 'the object is empty'
    return context.report('value-shape', node, found, 'A field is written $(name), an empty text "".')
  }
  const kind = kindOf(context, wish)
  if (kind === null) return null
  const suffix = SUFFIX.exec(node.text)
  const suffixed = suffix?.[2] === 'iri'
  if (suffix !== null && !suffixed && reportSuffix(context, node, suffix[1] ?? '', suffix[2] ?? ''))
    return null
  const bare: YamlText = suffixed ? { ...node, text: suffix?.[1] ?? '' } : node
  const isKey = context.mappingKeys.has(node.text)
  if (isKey && !explicit && kind === undefined) {
    if (!typed) return { type: 'link', resource: node.text }
    context.report(
      'equals-mapping-key-with-datatype',
      node,
      `${quoted(node.text)} is the name of a mapping, but with a datatype or a language it is taken as text`,
      'Take the datatype away for a link.',
    )
  }
  if (kind === 'blank') {
    const parsed = segmentsOf(context, bare)
    return parsed === null ? null : { type: 'blank', segments: parsed.segments }
  }
  const role: IriRole = wish.isClass ? CLASS : OBJECT
  if (kind === 'iri' || suffixed || (wish.isClass && kind !== 'literal')) {
    if (typed) {
      const found = `${role.what} is an IRI and can have neither a datatype nor a language`
      return context.report('value-shape', wish.mark ?? wish.datatype ?? wish.language ?? node, found)
    }
    return readIri(context, bare, role)
  }
  const web = kind !== 'literal' && !typed && /^<?https?:\/\//i.test(node.text)
  if (web && explicit) {
    const hint = 'Write type: iri for a resource, type: literal for a text.'
    context.report('looks-like-curie', node, `${quoted(node.text)} is taken as text`, hint)
  } else if (web)
    return readIri(context, node, {
      ...OBJECT,
      what: 'the object (text that begins with http:// is an IRI)',
    })
  return literal(context, node, datatype, language, !typed && kind === undefined)
}

function literal(
  context: Context,
  node: YamlText,
  datatype: string | readonly Segment[] | undefined,
  language: string | readonly Segment[] | undefined,
  guess: boolean,
): ObjectMap | null {
  const parsed = segmentsOf(context, node)
  if (parsed === null) return null
  const { segments } = parsed
  const [first] = segments
  if (datatype === undefined && language === undefined && segments.length === 1 && first?.type === 'field')
    return {
      type: 'natural',
      field: first.name,
      ...(first.place === undefined ? {} : { place: first.place }),
    }
  const constant = constantText(segments)
  if (guess) reportGuesses(context, node, constant)
  if (constant !== null && typeof datatype === 'string') {
    const rules = literalType(datatype)
    if (rules !== null && rules.canonical(constant) === null) {
      const found = `${quoted(constant)} is no value of ${datatype.split(/[#/]/).at(-1)}`
      return context.report('constant-ill-typed', node, found)
    }
  }
  return {
    type: 'literal',
    segments,
    ...(datatype === undefined ? {} : { datatype }),
    ...(language === undefined ? {} : { language }),
  }
}

function kindOf(context: Context, { type }: ObjectWish): 'iri' | 'literal' | 'blank' | null | undefined {
  if (type === undefined) return undefined
  if (type.text === 'iri' || type.text === 'literal' || type.text === 'blank') return type.text
  const found = `the type of an object is iri, literal or blank, found ${described(type)}`
  return context.report('value-shape', type, found)
}
