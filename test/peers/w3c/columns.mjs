/** Asks the evaluator of columns itself: the data are as they were written, with their blank nodes. */
import { parseQuery } from '../../../src/sparql/parse.ts'
import { GraphBuilder } from '../../../src/store/columns/build/graph-builder.ts'
import { SectionMemory } from '../../../src/store/columns/build/section-writer.ts'
import { Evaluation } from '../../../src/store/columns/evaluate/evaluation.ts'
import { GraphColumns } from '../../../src/store/columns/graph.ts'
import { CachedSections } from '../../../src/store/columns/sections.ts'
import { jobText } from '../../../src/store/columns/threads/answer-text.ts'
import { PieceBytes } from '../../../src/store/columns/threads/piece-bytes.ts'

function columnsOf(lines) {
  const builder = new GraphBuilder()
  builder.add(Buffer.from([...lines].join('')))
  const memory = new SectionMemory()
  const header = builder.finish(memory)
  return new GraphColumns({ ...header, sections: memory.sections }, new CachedSections(memory.buffers))
}

/** Gives what answers a query over the graphs of a test. */
export async function openColumns() {
  return {
    genid: 'urn:none:',
    isSyntax: async ({ query, base }) => {
      try {
        parseQuery(query, base)
        return true
      } catch {
        return false
      }
    },
    ask: async ({ query, base, graphs, format }) => {
      const parsed = parseQuery(query, base)
      const columns = new Map(Array.from(graphs, ([name, lines]) => [name, columnsOf(lines)]))
      const named = parsed.dataset?.namedGraphs ?? [...columns.keys()].filter(name => name !== '')
      const dataset = {
        defaultGraphs: (parsed.dataset?.defaultGraphs ?? ['']).map(name => columns.get(name)),
        namedGraphs: new Map(named.map(name => [name, [columns.get(name)]])),
      }
      const isGraph = parsed.query.type === 'construct' || parsed.query.type === 'describe'
      const evaluation = new Evaluation(dataset, {}, { base: parsed.base ?? base })
      const written = new PieceBytes()
      const steps = jobText(parsed.query, evaluation, isGraph ? 'nt' : format, written)
      while (steps.next().done !== true);
      return { text: Buffer.from(written.take()).toString(), isGraph }
    },
    close: async () => {},
  }
}
