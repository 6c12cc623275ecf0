import type * as RDF from '@rdfjs/types'
import SHACLValidator from 'rdf-validate-shacl'
import factory from 'rdf-validate-shacl/src/defaultEnv.js'
import { declareFault, Fault } from '../../errors/errors.ts'
import { IndexedGraph, termKey } from './indexed-graph.ts'

const SH = 'http://www.w3.org/ns/shacl#'

/** The severity of a result (SHACL, section 2.1.4). */
type ShapeSeverity = 'violation' | 'warning' | 'info'

/** A value that does not conform to a shape. */
export interface ShapeResult {
  readonly severity: ShapeSeverity
  /** The focus node, in N-Triples syntax without escapes. */
  readonly focusNode: string
  /** The property or path; null if the node itself does not conform. */
  readonly path: string | null
  readonly value: string | null
  readonly message: string
  /** The shape, if it has a name. */
  readonly shape: string | null
  /** The constraint component: `MaxCountConstraintComponent`. */
  readonly constraint: string
}

/** The result of validating a graph. */
export interface ShapeReport {
  /** The first of the results. */
  readonly results: readonly ShapeResult[]
  /** All results, by their severity. */
  readonly counts: Readonly<Record<ShapeSeverity, number>>
  /** Focus nodes, counted once for each shape. */
  readonly focusNodes: number
}

/** Parsed shapes, to be applied to one graph or several. */
export interface Shapes {
  readonly validator: SHACLValidator
  /** Unsupported features that the shapes use: constraints in SPARQL, imports. */
  readonly ignored: readonly string[]
  readonly targets: number
}

/** Features that the validator ignores, with their common names. */
const NOT_EVALUATED = [
  [`${SH}sparql`, 'constraints in SPARQL (sh:sparql)'],
  [`${SH}js`, 'constraints in JavaScript (sh:js)'],
  [`${SH}target`, 'targets in SPARQL (sh:target)'],
  [`${SH}rule`, 'rules (sh:rule)'],
  ['http://www.w3.org/2002/07/owl#imports', 'imports (owl:imports)'],
] as const

/** Reads shapes from N-Triples. Throws ShapesInvalid if some are invalid. */
export function readShapes(triples: string): Shapes {
  const graph = new IndexedGraph(factory)
  graph.addText(triples)
  const ignored: string[] = []
  for (const [iri, title] of NOT_EVALUATED) {
    const found = [...graph.match(null, factory.namedNode(iri))]
    if (found.length > 0) ignored.push(title)
    // The validator aborts at a constraint that it does not support.
    for (const quad of found) graph.delete(quad)
  }
  return guarded(() => {
    const validator = new SHACLValidator(graph)
    // The validator's own copy has no index of this kind, and it queries the shapes again for each node.
    validator.$shapes = factory.clownface({ dataset: graph })
    return { validator, ignored, targets: validator.shapesGraph.shapesWithTarget.length }
  })
}

/** An empty graph for the triples to be validated. */
export function emptyGraph(): IndexedGraph {
  return new IndexedGraph(factory)
}

/**
 * Applies shapes to a graph, node by node: the report of a node is read and discarded before the next, so that memory is bounded
 * by the graph and by the listed results.
 *
 * @param listed maximum results that are returned; the others are counted
 */
export function validateGraph({ validator }: Shapes, graph: IndexedGraph, listed: number): ShapeReport {
  const results: ShapeResult[] = []
  const counts: Record<ShapeSeverity, number> = { violation: 0, warning: 0, info: 0 }
  let focusNodes = 0
  const { validationEngine: engine, shapesGraph } = validator
  const data = factory.clownface({ dataset: graph })
  validator.$data = data
  return guarded(() => {
    for (const shape of shapesGraph.shapesWithTarget)
      for (const node of shape.getTargetNodes(data)) {
        focusNodes += 1
        engine.nodeCheckCounters = {}
        if (!engine.validateNodeAgainstShape(node, shape, data)) continue
        for (const result of engine.getReport().results) {
          const read = readResult(result)
          counts[read.severity] += 1
          if (results.length < listed) results.push(read)
        }
        engine.initReport()
      }
    return { results, counts, focusNodes }
  })
}

/** Converts a result of the validator. */
function readResult(result: {
  readonly severity: RDF.Term | null
  readonly focusNode: RDF.Term | null
  readonly path: RDF.Term | null
  readonly value: RDF.Term | null
  readonly message: readonly RDF.Term[]
  readonly sourceShape: RDF.Term | null
  readonly sourceConstraintComponent: RDF.Term | null
}): ShapeResult {
  const { severity, focusNode, path, value, message, sourceShape, sourceConstraintComponent } = result
  const constraint = sourceConstraintComponent?.value.replace(SH, '') ?? ''
  const described = message.map(({ value }) => value).join(' ')
  return {
    severity: severityOf(severity),
    focusNode: nodeText(focusNode),
    path: path === null ? null : path.termType === 'NamedNode' ? nodeText(path) : 'a path of several steps',
    value: value === null ? null : nodeText(value),
    message: described === '' ? constraint : described,
    shape: sourceShape?.termType === 'NamedNode' ? sourceShape.value : null,
    constraint,
  }
}

function severityOf(term: RDF.Term | null): ShapeSeverity {
  if (term?.value === `${SH}Warning`) return 'warning'
  return term?.value === `${SH}Info` ? 'info' : 'violation'
}

/** Maximum characters of a value in a message. */
const MAX_SHOWN = 200

function nodeText(term: RDF.Term | null): string {
  if (term === null) return ''
  if (term.termType === 'NamedNode') return `<${term.value}>`
  if (term.termType !== 'Literal') return termKey(term).replace(/^_/, '_:')
  const { value, language, datatype } = term
  const text = value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value
  if (language !== '') return `${JSON.stringify(text)}@${language}`
  const type = datatype.value.replace('http://www.w3.org/2001/XMLSchema#', 'xsd:')
  return type === 'xsd:string' ? JSON.stringify(text) : `${JSON.stringify(text)}^^${type}`
}

/** Runs the validator, which throws its own errors for shapes that it cannot interpret. */
function guarded<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof Fault) throw error
    const reason =
      error instanceof RangeError
        ? 'the shapes, or the classes of the data, refer to themselves without end'
        : error instanceof Error
          ? error.message
          : String(error)
    throw new Fault(SHAPES_INVALID, { reason }, { cause: error })
  }
}

/** A file of SHACL shapes that cannot be read or applied. */
export const SHAPES_INVALID = declareFault('ShapesInvalid', 500, '{reason}')
