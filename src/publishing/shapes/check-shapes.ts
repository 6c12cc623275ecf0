import { readFileSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { Fault, faultText } from '../../errors/errors.ts'
import { RDF_FORMATS, rdfFormatNamed } from '../../sources/formats.ts'
import { parseRdf } from '../../store/embedded/parse.ts'
import type { CheckFinding } from '../check.ts'
import { splitQuad } from '../graphs/rdf-quads.ts'
import { publishedTriples } from '../versions/graph-sources.ts'
import {
  currentManifest,
  type GraphFile,
  graphPath,
  type VersionManifest,
  type Versions,
} from '../versions/versions.ts'
import {
  emptyGraph,
  readShapes,
  SHAPES_INVALID,
  type ShapeReport,
  type ShapeResult,
  type Shapes,
  validateGraph,
} from './validate.ts'

/** Maximum number of triples in memory for validation, with about 1,200 bytes each. */
const MAX_CHECKED_TRIPLES = 1_000_000
/** Maximum bytes of a file of shapes. */
const MAX_SHAPES_BYTES = 10_000_000
/** Maximum number of results of a dataset that are reported; the rest are counted. */
const MAX_RESULTS = 1000

/** A finding about a value that does not conform to a shape. */
export interface ShapeFinding extends CheckFinding {
  readonly result?: ShapeResult
}

/** Reads a file of SHACL shapes in any RDF syntax. Throws ShapesInvalid, SourceUnreadable with line and column. */
export function readShapesFile(file: string): Shapes {
  const format = rdfFormatNamed(file)
  if (format === undefined)
    throw new Fault(SHAPES_INVALID, {
      reason: `${file}: shapes are read from RDF (${RDF_FORMATS.join(', ')}), recognised by the file name extension`,
    })
  const text = readBytes(file)
  let triples = ''
  for (const lines of parseRdf([text], format, pathToFileURL(file).href, { file }))
    for (const line of lines.split('\n')) if (line !== '') triples += `${splitQuad(line).triple}\n`
  const shapes = readShapes(triples)
  if (shapes.targets === 0)
    throw new Fault(SHAPES_INVALID, {
      reason: `${file}: there is no shape with a target (sh:targetClass, sh:targetNode …), so that nothing would be checked`,
    })
  return shapes
}

function readBytes(file: string): Buffer {
  try {
    const { size } = statSync(file)
    if (size > MAX_SHAPES_BYTES)
      throw new Fault(SHAPES_INVALID, {
        reason: `${file} has ${size} bytes; shapes have at most ${MAX_SHAPES_BYTES}`,
      })
    return readFileSync(file)
  } catch (error) {
    if (error instanceof Fault) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new Fault(SHAPES_INVALID, { reason: `${file} cannot be read: ${code}` }, { cause: error })
  }
}

/** Applies shapes to the published data of a dataset: all its triples, including its named graphs. */
export async function checkShapes(
  versions: Versions,
  dataset: string,
  shapes: Shapes,
  limit = MAX_CHECKED_TRIPLES,
): Promise<readonly ShapeFinding[]> {
  const manifest = currentManifest(versions, dataset)
  const error = (message: string): ShapeFinding => ({ dataset, severity: 'error', message })
  if (manifest === null)
    return [error(`nothing is published of it, whose triples could be checked: lodestone publish ${dataset}`)]
  const files = servedGraphs(manifest)
  const triples = files.reduce((sum, file) => sum + file.triples, 0)
  if (triples > limit)
    return [
      error(`it has ${triples} triples, and shapes are applied to ${limit} at most: they are held in memory`),
    ]
  try {
    const graph = emptyGraph()
    for (const file of files)
      for await (const lines of publishedTriples(graphPath(versions, manifest, file.file)))
        graph.addText(lines)
    return findingsOf(dataset, validateGraph(shapes, graph, MAX_RESULTS))
  } catch (failure) {
    if (!(failure instanceof Fault)) throw failure
    return [error(faultText(failure))]
  }
}

/** The graphs that are served: that of its mapping, or else its facts, and its named graphs. */
function servedGraphs({ graphs, mapping }: VersionManifest): readonly GraphFile[] {
  const left = mapping === null ? 'mapped' : 'facts'
  return graphs.filter(({ role }) => role !== left)
}

function findingsOf(dataset: string, { results, counts }: ShapeReport): readonly ShapeFinding[] {
  const findings = results.map((result): ShapeFinding => {
    const { severity, focusNode, path, value, message } = result
    const at = path === null ? focusNode : `${focusNode} ${path}`
    const found = value === null || value === focusNode ? '' : ` (${value})`
    return {
      dataset,
      severity: severity === 'violation' ? 'error' : 'warning',
      message: `${at}: ${message}${found}`,
      result,
    }
  })
  const left = counts.violation + counts.warning + counts.info - results.length
  if (left === 0) return findings
  const hasError = findings.some(({ severity }) => severity === 'error') || counts.violation === 0
  const message = `and ${left} more results; in all ${counts.violation} violations, ${counts.warning} warnings, ${counts.info} remarks`
  return [...findings, { dataset, severity: hasError ? 'warning' : 'error', message, count: left }]
}
