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
import { termAt, type Vector } from '../src/store/columns/evaluate/vectors/vector.ts'
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

/** Articles by persons, of whom some have written much, and some have a name in common. */
function articles() {
  const lines: string[] = []
  for (let person = 0; person < 60; person++)
    if (person % 7 !== 3) lines.push(`<urn:p${person}> <urn:name> "n${person >> 1}" .\n`)
  for (let article = 0; article < 200; article++) {
    const number = `"${article % 40}"^^<http://www.w3.org/2001/XMLSchema#integer>`
    lines.push(
      `<urn:a${article}> <urn:year> ${number} .\n<urn:a${article}> <urn:in> <urn:j${article % 9}> .\n`,
    )
    const authors = new Set(Array.from({ length: between(1, 4) }, () => (between(0, 9) * between(0, 9)) % 60))
    for (const person of authors) lines.push(`<urn:a${article}> <urn:by> <urn:p${person}> .\n`)
  }
  const columns = columnsOfText(lines.join(''))
  return { defaultGraphs: [columns], namedGraphs: new Map([['urn:g', [columns]]]) }
}

const BY = '?a <urn:by> ?p . ?b <urn:by> ?p .'

/** Groups with the variables that are selected; and how often fewer rows are read where others are dropped on the way. */
const MULTIPLIED: readonly (readonly [variables: string, group: string, fewer?: number])[] = [
  ['?q', `${BY} ?b <urn:by> ?q`, 4],
  ['?p ?n', `${BY} ?b <urn:in> <urn:j1> . ?a <urn:in> <urn:j2> . ?p <urn:name> ?n`, 2],
  ['?n ?y', `${BY} ?p <urn:name> ?n . ?b <urn:year> ?y`, 4],
  ['?p ?n', '?a <urn:by> ?p . ?p <urn:name> ?n . ?b <urn:by> ?q . ?q <urn:name> ?m FILTER(?n = ?m)', 4],
  ['?p', `${BY} ?b <urn:year> ?y . ?a <urn:year> ?z FILTER(?y < ?z)`],
  ['?p ?m', `${BY} OPTIONAL { ?p <urn:name> ?n } BIND(COALESCE(?n, "none") AS ?m)`, 3],
  ['?n', `?a <urn:by> ?p OPTIONAL { ?p <urn:name> ?n } ?b <urn:by> ?p ; <urn:year> 7`],
  ['?n', `${BY} ?b <urn:by> ?q . ?q <urn:name> ?n MINUS { ?p <urn:name> "n1" }`],
  ['?q', `{ ${BY} ?b <urn:by> ?q } UNION { ?q <urn:by> ?p . ?b <urn:by> ?p }`],
  ['?n', `GRAPH ?g { ${BY} ?p <urn:name> ?n }`, 3],
  ['?n', `VALUES ?a { <urn:a1> <urn:a2> } ${BY} ?b <urn:by> ?q . ?q <urn:name> ?n`],
  ['?n', `${BY} ?b <urn:by>/<urn:name> ?n FILTER(?p != <urn:p0>)`],
  ['?q', `{ SELECT ?b ?p { ${BY} } LIMIT 400 } ?b <urn:by> ?q`],
  ['?p', `${BY} ?b <urn:by> ?q FILTER(RAND() < 2)`],
  ['?p', `${BY} ?b <urn:by> ?q FILTER NOT EXISTS { ?b <urn:year> 3 }`],
  ['?p ?n', '?a <urn:by> ?p . ?c <urn:in> <urn:j1> . ?p <urn:name> ?n', 3],
]

t.test('of what nothing reads any more, solutions are not multiplied', t => {
  const dataset = articles()
  const read = (text: string) => {
    const evaluation = new Evaluation(dataset)
    const advance = t.capture(evaluation, 'advance', evaluation.advance)
    const rows: string[] = []
    withScratch(() => {
      for (const batch of new Evaluator(evaluation).solutions(parseQuery(text).query.input))
        for (let row = 0; row < batch.size; row++)
          rows.push(
            batch.variables
              .map(name => `${name} ${JSON.stringify(termAt(batch.get(name) as Vector, row))}`)
              .sort()
              .join(' '),
          )
    })
    return { rows, read: advance().reduce((sum, { args: [some] }) => sum + some, 0) }
  }
  for (const [variables, group, fewer = 0] of MULTIPLIED) {
    const all = read(`SELECT ${variables} { ${group} }`)
    const distinct = read(`SELECT DISTINCT ${variables} { ${group} }`)
    t.ok(all.rows.length > 2 * distinct.rows.length, `${all.rows.length} solutions: ${group}`)
    t.strictSame(distinct.rows.sort(), [...new Set(all.rows)].sort(), group)
    t.ok(distinct.read * fewer < all.read || fewer === 0, `${distinct.read} of ${all.read} rows are read`)
  }
  t.end()
})

t.test('aggregates of sets are those of all solutions', t => {
  const { defaultGraphs } = articles()
  const rows = (text: string) => {
    const found: string[] = []
    withScratch(() => {
      const evaluation = new Evaluation({ defaultGraphs, namedGraphs: new Map() })
      for (const batch of new Evaluator(evaluation).solutions(parseQuery(text).query.input))
        for (let row = 0; row < batch.size; row++)
          found.push(
            ['p', 'least', 'most', 'n']
              .map(name => JSON.stringify(batch.has(name) ? termAt(batch.get(name) as Vector, row) : null))
              .join(' '),
          )
    })
    return found.sort()
  }
  const figures = '(MIN(?y) AS ?least) (MAX(?y + 1) AS ?most) (COUNT(DISTINCT ?q) AS ?n)'
  const group = `{ ${BY} ?b <urn:by> ?q OPTIONAL { ?q <urn:name> ?m } ?a <urn:year> ?y }`
  for (const [selected, by] of [
    ['?p', 'GROUP BY ?p'],
    ['', ''],
  ] as const) {
    const found = rows(`SELECT ${selected} ${figures} ${group} ${by}`)
    t.ok(found.length > 0)
    // What counts solutions needs all of them.
    t.strictSame(found, rows(`SELECT ${selected} ${figures} (COUNT(*) AS ?all) ${group} ${by}`))
  }
  t.end()
})
