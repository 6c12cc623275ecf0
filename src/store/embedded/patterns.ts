import { countQuery, pageQuery } from '../match.ts'
import type { PatternSource } from '../patterns.ts'
import { readSolutions } from '../solutions.ts'
import { Crawl, SHALLOW } from './crawl.ts'
import type { Pool } from './pool.ts'

/** Triple patterns over the graphs of a pool. Pages far behind the first are found by their subjects. */
export function poolPatterns(pool: Pool): { readonly source: PatternSource; readonly crawl: Crawl } {
  const crawl = new Crawl((sparql, format, deadline) => pool.query(sparql, format, deadline))
  const source: PatternSource = {
    shallow: SHALLOW,
    page: (graph, pattern, { offset, limit }, deadline) =>
      offset >= SHALLOW
        ? crawl.page(graph, pattern, offset, limit, deadline)
        : pool.query(pageQuery(graph, pattern, offset, limit), 'nt', deadline),
    count: async (graph, pattern, deadline) => {
      const [solution] = readSolutions(await pool.query(countQuery(graph, pattern), 'tsv', deadline))
      return Number(solution?.count?.value ?? 0)
    },
    size: graph => pool.registry.get(graph)?.quads ?? null,
  }
  return { source, crawl }
}
