import { RDF } from '../../rdf/vocab.ts'
import type { StatementRule, TermMap } from '../ir.ts'
import type { Context } from './context.ts'
import { readKeys, reportUnsupported, STATEMENT_KEYS } from './keys.ts'
import { described, isEmpty, type YamlList, type YamlMap, type YamlNode, type YamlText } from './node.ts'
import { readObject } from './objects.ts'
import { type PlacedPredicate, readGraphs, readPredicates } from './predicates.ts'

export const MAX_RULES = 2000

/** Reads the statements of a resource: a list of statements, each a list of its own or a map. */
export function readStatements(context: Context, node: YamlNode): readonly StatementRule[] {
  if (node.type === 'map') return readStatement(context, node)
  if (node.type === 'text') {
    context.report(
      'value-shape',
      node,
      `predicateobjects is a list of statements, found ${described(node)}`,
      'Write each statement in a line of its own: - [schema:name, $(name)]',
    )
    return []
  }
  const [first] = node.items
  if (first?.type === 'text') {
    const hint = 'Each statement is a list of its own: - [schema:name, $(name)]'
    context.report('po-shape', first, 'a statement is expected, found a text', hint)
    return []
  }
  return node.items.flatMap((item, _index) => {
    if (context.rules > MAX_RULES) return []
    return readStatement(context, item)
  })
}

function readStatement(context: Context, node: YamlNode): readonly StatementRule[] {
  switch (node.type) {
    case 'list':
      return readShort(context, node)
    case 'map':
      return readLong(context, node)
    case 'text':
      context.report(
        'po-shape',
        node,
        `a statement is [predicate, object], found ${described(node)}`,
        'Put predicate and object between brackets, a comma between them.',
      )
      return []
  }
}

function readShort(context: Context, node: YamlList): readonly StatementRule[] {
  const [predicates, objects, mark] = node.items
  const torn = node.items.find(
    item => item.type === 'text' && !item.quoted && item.text.lastIndexOf('$(') > item.text.lastIndexOf(')'),
  )
  if (torn !== undefined && node.items.length > 2) {
    context.report(
      'reference-syntax',
      torn,
      `the reference that begins in ${described(torn)} is never closed`,
      'In a list between brackets a comma ends the text: put a reference with a comma in quotes.',
    )
    return []
  }
  if (predicates === undefined || objects === undefined || node.items.length > 3) {
    const code = node.items.length === 4 && hasBoth(node.items) ? 'datatype-and-language' : 'po-shape'
    context.report(
      code,
      node,
      `a statement is [predicate, object] or [predicate, object, datatype or language], found ${described(node)}`,
      node.items.length < 2 ? 'Is there a comma missing?' : 'Put a text with commas in quotes.',
    )
    return []
  }
  if (mark !== undefined && (mark.type !== 'text' || isEmpty(mark))) {
    const found = `the third element is a datatype or a language, found ${described(mark)}`
    context.report('po-shape', mark, found)
    return []
  }
  return statements(context, node, {
    predicates: readPredicates(context, predicates),
    inverse: [],
    objects,
    mark,
    graphs: [],
  })
}

function hasBoth(items: readonly YamlNode[]): boolean {
  const literalAnnotations = items.slice(2).map(item => item.type === 'text' && item.text.endsWith('~lang'))
  return literalAnnotations.includes(true) && literalAnnotations.includes(false)
}

function readLong(context: Context, node: YamlMap): readonly StatementRule[] {
  const before = context.count()
  const keys = readKeys(context, node, STATEMENT_KEYS)
  if (reportUnsupported(context, keys)) return []
  const inverse =
    keys.inversepredicates === undefined ? [] : readPredicates(context, keys.inversepredicates.value)
  for (const needed of ['predicates', 'objects'] as const) {
    if (keys[needed] !== undefined && !isEmpty(keys[needed].value)) continue
    if (needed === 'predicates' && keys.inversepredicates !== undefined) continue
    const part = keys[needed]?.key ?? node.entries[0]?.key ?? node
    if (context.count() === before) context.report('po-shape', part, `the statement has no ${needed}`)
    return []
  }
  if (keys.objects === undefined) return []
  const type = keys.type?.value
  if (type !== undefined && type.type !== 'text')
    context.report('value-shape', type, `type is a text, found ${described(type)}`)
  return statements(context, node, {
    predicates: keys.predicates === undefined ? [] : readPredicates(context, keys.predicates.value),
    inverse,
    objects: keys.objects.value,
    type: type?.type === 'text' ? type : undefined,
    graphs: keys.graphs === undefined ? [] : readGraphs(context, keys.graphs.value),
  })
}

/** The node with an object's value, and its datatype or language. */
function valueNode(item: YamlNode): YamlNode {
  if (item.type === 'list') return item.items[0] ?? item
  if (item.type !== 'map') return item
  return item.entries.find(({ key }) => ['value', 'v', 'mapping'].includes(key.text))?.value ?? item
}

function markNode(item: YamlNode): YamlNode | undefined {
  if (item.type === 'list') return item.items[1]
  if (item.type !== 'map') return undefined
  return item.entries.find(({ key }) => ['datatype', 'language'].includes(key.text))?.value
}

interface Pieces {
  readonly predicates: readonly PlacedPredicate[]
  readonly inverse: readonly PlacedPredicate[]
  readonly objects: YamlNode
  readonly mark?: YamlText | undefined
  readonly type?: YamlText | undefined
  readonly graphs: readonly TermMap[]
}

function statements(context: Context, node: YamlNode, pieces: Pieces): readonly StatementRule[] {
  const { predicates, inverse, objects, mark, type, graphs } = pieces
  const classes = predicates.filter(({ predicate }) => predicate === RDF.type).length
  const items = objects.type === 'list' ? objects.items : [objects]
  if (items.length === 0) context.report('po-shape', objects, 'the statement has no object')
  const rules: StatementRule[] = []
  const place = context.place(node)
  const common = { place, ...(graphs.length === 0 ? {} : { graphs }) }
  for (const item of items) {
    context.rules += predicates.length + inverse.length
    if (context.rules > MAX_RULES) {
      context.report('limits', node, `the mapping has more than ${MAX_RULES} rules`)
      return rules
    }
    const object = readObject(context, item, { isClass: classes > 0, mark, type })
    if (object === null) continue
    const places = {
      objectPlace: context.place(valueNode(item)),
      markPlace: context.place(mark ?? markNode(item) ?? valueNode(item)),
    }
    for (const { predicate, predicatePlace } of predicates)
      rules.push({ predicate, object, predicatePlace, ...places, ...common })
    if (inverse.length > 0 && (object.type === 'literal' || object.type === 'natural')) {
      const hint = 'Write ~iri behind the object, or type: iri.'
      const found = 'an inverse predicate needs an object that is a resource, found a literal'
      context.report('object-not-iri', item, found, hint)
      continue
    }
    for (const { predicate, predicatePlace } of inverse)
      rules.push({ predicate, object, inverse: true, predicatePlace, ...places, ...common })
  }
  return rules
}
