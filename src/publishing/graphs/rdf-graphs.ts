import { hasNamedGraphs } from '../../model/rdf-format.ts'
import { LineSet } from '../../rdf/line-set.ts'
import type { RdfSource } from '../../sources/rdf.ts'
import type { GraphFile } from '../versions/versions.ts'
import { GraphWriter } from './graph-writer.ts'
import { NamedGraphWriter } from './named-graphs.ts'
import { type QuadPlace, quadPieces, splitQuad } from './rdf-quads.ts'

/** Triples between two progress reports. */
const STEP = 50_000

/**
 * Writes the graphs of an RDF file: all its triples, each once, as the facts, and in addition its named graphs and its default
 * graph as separate graphs. Throws SourceUnreadable; the files are then to be discarded.
 *
 * @param onProgress is called with the number of triples so far
 */
export async function writeRdfGraphs(
  source: RdfSource,
  place: QuadPlace & { readonly folder: string },
  onProgress: (triples: number) => void,
): Promise<readonly GraphFile[]> {
  const facts = new GraphWriter(place.folder, 'facts')
  const named = new NamedGraphWriter(place.folder)
  const written = new LineSet()
  const hasGraphs = hasNamedGraphs(source.format)
  try {
    for await (const lines of quadPieces(source, place)) {
      let pending = 0
      for (const line of linesOf(lines)) {
        const { triple, graph } = splitQuad(line)
        if (hasGraphs && written.add(`${graph ?? '-'} ${triple}`)) named.add(graph, `${triple}\n`)
        if (written.add(triple)) facts.out.add(`${triple}\n`, 1)
        pending += 1
        if (pending % STEP === 0) {
          await facts.drain(false)
          onProgress(facts.out.triples)
        }
      }
      await facts.drain(false)
      onProgress(facts.out.triples)
    }
    return [await facts.close(), ...(await named.close())]
  } catch (error) {
    facts.abandon()
    throw error
  }
}

/** Reads an RDF file without writing: returns the number of distinct quads. Throws SourceUnreadable as publishing does. */
export async function checkRdf(source: RdfSource, place: QuadPlace): Promise<number> {
  let quads = 0
  const written = new LineSet()
  for await (const lines of quadPieces(source, place))
    for (const line of linesOf(lines)) if (written.add(line)) quads += 1
  return quads
}

function* linesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at)
    yield text.slice(at, end)
    at = end + 1
  }
}
