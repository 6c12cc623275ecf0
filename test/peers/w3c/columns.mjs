/** Asks the evaluator of columns itself: the data are as they were written, with their blank nodes. */
import { parseQuery } from '../../../src/sparql/parse.ts'
import { GraphBuilder } from '../../../src/store/columns/build/graph-builder.ts'
import { SectionMemory } from '../../../src/store/columns/build/section-writer.ts'
import { Evaluation } from '../../../src/store/columns/evaluate/evaluation.ts'
import { GraphColumns } from '../../../src/store/columns/graph.ts'
import { CachedSections } from '../../../src/store/columns/sections.ts'
import { jobText } from '../../../src/store/columns/threads/answer-text.ts'

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
        namedGraphs: new Map(named.map(name => [name, columns.get(name)])),
      }
      const isGraph = parsed.query.type === 'construct' || parsed.query.type === 'describe'
      const evaluation = new Evaluation(dataset, {}, { base: parsed.base ?? base })
      return { text: [...jobText(parsed.query, evaluation, isGraph ? 'nt' : format)].join(''), isGraph }
    },
    close: async () => {},
  }
}
