import t from 'tap'
import { termText } from '../src/rdf/ntriples.ts'
import { parseQuery } from '../src/sparql/parse.ts'
import { Evaluation } from '../src/store/columns/evaluate/evaluation.ts'
import { Evaluator } from '../src/store/columns/evaluate/evaluator.ts'
import { DistinctPairs } from '../src/store/columns/evaluate/groups/distinct-pairs.ts'
import { KeyedGroups } from '../src/store/columns/evaluate/groups/keyed-groups.ts'
import { Batch } from '../src/store/columns/evaluate/vectors/batch.ts'
import { PoolDomain } from '../src/store/columns/evaluate/vectors/pool-domain.ts'
import { withScratch } from '../src/store/columns/evaluate/vectors/scratch.ts'
import { termAt } from '../src/store/columns/evaluate/vectors/vector.ts'
import { columnsOfText } from './support/columns.ts'
import { between, chance, startFrom } from './support/random.ts'
import { seedOf } from './support/seed.ts'

/** Terms are counted once in each group, whatever graphs and columns they come from. */
const seed = seedOf()
startFrom(seed)

const evaluationOf = (...defaultGraphs: ReturnType<typeof columnsOfText>[]) =>
  new Evaluation({ defaultGraphs, namedGraphs: new Map() })

t.test('groups of terms that come batch by batch do not copy all groups for each batch', t => {
  const evaluation = evaluationOf()
  const groups = new KeyedGroups(['k'], evaluation)
  const domain = new PoolDomain()
  let copies = 0
  evaluation.allocate = () => {
    copies++
  }
  for (let batch = 0; batch < 200; batch++) {
    const ids = Uint32Array.from({ length: 100 }, (_, at) =>
      domain.intern({ type: 'iri', value: `urn:${100 * batch + at}` }),
    )
    const numbers = groups.assign(new Batch(ids.length, new Map([['k', { type: 'ids', domain, ids }]])))
    t.equal(numbers[99], 100 * batch + 99)
  }
  t.ok(copies < 60, `${copies} copies for 200 batches`)
  t.end()
})

t.test('pairs are new once: bits, a table and what has no place in an array', t => {
  for (const { terms, groups, steps } of [
    { terms: 50, groups: [3, 40], steps: 200 },
    { terms: 3000, groups: [100, 2500, 2600], steps: 3000 },
    { terms: 40_000, groups: [90, 1000, 1600, 4000], steps: 4000 },
    { terms: 1_000_000, groups: [2, 30, 70, 400], steps: 3000 },
  ]) {
    const pairs = new DistinctPairs(evaluationOf())
    const expected = new Set<string>()
    const counts = new Float64Array(5000)
    const expectedCounts = new Float64Array(5000)
    for (const [step, count] of groups.entries()) {
      const rows = Array.from({ length: steps }, () => [between(0, count - 1), between(0, terms)] as const)
      const [some, ids] = [Uint32Array.from(rows, row => row[0]), Uint32Array.from(rows, row => row[1])]
      const isNew = rows.map(([group, id]) => {
        const before = expected.size
        return id > 0 && expected.add(`${group} ${id}`).size > before
      })
      pairs.prepare(count, terms)
      if (step % 2 === 0) {
        pairs.countNew(some, ids, { count, terms }, counts)
        for (const [row, [group]] of rows.entries())
          if (isNew[row]) expectedCounts[group] = (expectedCounts[group] as number) + 1
      } else {
        const found: number[] = []
        pairs.forNew(some, ids, row => found.push(row))
        t.same(
          found,
          rows.flatMap((_, row) => (isNew[row] ? [row] : [])),
          `${terms} terms, ${count} groups`,
        )
      }
    }
    t.same(counts, expectedCounts, `${terms} terms`)
    const all = Array.from(pairs.pairs(null), pair => pair.join(' '))
    t.same(all.sort(), Array.from(expected).sort(), `pairs of ${terms} terms`)
    const some = new Set([0, 1, groups[0] as number])
    t.same(
      Array.from(pairs.pairs(some), pair => pair.join(' ')).sort(),
      Array.from(expected)
        .filter(pair => some.has(Number(pair.split(' ')[0])))
        .sort(),
      `pairs of some groups of ${terms} terms`,
    )
  }
  t.end()
})

interface Triple {
  readonly subject: string
  readonly predicate: string
  readonly object: string
}

/** Graphs that have some subjects and some values in common. */
function randomGraphs(subjects: number): readonly (readonly Triple[])[] {
  const pick = <Value>(values: readonly Value[]): Value => values[between(0, values.length - 1)] as Value
  const objects = (at: number) => [`"${at % 70}"`, `"${at % 9}"@en`, `<urn:s:${at % 90}>`, String(at % 50)]
  return Array.from({ length: 3 }, (_, graph) =>
    Array.from({ length: 3 * subjects }, () => {
      const subject = between(0, subjects - 1)
      const object = pick(objects(between(0, subjects - 1)))
      return {
        subject: chance(0.7) ? `urn:s:${subject}` : `urn:s${graph}:${subject}`,
        predicate: `urn:p:${between(0, 4)}`,
        object: /^\d/.test(object) ? `"${object}"^^<http://www.w3.org/2001/XMLSchema#integer>` : object,
      }
    }),
  )
}

for (const subjects of [60, 6000])
  t.test(`values of several graphs, ${subjects} subjects`, t => {
    const graphs = randomGraphs(subjects)
    const columns = graphs.map(triples =>
      columnsOfText(
        triples.map(({ subject, predicate, object }) => `<${subject}> <${predicate}> ${object} .\n`).join(''),
      ),
    )
    const evaluation = evaluationOf(...columns)
    for (const [key, value] of [
      ['subject', 'object'],
      ['predicate', 'object'],
      ['predicate', 'subject'],
      ['object', 'subject'],
      ['object', 'predicate'],
    ] as const) {
      const values = new Map<string, Set<string>>()
      for (const triple of graphs.flat()) {
        const name = key === 'object' ? triple.object : `<${triple[key]}>`
        values.set(name, (values.get(name) ?? new Set<string>()).add(triple[value]))
      }
      const sizes = Array.from(values, ([name, { size }]) => `${name} ${size}`)
      t.same(counted(evaluation, key, value).sort(), sizes.sort(), `${value} by ${key}, seed ${seed}`)
    }
    t.end()
  })

/** Lines of a key and how many different values it has. */
function counted(evaluation: Evaluation, key: string, value: string): string[] {
  const text = `SELECT ?${key} (COUNT(DISTINCT ?${value}) AS ?n) { ?subject ?predicate ?object } GROUP BY ?${key}`
  const { query } = parseQuery(text, 'urn:base')
  if (query.type !== 'select') throw new Error('a SELECT')
  return withScratch(() => {
    const lines: string[] = []
    for (const batch of new Evaluator(evaluation).solutions(query.input))
      for (let row = 0; row < batch.size; row++) {
        const [name, n] = [key, 'n'].map(variable => {
          const vector = batch.get(variable)
          return vector === undefined ? null : termAt(vector, row)
        })
        lines.push(`${name ? termText(name) : ''} ${n?.value}`)
      }
    return lines
  })
}
