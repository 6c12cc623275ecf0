import { RDF } from '../../rdf/vocab.ts'
import {
  constantText,
  isOfSameRecord,
  type MappingJoin,
  type MappingPlace,
  type ResourceRule,
  type TermMap,
} from '../ir.ts'
import type { Context } from './context.ts'
import { GRAPH, PREDICATE, readIri } from './iris.ts'
import { described, isEmpty, quoted, type YamlMap, type YamlNode, type YamlText } from './node.ts'
import { segmentsOf } from './template.ts'

export interface PlacedPredicate {
  readonly predicate: string | TermMap
  readonly predicatePlace: MappingPlace
}

/** The predicates of a statement, each with its position. */
export function readPredicates(context: Context, node: YamlNode): readonly PlacedPredicate[] {
  switch (node.type) {
    case 'text': {
      const read = readPredicate(context, node)
      return read === null ? [] : [{ predicate: read, predicatePlace: context.place(node) }]
    }
    case 'list':
      return node.items.flatMap(item => {
        if (item.type !== 'list') return readPredicates(context, item)
        context.report('value-shape', item, 'a predicate is a text, found a list')
        return []
      })
    case 'map': {
      const value = plainValue(node)
      if (value?.type === 'text') return readPredicates(context, value)
      context.report('predicate-not-iri', node, `a predicate is a text, found ${described(node)}`)
      return []
    }
  }
}

function plainValue({ entries }: YamlMap): YamlNode | undefined {
  return entries.find(({ key }) => key.text === 'value' || key.text === 'v')?.value
}

function readPredicate(context: Context, node: YamlText): string | TermMap | null {
  if (node.text === 'a') return RDF.type
  const bare = node.text.endsWith('~iri') ? { ...node, text: node.text.slice(0, -4) } : node
  if (bare.text === '')
    return context.report('predicate-not-iri', node, 'the predicate is empty, an IRI is expected')
  const term = readIri(context, bare, PREDICATE)
  if (term?.type !== 'iri') return term
  const constant = constantText(term.segments)
  if (constant !== null) return constant
  context.report(
    'predicate-has-reference',
    node,
    `the predicate ${quoted(node.text)} is made of values: the portal cannot list it among its properties`,
    'Write an IRI without references where that is possible.',
  )
  return term
}

/** The graphs of a resource or of a statement. */
export function readGraphs(context: Context, node: YamlNode): readonly TermMap[] {
  switch (node.type) {
    case 'text': {
      if (isEmpty(node)) return []
      const bare = node.text.endsWith('~iri') ? { ...node, text: node.text.slice(0, -4) } : node
      const term = readIri(context, bare, GRAPH)
      return term === null ? [] : [term]
    }
    case 'list':
      return node.items.flatMap(item =>
        item.type === 'text' ? readGraphs(context, item) : reportGraph(context, item),
      )
    case 'map': {
      const value = plainValue(node)
      return value?.type === 'text' &&
        node.entries.every(({ key }) => ['value', 'v', 'type'].includes(key.text))
        ? readGraphs(context, value)
        : reportGraph(context, node)
    }
  }
}

function reportGraph(context: Context, node: YamlNode): readonly TermMap[] {
  context.report('graph-not-iri', node, `a graph is the text of an IRI, found ${described(node)}`)
  return []
}

/**
 * Reads the condition of a link: what it means for the link, null if it is no `equal(x, x)` with one reference, which is reported.
 * Whether it holds for the same record alone depends on the subject of the other mapping: see `reportOtherJoins`.
 */
export function readJoin(
  context: Context,
  condition: YamlNode | undefined,
  target: string,
): Pick<MappingJoin, 'joined'> | null {
  if (condition === undefined || isEmpty(condition)) return {}
  const side = equalSide(condition)
  const [segment, ...others] = (side && segmentsOf(context, side)?.segments) ?? []
  if (segment?.type !== 'field' || others.length > 0) {
    reportJoin(context, condition, target)
    return null
  }
  const { name: field } = segment
  context.joins.push({ target, field, condition })
  return { joined: { fields: [field], place: context.place(condition) } }
}

/** Reports the conditions that other records than that of the link itself meet. */
export function reportOtherJoins(
  context: Context,
  rules: ReadonlyMap<string, readonly ResourceRule[]>,
): void {
  for (const { target, field, condition } of context.joins)
    if (rules.get(target)?.some(({ subject }) => !isOfSameRecord(subject, [field])) === true)
      reportJoin(context, condition, target)
}

function reportJoin(context: Context, condition: YamlNode, target: string): void {
  context.report(
    'unsupported',
    condition,
    `a join with other records of ${quoted(target)}: joins are not supported, ` +
      'a link goes to what the other mapping makes of the same record',
    'Leave the condition out for the same record; to reach resources of other records write their IRI: http://…/$(field)~iri.',
  )
}

/** The reference on both sides of `equal(x, x)`; undefined for every other condition. */
function equalSide(condition: YamlNode): YamlText | undefined {
  if (condition.type === 'list')
    return condition.items.length === 1 && condition.items[0] !== undefined
      ? equalSide(condition.items[0])
      : undefined
  if (condition.type === 'text') {
    const sides =
      /^(?:[\w-]+:)?equal\(\s*(?:str1\s*=\s*)?(\$\([^()]+\))\s*,\s*(?:str2\s*=\s*)?(\$\([^()]+\))\s*\)$/.exec(
        condition.text.slice(0, 1000),
      )
    return sides?.[1] === undefined || sides[1] !== sides[2] ? undefined : { ...condition, text: sides[1] }
  }
  const value = (...names: readonly string[]) =>
    condition.entries.find(({ key }) => names.includes(key.text))?.value
  const name = value('function', 'fn', 'f')
  if (name?.type !== 'text') return undefined
  if (name.text.includes('(')) return equalSide(name)
  const parameters = value('parameters', 'pms')
  if (!/^(?:[\w-]+:)?equal$/.test(name.text) || parameters?.type !== 'list') return undefined
  const [first, second, third] = parameters.items.map(parameterValue)
  return first !== undefined && first.text === second?.text && third === undefined ? first : undefined
}

function parameterValue(node: YamlNode): YamlText | undefined {
  const value = node.type === 'list' ? node.items[1] : node.type === 'map' ? plainValue(node) : undefined
  return value?.type === 'text' ? value : undefined
}
