import { GraphBuilder } from '../../src/store/columns/build/graph-builder.ts'
import { SectionMemory } from '../../src/store/columns/build/section-writer.ts'
import { GraphColumns } from '../../src/store/columns/graph.ts'
import { CachedSections } from '../../src/store/columns/sections.ts'

/** The columns of N-Triples in memory. */
export function columnsOfText(text: string): GraphColumns {
  const builder = new GraphBuilder()
  builder.add(Buffer.from(text))
  const memory = new SectionMemory()
  const header = builder.finish(memory)
  return new GraphColumns({ ...header, sections: memory.sections }, new CachedSections(memory.buffers))
}
