import { RDF } from '../../rdf/vocab.ts'
import {
  isOfSameRecord,
  type MappingJoin,
  type MappingPlace,
  type ResourceRule,
  type TermMap,
} from '../ir.ts'
import { constantText } from '../vocabulary.ts'
import type { Context } from './context.ts'
import { GRAPH, PREDICATE, readIri } from './iris.ts'
import { childPath } from './keys.ts'
import { described, isEmpty, quoted, type YamlNode, type YamlSpan, type YamlText } from './node.ts'
import { segmentsOf } from './template.ts'

export interface PlacedPredicate {
  readonly predicate: string | TermMap
  readonly predicatePlace: MappingPlace
}

/** The predicates of a statement, each with its position. */
export function readPredicates(context: Context, node: YamlNode, path: string): readonly PlacedPredicate[] {
  switch (node.type) {
    case 'text': {
      const read = readPredicate(context, node, path)
      return read === null ? [] : [{ predicate: read, predicatePlace: context.place(node.span, path) }]
    }
    case 'list':
      return node.items.flatMap((item, index) => {
        if (item.type !== 'list') return readPredicates(context, item, `${path}[${index}]`)
        context.report('value-shape', item.span, path, 'a predicate is a text, found a list')
        return []
      })
    case 'map': {
      const value = node.entries.find(({ key }) => key.text === 'value' || key.text === 'v')?.value
      if (value?.type === 'text') return readPredicates(context, value, childPath(path, 'value'))
      context.report('predicate-not-iri', node.span, path, `a predicate is a text, found ${described(node)}`)
      return []
    }
  }
}

function readPredicate(context: Context, node: YamlText, path: string): string | TermMap | null {
  if (node.text === 'a') return RDF.type
  const bare = node.text.endsWith('~iri') ? { ...node, text: node.text.slice(0, -4) } : node
  if (bare.text === '')
    return context.report('predicate-not-iri', node.span, path, 'the predicate is empty, an IRI is expected')
  const term = readIri(context, bare, path, PREDICATE)
  if (term?.type !== 'iri') return term
  const constant = constantText(term.segments)
  if (constant !== null) return constant
  context.report(
    'predicate-has-reference',
    node.span,
    path,
    `the predicate ${quoted(node.text)} is made of values: the portal cannot list it among its properties`,
    'Write an IRI without references where that is possible.',
  )
  return term
}

/** The graphs of a resource or of a statement. */
export function readGraphs(context: Context, node: YamlNode, path: string): readonly TermMap[] {
  switch (node.type) {
    case 'text': {
      if (isEmpty(node)) return []
      const bare = node.text.endsWith('~iri') ? { ...node, text: node.text.slice(0, -4) } : node
      const term = readIri(context, bare, path, GRAPH)
      return term === null ? [] : [term]
    }
    case 'list':
      return node.items.flatMap((item, index) =>
        item.type === 'text'
          ? readGraphs(context, item, `${path}[${index}]`)
          : reportGraph(context, item, path),
      )
    case 'map': {
      const value = node.entries.find(({ key }) => key.text === 'value' || key.text === 'v')?.value
      return value?.type === 'text' &&
        node.entries.every(({ key }) => ['value', 'v', 'type'].includes(key.text))
        ? readGraphs(context, value, childPath(path, 'value'))
        : reportGraph(context, node, path)
    }
  }
}

function reportGraph(context: Context, node: YamlNode, path: string): readonly TermMap[] {
  context.report('graph-not-iri', node.span, path, `a graph is the text of an IRI, found ${described(node)}`)
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
  path: string,
): Pick<MappingJoin, 'joined'> | null {
  if (condition === undefined || isEmpty(condition)) return {}
  const here = childPath(path, 'condition')
  const side = equalSide(condition)
  const [segment, ...others] = (side && segmentsOf(context, side, here)?.segments) ?? []
  if (segment?.type !== 'field' || others.length > 0) {
    reportJoin(context, condition.span, here, target)
    return null
  }
  const { name: field } = segment
  context.joins.push({ target, field, span: condition.span, path: here })
  return { joined: { fields: [field], place: context.place(condition.span, here) } }
}

/** Reports the conditions that other records than that of the link itself meet. */
export function reportOtherJoins(
  context: Context,
  rules: ReadonlyMap<string, readonly ResourceRule[]>,
): void {
  for (const { target, field, span, path } of context.joins)
    if (rules.get(target)?.some(({ subject }) => !isOfSameRecord(subject, [field])) === true)
      reportJoin(context, span, path, target)
}

function reportJoin(context: Context, span: YamlSpan, path: string, target: string): void {
  context.report(
    'unsupported',
    span,
    path,
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
      /^(?:[\w-]+:)?equal\(\s*(?:str1\s*=)?\s*(\$\([^()]+\))\s*,\s*(?:str2\s*=)?\s*(\$\([^()]+\))\s*\)$/.exec(
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
  const value =
    node.type === 'list'
      ? node.items[1]
      : node.type === 'map'
        ? node.entries.find(({ key }) => key.text === 'value' || key.text === 'v')?.value
        : undefined
  return value?.type === 'text' ? value : undefined
}
