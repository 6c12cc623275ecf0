import { forceCenter, forceCollide, forceLink, forceManyBody, forceSimulation } from 'd3-force'
import type { Term } from '../../../rdf/term.ts'
import { linksOf } from './answer-links.ts'
import { svg } from './elements.ts'
import type { MessageRow } from './query-messages.ts'

/** Maximum number of nodes and edges: more are illegible. */
const MAX_NODES = 120
const MAX_EDGES = 300
const WIDTH = 800
const HEIGHT = 520
const TICKS = 250
const MAX_LABEL = 28

interface Node {
  readonly id: string
  readonly iri: string | null
  readonly label: string
  x?: number
  y?: number
}

interface Edge {
  readonly source: Node
  readonly target: Node
  readonly label: string
}

/** How terms are labelled and linked. */
export interface GraphStyle {
  readonly name: (iri: string) => string
  readonly address: (iri: string) => string | null
}

/** The resources of an answer and their links as a drawing: triples, or links from the first resource of a row to the others. */
export function drawGraph(
  rows: readonly MessageRow[],
  kind: 'rows' | 'triples',
  label: string,
  style: GraphStyle,
): SVGElement {
  const { nodes, edges } = graphOf(rows, kind, style)
  forceSimulation(nodes)
    .force('link', forceLink(edges.map(edge => ({ ...edge }))).distance(90))
    .force('charge', forceManyBody().strength(-220))
    .force('collide', forceCollide(24))
    .force('center', forceCenter(0, 0))
    .stop()
    .tick(TICKS)
  const drawing = svg('svg', {
    class: 'answer-graph',
    viewBox: viewBox(nodes),
    role: 'img',
    'aria-label': label,
  })
  for (const { source, target, label } of edges) {
    const ends = { x1: at(source.x), y1: at(source.y), x2: at(target.x), y2: at(target.y) }
    drawing.append(svg('line', ends, svg('title', {}, label)))
  }
  for (const node of nodes) {
    const address = node.iri === null ? null : style.address(node.iri)
    const group = address === null ? svg('g') : svg('a', { href: address })
    group.append(
      svg('title', {}, node.iri ?? node.label),
      svg('circle', { cx: at(node.x), cy: at(node.y), r: '6' }),
      svg('text', { x: at(node.x), y: at((node.y ?? 0) - 9) }, node.label),
    )
    drawing.append(group)
  }
  return drawing
}

function graphOf(rows: readonly MessageRow[], kind: 'rows' | 'triples', { name }: GraphStyle) {
  const nodes = new Map<string, Node>()
  const nodeOf = (term: Term): Node | null => {
    const id = term.type === 'iri' ? term.value : term.type === 'blank' ? `_:${term.value}` : null
    if (id === null) return null
    const known = nodes.get(id)
    if (known !== undefined) return known
    if (nodes.size >= MAX_NODES) return null
    const shown =
      term.type === 'iri'
        ? (name(id)
            .split(/[/#]/)
            .findLast(part => part !== '') ?? id)
        : id
    const label = shown.length > MAX_LABEL ? `…${shown.slice(1 - MAX_LABEL)}` : shown
    const node: Node = { id, iri: term.type === 'iri' ? id : null, label }
    nodes.set(id, node)
    return node
  }
  const edges: Edge[] = []
  const known = new Set<string>()
  for (const [subject, predicate, object] of linksOf(rows, kind)) {
    if (edges.length >= MAX_EDGES) break
    const key = JSON.stringify([subject, predicate, object])
    if (known.has(key)) continue
    known.add(key)
    const [source, target] = [nodeOf(subject), nodeOf(object)]
    if (source !== null && target !== null)
      edges.push({ source, target, label: predicate === null ? '' : name(predicate) })
  }
  return { nodes: [...nodes.values()], edges }
}

/** The bounding box of all nodes with their labels, at least the size of the drawing. */
function viewBox(nodes: readonly Node[]): string {
  const [xs, ys] = [nodes.map(({ x = 0 }) => x), nodes.map(({ y = 0 }) => y)]
  const [left, top] = [
    Math.min(-WIDTH / 2, ...xs.map(x => x - 100)),
    Math.min(-HEIGHT / 2, ...ys.map(y => y - 30)),
  ]
  const [right, bottom] = [
    Math.max(WIDTH / 2, ...xs.map(x => x + 100)),
    Math.max(HEIGHT / 2, ...ys.map(y => y + 20)),
  ]
  return [left, top, right - left, bottom - top].map(at).join(' ')
}

function at(value = 0): string {
  return value.toFixed(1)
}
