import { RDF } from '../../rdf/vocab.ts'
import type { MappingPlace, TermMap } from '../ir.ts'
import { constantText } from '../vocabulary.ts'
import type { Context } from './context.ts'
import { GRAPH, PREDICATE, readIri } from './iris.ts'
import { childPath } from './keys.ts'
import { described, isEmpty, quoted, type YamlNode, type YamlText } from './node.ts'

export interface PlacedPredicate {
  readonly predicate: string | TermMap
  readonly predicatePlace: MappingPlace
}

/** The predicates of a statement, each with its position. */
export function readPredicates(context: Context, node: YamlNode, path: string): readonly PlacedPredicate[] {
  switch (node.type) {
    case 'text': {
      const read = readPredicate(context, node, path)
      return read === null
        ? []
        : [{ predicate: read, predicatePlace: context.diagnostics.place(node.span, path) }]
    }
    case 'list':
      return node.items.flatMap((item, index) => {
        if (item.type !== 'list') return readPredicates(context, item, `${path}[${index}]`)
        context.diagnostics.report('value-shape', item.span, path, 'a predicate is a text, found a list')
        return []
      })
    case 'map': {
      const value = node.entries.find(({ key }) => key.text === 'value' || key.text === 'v')?.value
      if (value?.type === 'text') return readPredicates(context, value, childPath(path, 'value'))
      const found = `a predicate is a text, found ${described(node)}`
      context.diagnostics.report('predicate-not-iri', node.span, path, found)
      return []
    }
  }
}

function readPredicate(context: Context, node: YamlText, path: string): string | TermMap | null {
  if (node.text === 'a') return RDF.type
  const bare = node.text.endsWith('~iri') ? { ...node, text: node.text.slice(0, -4) } : node
  if (bare.text === '') {
    context.diagnostics.report(
      'predicate-not-iri',
      node.span,
      path,
      'the predicate is empty, an IRI is expected',
    )
    return null
  }
  const term = readIri(context, bare, path, PREDICATE)
  if (term?.type !== 'iri') return term
  const constant = constantText(term.segments)
  if (constant !== null) return constant
  context.diagnostics.report(
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
  context.diagnostics.report(
    'graph-not-iri',
    node.span,
    path,
    `a graph is the text of an IRI, found ${described(node)}`,
  )
  return []
}
