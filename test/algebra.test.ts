import t from 'tap'
import { memoised } from '../src/model/memoised.ts'
import { termText } from '../src/rdf/ntriples.ts'
import { parseTriples } from '../src/rdf/ntriples-reader.ts'
import { XSD } from '../src/rdf/vocab.ts'
import type { QueryOperation } from '../src/sparql/algebra.ts'
import { withBoundConstants } from '../src/sparql/bound-constants.ts'
import { parseQuery } from '../src/sparql/parse.ts'
import { Evaluation } from '../src/store/columns/evaluate/evaluation.ts'
import { Evaluator } from '../src/store/columns/evaluate/evaluator.ts'
import { Reach } from '../src/store/columns/evaluate/patterns/path-reach.ts'
import { PairMap } from '../src/store/columns/evaluate/vectors/pair-map.ts'
import { withScratch } from '../src/store/columns/evaluate/vectors/scratch.ts'
import type { TermValue } from '../src/store/columns/evaluate/vectors/value.ts'
import { BASE, byColumns, byEngine, difference, makeSample } from './support/algebra-answers.ts'
import { makeOddGraph } from './support/algebra-generator.ts'
import { columnsOfText } from './support/columns.ts'
import { startFrom } from './support/random.ts'
import { seedOf } from './support/seed.ts'

/** Queries over columns: what a plan must find, whatever way it takes (test/random-algebra.test.ts has those at random). */
const seed = seedOf()

t.test(`columns give back the triples that they are made of, seed ${seed}`, t => {
  for (let number = 0; number < 200; number++) {
    startFrom(seed * 1_000_033 + number)
    const lines = [
      ...new Set(
        makeOddGraph().map(({ subject, predicate, object }) =>
          [termText(subject), termText(predicate), termText(object), '.\n'].join(' '),
        ),
      ),
    ]
    const columns = columnsOfText(lines.join(''))
    const found = [...columns.lines()].join('')
    if (found.split('\n').sort().join('\n') !== lines.join('').split('\n').sort().join('\n'))
      t.same(found.split('\n').sort(), lines.join('').split('\n').sort(), `graph ${number}`)
    for (const line of lines) {
      const [triple] = parseTriples(line)
      if (triple === undefined) continue
      const column = columns.column(triple.predicate.value)
      if (columns.subjectOf(triple.subject) < 0 || (column?.dictionary.find(triple.object) ?? 0) === 0)
        t.fail(`graph ${number}: a term of ${line} is not found`)
    }
  }
  t.end()
})

t.test('conditions hold of values that a query makes as it goes on', t => {
  const graphs = [0, 1, 2].map(graph => {
    const lines = Array.from(
      { length: 200 },
      (_, at) => `<urn:s${graph}> <urn:q> "${1000 * graph + at}"^^<${XSD.integer}> .\n`,
    )
    return `<urn:s${graph}> <urn:p> "x" .\n${lines.join('')}`
  })
  const dataset = { defaultGraphs: graphs.map(columnsOfText), namedGraphs: new Map() }
  const rows = (condition: string) => {
    const text = `SELECT ?a ?n { ?s <urn:p> ?d . ?s <urn:q>? ?a FILTER(${condition}) BIND(?a + 1 AS ?n) }`
    return byColumns({ text, order: [] }, dataset)
  }
  t.equal(rows('isNumeric(?a)').length, 600)
  t.equal(rows('!(isIRI(?a))').length, 600)
  t.equal(rows('isIRI(?a)').length, 3)
  t.equal(rows('?a >= 2000').filter(({ n }) => n !== undefined).length, 200)
  t.end()
})

t.test('the first rows of an order of computed terms are those of the whole order', t => {
  const words = ['Alpha', 'alpha', 'Beta', 'bETA', 'gamma', 'Delta', '\u00e9t\u00e9', '\u{1f600}', '\uff5e']
  const lines = Array.from({ length: 700 }, (_, at) => {
    const text = at % 11 === 0 ? '' : `<urn:s${at}> <urn:t> "${words[at % 9]}${at % 5 === 0 ? at : ''}" .\n`
    return `<urn:s${at}> <urn:n> "${(at * 37) % 100}"^^<${XSD.integer}> .\n${text}`
  })
  const dataset = { defaultGraphs: [columnsOfText(lines.join(''))], namedGraphs: new Map() }
  for (const key of [
    'UCASE(?t)',
    'DESC(LCASE(?t))',
    'UCASE(SUBSTR(?t, 1, 2)) DESC(?n)',
    'CONCAT(?t, STR(?n))',
  ])
    for (const [offset, limit] of [
      [0, 1],
      [0, 7],
      [5, 20],
      [60, 10],
      [30, 2],
    ] as const) {
      const ask = (slice: string) => {
        const text = `SELECT * { ?s <urn:n> ?n OPTIONAL { ?s <urn:t> ?t } } ORDER BY ${key} ?s ${slice}`
        return byColumns({ text, order: [] }, dataset)
      }
      t.same(
        ask(`OFFSET ${offset} LIMIT ${limit}`),
        ask('').slice(offset, offset + limit),
        `${key} ${offset} ${limit}`,
      )
    }
  t.end()
})

t.test('solutions without a value are where BOUND puts them in an order', t => {
  const keys: readonly (readonly [key: string, direction: 1 | -1, absent: 1 | -1])[] = [
    ['ASC(?k)', 1, -1],
    ['DESC(?k)', -1, 1],
    ['(!BOUND(?k)) ASC(?k)', 1, 1],
    ['(!BOUND(?k)) DESC(?k)', -1, 1],
    ['BOUND(?k) DESC(?k)', -1, -1],
    ['DESC(BOUND(?k)) ?k', 1, 1],
    ['DESC(!BOUND(?k)) DESC(?k)', -1, -1],
  ]
  for (const { size, numbers, values } of [
    { size: 900, numbers: 101, values: ['?n', '?n * 3', '?n / 8', 'STR(?n + 1000)'] },
    // So many values are first counted by their ranges.
    { size: 30_000, numbers: 12_007, values: ['?n', '?n * 3'] },
  ]) {
    const numberOf = (at: number) => (at % 7 === 3 ? null : (at * 37) % numbers)
    const lines = Array.from({ length: size }, (_, at) => {
      const number = numberOf(at)
      const given = number === null ? '' : `<urn:s${at}> <urn:n> "${number}"^^<${XSD.integer}> .\n`
      return `<urn:s${at}> <urn:at> "${at}"^^<${XSD.integer}> .\n${given}`
    })
    const dataset = { defaultGraphs: [columnsOfText(lines.join(''))], namedGraphs: new Map() }
    const pattern = '{ ?s <urn:at> ?at OPTIONAL { ?s <urn:n> ?n } BIND(%% AS ?k) }'
    for (const [key, direction, absent] of keys) {
      const expected = Array.from({ length: size }, (_, at) => at).sort((a, b) => {
        const [left, right] = [numberOf(a), numberOf(b)]
        if (left === null || right === null)
          return absent * (Number(left === null) - Number(right === null)) || a - b
        return direction * (left - right) || a - b
      })
      for (const value of values)
        for (const [offset, limit] of [
          [0, 900] as const,
          [0, 10] as const,
          [125, 10] as const,
          [size >> 1, 700] as const,
          [size - 135, 20] as const,
        ]) {
          const text = `SELECT ?at ${pattern.replace('%%', value)} ORDER BY ${key} ?at OFFSET ${offset} LIMIT ${limit}`
          const found = byColumns({ text, order: [] }, dataset).map(({ at }) => Number.parseInt(at ?? '', 10))
          t.strictSame(found, expected.slice(offset, offset + limit), `${value} ${key} ${offset} ${limit}`)
        }
    }
  }
  t.end()
})

t.test('what is read of several columns is worked out once for each combination', t => {
  const size = 2000
  const [left, right] = [(at: number) => (at % 7 === 6 ? null : at % 7), (at: number) => at % 3]
  const lines = Array.from({ length: size }, (_, at) => {
    const given = left(at) === null ? '' : `<urn:s${at}> <urn:l> "l${left(at)}" .\n`
    return `${given}<urn:s${at}> <urn:r> "${right(at)}"^^<${XSD.integer}> .\n`
  })
  const dataset = { defaultGraphs: [columnsOfText(lines.join(''))], namedGraphs: new Map() }
  const pattern = '?s <urn:r> ?r OPTIONAL { ?s <urn:l> ?l }'
  const expected = new Map<string, number>()
  for (let at = 0; at < size; at++) {
    const key = left(at) === null ? 'none' : `l${left(at)}-${right(at)}`
    expected.set(key, (expected.get(key) ?? 0) + 1)
  }
  const keyed = `SELECT ?k (COUNT(*) AS ?n) { ${pattern} BIND(CONCAT(?l, "-", STR(?r)) AS ?k) } GROUP BY ?k`
  const groups = byColumns({ text: keyed, order: [] }, dataset).map(({ k, n }) => [
    k === undefined ? 'none' : JSON.parse(k.replace(/ string$/, ''))[0],
    Number.parseInt(n ?? '', 10),
  ])
  t.strictSame(groups.sort(), [...expected].sort())
  // What one makes is numbered after what those before it have made.
  const made = ['UCASE(STR(?r))', 'CONCAT("b", STR(?r))', 'CONCAT("c", STR(?r))'].map(
    (value, at) => `BIND(${value} AS ?m${at})`,
  )
  const joined = `${pattern} ${made.join(' ')} BIND(CONCAT(?m0, ?m1, ?m2) AS ?k)`
  const ofMade = byColumns({ text: `SELECT DISTINCT ?k { ${joined} }`, order: [] }, dataset)
  t.same(ofMade.map(({ k }) => JSON.parse(k?.replace(/ string$/, '') ?? '[]')[0]).sort(), [
    '0b0c0',
    '1b1c1',
    '2b2c2',
  ])
  for (const [condition, holds] of [
    ['STRENDS(?l, STR(?r))', (at: number) => left(at) !== null && left(at) === right(at)],
    ['!STRENDS(?l, STR(?r))', (at: number) => left(at) !== null && left(at) !== right(at)],
    ['STRENDS(?l, STR(?r)) || ?r = 2', (at: number) => left(at) === right(at) || right(at) === 2],
  ] as const) {
    const text = `SELECT ?s { ${pattern} FILTER(${condition}) }`
    const rows = Array.from({ length: size }, (_, at) => at).filter(holds)
    t.equal(byColumns({ text, order: [] }, dataset).length, rows.length, condition)
  }
  t.end()
})

t.test('texts are in the order of a case though their beginnings are compared first', t => {
  const words = [
    'Aaaaaab',
    'aaaaaaB',
    'AAAAAAA',
    '\u00e9t\u00e9',
    '\u00c9T',
    'zzzz\u{1f600}',
    'ZZZZ\uff5e',
    'Zz',
    'stra\u00dfe',
    'b',
  ]
  const texts = Array.from(
    { length: 3000 },
    (_, at) => `${words[at % 10]}${at % 9 === 0 ? '' : (at * 7919) % 3000}`,
  )
  const lines = texts.map(
    (text, at) =>
      (at % 13 === 5 ? '' : `<urn:s${at}> <urn:t> "${text}" .\n`) +
      `<urn:s${at}> <urn:n> "${at}"^^<${XSD.integer}> .\n`,
  )
  const dataset = { defaultGraphs: [columnsOfText(lines.join(''))], namedGraphs: new Map() }
  const points = (text: string) => [...text].map(each => each.codePointAt(0) as number)
  const compared = (a: string, b: string) => {
    const [left, right] = [points(a), points(b)]
    const at = left.findIndex((point, place) => point !== right[place])
    return at < 0 ? left.length - right.length : (left[at] as number) - (right[at] ?? -1)
  }
  for (const [name, map] of [
    ['LCASE', (text: string) => text.toLowerCase()],
    ['UCASE', (text: string) => text.toUpperCase()],
  ] as const)
    for (const sign of [1, -1]) {
      const order = Array.from({ length: 3000 }, (_, at) => at).sort((a, b) => {
        const [isLeft, isRight] = [a % 13 !== 5, b % 13 !== 5]
        if (!isLeft || !isRight) return sign * (Number(isLeft) - Number(isRight)) || a - b
        return sign * compared(map(texts[a] as string), map(texts[b] as string)) || a - b
      })
      for (const [offset, limit] of [
        [0, 1],
        [0, 20],
        [200, 15],
        [1500, 10],
        [2990, 10],
      ] as const)
        for (const bound of [`BIND(${name}(?t) AS ?k)`, '']) {
          const key = `${sign === 1 ? 'ASC' : 'DESC'}(${bound === '' ? `${name}(STR(?t))` : '?k'})`
          const text = `SELECT ?n { ?s <urn:n> ?n OPTIONAL { ?s <urn:t> ?t } ${bound} } ORDER BY ${key} ?n OFFSET ${offset} LIMIT ${limit}`
          const found = byColumns({ text, order: [] }, dataset).map(({ n }) => Number.parseInt(n ?? '', 10))
          t.strictSame(found, order.slice(offset, offset + limit), `${key} ${offset} ${limit}`)
        }
    }
  t.end()
})

t.test('rows are counted by terms that a query makes as it goes on', t => {
  const triple = (predicate: string, value: string, type: string) =>
    `<urn:s> <urn:${predicate}> "${value}"^^<${type}> .\n`
  const columns = columnsOfText(
    [1, 2, 3].map(value => triple('p', String(value), XSD.integer)).join('') +
      [1, 2].map(value => triple('q', `${value}.5`, XSD.decimal)).join('') +
      triple('r', '1.5E0', XSD.double),
  )
  const rows = (keys: string) => {
    const text = `SELECT (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ${keys}`
    const found = byColumns({ text, order: [] }, { defaultGraphs: [columns], namedGraphs: new Map() })
    return found.map(({ n }) => n?.replace(' integer', '')).sort()
  }
  t.same(rows('(DATATYPE(?o) AS ?d)'), ['1', '2', '3'])
  t.same(rows('(DATATYPE(?o) AS ?d) (STR(?o) AS ?t)'), ['1', '1', '1', '1', '1', '1'])
  t.same(rows('?s (DATATYPE(?o) AS ?d)'), ['1', '2', '3'])
  const figures = (keys: string) => {
    const text = `SELECT (SUM(?o) AS ?sum) (MAX(?o) AS ?most) (COUNT(*) AS ?n) (COUNT(DISTINCT ?p) AS ?c) { ?s ?p ?o } GROUP BY ${keys}`
    const found = byColumns({ text, order: [] }, { defaultGraphs: [columns], namedGraphs: new Map() })
    return found.map(({ sum, most, n, c }) => [sum, most, n, c].join(', ')).sort()
  }
  const expected = [
    '1.5 double, 1.5 double, 1 integer, 1 integer',
    '4 decimal, 2.5 decimal, 2 integer, 1 integer',
    '6 integer, 3 integer, 3 integer, 1 integer',
  ]
  t.same(figures('(DATATYPE(?o) AS ?d)'), expected)
  t.same(figures('(DATATYPE(?o) AS ?d) ?s'), expected)
  t.same(figures('?p (DATATYPE(?o) AS ?d) ?s'), expected)
  t.end()
})

t.test('what is told apart in one graph is told apart from what others have', t => {
  const graphs = [2, 0, 0].map((value, graph) =>
    columnsOfText(
      `<urn:a${graph}> <urn:p> "${value}"^^<${XSD.double}> .\n<urn:b${graph}> <urn:q> "x" .\n<urn:b${graph}> <urn:q> "y" .\n`,
    ),
  )
  const text =
    'SELECT (AVG(DISTINCT ?d) AS ?mean) (GROUP_CONCAT(DISTINCT ?d) AS ?all) (COUNT(DISTINCT ?d) AS ?n) { ?a <urn:p> ?d . ?b <urn:q> ?x }'
  const [row] = byColumns({ text, order: [] }, { defaultGraphs: graphs, namedGraphs: new Map() })
  t.strictSame(row, { mean: '1 double', all: '["2 0","string",""]', n: '2 integer' })
  t.end()
})

t.test('sums and extremes of selected rows, of more numbers than a dictionary has at hand', t => {
  // More than 2^17 different numbers, one for each subject; some subjects have no group.
  const size = 140_000
  const numberOf = (at: number) => (at * 48_271) % 2_000_003
  const lines: string[] = []
  for (let at = 0; at < size; at++) {
    lines.push(`<urn:s${at}> <urn:n> "${numberOf(at)}"^^<${XSD.integer}> .\n`)
    if (at % 89 !== 0) lines.push(`<urn:s${at}> <urn:g> "g${at % 5}" .\n`)
  }
  const dataset = { defaultGraphs: [columnsOfText(lines.join(''))], namedGraphs: new Map() }
  for (const least of [-1, 700_000, 1_999_000]) {
    const groups = new Map<string, number[]>()
    for (let at = 0; at < size; at++)
      if (at % 89 !== 0 && numberOf(at) > least) memoised(groups, `g${at % 5}`, () => []).push(numberOf(at))
    const text = `SELECT ?g (SUM(?n) AS ?sum) (MIN(?n) AS ?low) (MAX(?n) AS ?high) {
      ?s <urn:g> ?g ; <urn:n> ?n FILTER(?n > ${least}) } GROUP BY ?g`
    const found = byColumns({ text, order: [] }, dataset).map(row => [
      JSON.parse(row.g ?? '')[0],
      ...[row.sum, row.low, row.high].map(Number.parseFloat as (text?: string) => number),
    ])
    const expected = [...groups].map(([group, numbers]) => [
      group,
      numbers.reduce((sum, number) => sum + number, 0),
      Math.min(...numbers),
      Math.max(...numbers),
    ])
    t.strictSame(found.sort(), expected.sort(), `above ${least}`)
  }
  t.end()
})

t.test('a negated set gives a solution for each triple, whatever is known of its ends', t => {
  const lines = ['a p a', 'a p b', 'a q a', 'a q b', 'a r a', 'c p b'].map(
    line => `${line.replace(/\w/g, '<urn:$&>')} .\n`,
  )
  const dataset = { defaultGraphs: [columnsOfText(lines.join(''))], namedGraphs: new Map() }
  const rows: readonly (readonly [pattern: string, solutions: number])[] = [
    ['?a !(<urn:r>|<urn:z>) ?a', 2],
    ['?a !(<urn:r>|<urn:z>) ?b', 5],
    ['<urn:a> !(<urn:r>|<urn:z>) <urn:b>', 2],
    ['?a <urn:r> ?c . ?a !(<urn:r>|<urn:z>) ?a', 2],
    ['?c <urn:p> ?b . <urn:a> !(<urn:r>|<urn:z>) ?b', 6],
  ]
  for (const [pattern, solutions] of rows)
    t.equal(byColumns({ text: `SELECT * { ${pattern} }`, order: [] }, dataset).length, solutions, pattern)
  t.end()
})

t.test('COUNT(DISTINCT *) does not tell blank nodes and the middles of paths apart', t => {
  const lines = ['a p x', 'a p y', 'b p x', 'x q z', 'y q z'].map(
    line => `${line.replace(/\w/g, '<urn:$&>')} .\n`,
  )
  const dataset = { defaultGraphs: [columnsOfText(lines.join(''))], namedGraphs: new Map() }
  const rows: readonly (readonly [group: string, counts: readonly string[]])[] = [
    ['{ ?s <urn:p> _:b }', ['2']],
    ['{ ?s <urn:p> [ <urn:q> ?o ] }', ['2']],
    ['{ ?s <urn:p>/<urn:q> ?o }', ['2']],
    ['{ { ?s <urn:p> [] } UNION { ?s <urn:p>/<urn:q> ?o } }', ['4']],
    ['{ ?s <urn:p>/<urn:q> ?o } GROUP BY ?s', ['1', '1']],
    ['{ ?s <urn:p>/<urn:q> ?o } GROUP BY (STRLEN(STR(?s)))', ['2']],
    ['{ { SELECT ?s (COUNT(*) AS ?c) { ?s <urn:p> [] } GROUP BY ?s } ?s <urn:p> [] }', ['2']],
    ['{ ?s <urn:p> ?x }', ['3']],
  ]
  for (const [group, counts] of rows) {
    const found = byColumns({ text: `SELECT (COUNT(DISTINCT *) AS ?n) ${group}`, order: [] }, dataset)
    t.same(found.map(({ n }) => n?.replace(' integer', '')).sort(), counts, group)
  }
  t.end()
})

t.test('a path of no length goes from a term to itself, also where no triple has it', t => {
  const dataset = { defaultGraphs: [columnsOfText('<urn:a> <urn:p> <urn:b> .\n')], namedGraphs: new Map() }
  const rows: readonly (readonly [pattern: string, ends: readonly string[]])[] = [
    ['?a <urn:p>* <urn:none>', ['iri urn:none']],
    ['?x <urn:p> ?y . ?a <urn:q>? <urn:none>', ['iri urn:none']],
    ['?a <urn:p>* <urn:b>', ['iri urn:a', 'iri urn:b']],
    ['?a <urn:p>+ <urn:none>', []],
    ['?a (<urn:p>*)+ <urn:none>', ['iri urn:none']],
    ['?a (^(<urn:p>?|<urn:q>))+ <urn:none>', ['iri urn:none']],
    ['<urn:b> (<urn:p>?)+ ?a', ['iri urn:b']],
    ['<urn:none> (<urn:p>/<urn:p>*)+ ?a', []],
  ]
  for (const [pattern, ends] of rows) {
    const found = byColumns({ text: `SELECT ?a { ${pattern} }`, order: [] }, dataset)
    t.same(found.map(({ a }) => a).sort(), ends, pattern)
  }
  t.end()
})

t.test('each branch of a group in EXISTS reads the values of the solution outside', t => {
  const lines = ['s1 d 1', 's2 d 2', 's1 t 1', 's2 t 1', 's1 e 7'].map(line => {
    const [subject, predicate, value] = line.split(' ')
    return `<urn:${subject}> <urn:${predicate}> "${value}"^^<${XSD.integer}> .\n`
  })
  const dataset = { defaultGraphs: [columnsOfText(lines.join(''))], namedGraphs: new Map() }
  const rows: readonly (readonly [group: string, solutions: number])[] = [
    ['{ ?b <urn:none> ?c } UNION { FILTER(BOUND(?b)) }', 2],
    ['{ ?b <urn:none> ?c } UNION { FILTER(?c = 1) }', 1],
    ['{ ?b <urn:none> ?c } UNION { ?x <urn:t> ?y FILTER(?c = ?y) }', 1],
    ['?x <urn:t> ?y { ?b <urn:none> ?c } UNION { FILTER(?c > ?y) }', 0],
    ['OPTIONAL { ?b <urn:e> ?d } FILTER(!BOUND(?d))', 1],
    ['OPTIONAL { ?b <urn:e> ?d } FILTER(COALESCE(?d, ?c) = ?c)', 1],
    ['{ OPTIONAL { ?b <urn:e> ?d } } UNION { ?b <urn:none> ?d } FILTER(!BOUND(?d))', 1],
    ['OPTIONAL { ?b <urn:d> ?c OPTIONAL { ?b <urn:e> ?d } } FILTER(!BOUND(?d))', 1],
  ]
  for (const [group, solutions] of rows) {
    const text = `SELECT * { ?b <urn:d> ?c FILTER EXISTS { ${group} } }`
    t.equal(byColumns({ text, order: [] }, dataset).length, solutions, group)
  }
  t.end()
})

t.test('pairs of many rows are made a part at a time, in the same memory', t => {
  const size = 1500
  const numberOf = (at: number) => (at * 7919) % 1009
  const lines = Array.from(
    { length: size },
    (_, at) =>
      `<urn:s${at}> <urn:n> "${numberOf(at)}"^^<${XSD.integer}> ; <urn:t> "t${numberOf(at) % 10}" ; <urn:g> "${at % 3}" .\n`,
  )
  const text = lines.join('').replace(/(<urn:s\d+>)( [^;]+) ;([^;]+) ;([^.]+) \./g, '$1$2 .\n$1$3 .\n$1$4 .')
  const dataset = { defaultGraphs: [columnsOfText(text)], namedGraphs: new Map() }
  const pairs = (holds: (a: number, b: number) => boolean) => {
    let [count, sum] = [0, 0]
    for (let a = 0; a < size; a++)
      for (let b = 0; b < size; b++)
        if (holds(a, b)) {
          count += 1
          sum += numberOf(a)
        }
    return { n: `${count} integer`, sum: `${sum} integer` }
  }
  const [left, right] = ['?x <urn:n> ?a ; <urn:g> ?g .', '?y <urn:n> ?b']
  const rows: readonly (readonly [group: string, holds: (a: number, b: number) => boolean])[] = [
    [`${left} ${right} FILTER(?a + ?b = 77)`, (a, b) => numberOf(a) + numberOf(b) === 77],
    [`${left} ${right} FILTER(?a * 1e0 + ?b < 9)`, (a, b) => numberOf(a) + numberOf(b) < 9],
    [`${left} ${right} FILTER(?a - ?b > 3)`, (a, b) => numberOf(a) - numberOf(b) > 3],
    [
      `${left} ?y <urn:n> ?b ; <urn:t> ?t FILTER(CONTAINS(CONCAT(?t, STR(?b)), CONCAT("1", STR(?a))))`,
      (a, b) => `t${numberOf(b) % 10}${numberOf(b)}`.includes(`1${numberOf(a)}`),
    ],
    [
      `${left} ?y <urn:g> ?g ; <urn:n> ?b FILTER(?a + ?b = 77)`,
      (a, b) => a % 3 === b % 3 && numberOf(a) + numberOf(b) === 77,
    ],
    [`${left} ?y <urn:g> ?g`, (a, b) => a % 3 === b % 3],
    [
      `${left} BIND(?a + 1 AS ?c) ?y <urn:g> ?g ; <urn:n> ?b FILTER(?c = ?b)`,
      (a, b) => a % 3 === b % 3 && numberOf(a) + 1 === numberOf(b),
    ],
  ]
  for (const [group, holds] of rows) {
    const query = `SELECT (COUNT(*) AS ?n) (SUM(?a) AS ?sum) { ${group} }`
    const [found] = byColumns({ text: query, order: [] }, dataset)
    t.same(found, pairs(holds), group)
  }
  t.end()
})

t.test('a path is followed from many nodes together, and begins where a step of it does', t => {
  const size = 3000
  const line = (from: number, to: number) => `<urn:n${from}> <urn:p> <urn:n${to}> .\n`
  const chains = Array.from({ length: size }, (_, at) => [
    line(at, size + at),
    line(size + at, 2 * size + at),
    line(2 * size + at, 3 * size + at),
  ])
  const dataset = { defaultGraphs: [columnsOfText(chains.flat().join(''))], namedGraphs: new Map() }
  for (const [path, count] of [
    ['<urn:p>+', 6 * size],
    ['(<urn:p>|^<urn:p>)+', 16 * size],
    ['<urn:p>*', 10 * size],
    ['(<urn:p>/<urn:p>)+', 2 * size],
  ] as const) {
    const [row] = byColumns({ text: `SELECT (COUNT(*) AS ?n) { ?a ${path} ?b }`, order: [] }, dataset)
    t.equal(row?.n, `${count} integer`, path)
  }
  const bounded = (text: string) => {
    const evaluation = new Evaluation(dataset, { memory: 60_000 }, { base: BASE })
    for (const _ of new Evaluator(evaluation).solutions(parseQuery(text, BASE).query.input));
  }
  t.doesNotThrow(() => bounded('ASK { ?a <urn:none>+ ?b }'), 'nodes without a step are not read')

  let [steps, walked] = [0, 0]
  withScratch(() => {
    const evaluation = new Evaluation(dataset)
    const numbers = Array.from({ length: 4 * size }, (_, at) =>
      evaluation.pool.intern({ type: 'iri', value: `urn:n${at}` }),
    )
    const reach = new Reach('oneOrMore', evaluation, ({ ids }, _, reached) => {
      steps += 1
      ids.forEach((id, place) => {
        const next = numbers[numbers.indexOf(id) + size]
        if (next !== undefined) reached(place, next)
      })
    })
    const starts = numbers.slice(0, size)
    reach.prepare(starts)
    for (const start of starts) walked += [...reach.from(start, () => true)].length
  })
  t.equal(walked, 3 * size)
  t.ok(steps < size / 10, `${steps} steps for ${size} walks`)
  t.end()
})

t.test('what needs no pattern comes first, and restricts the patterns', t => {
  const size = 20_000
  const lines = Array.from(
    { length: size },
    (_, at) =>
      `<urn:n${at}> <urn:p> <urn:n${at % 100}> .\n<urn:n${at}> <urn:v> "${at}"^^<${XSD.integer}> .\n`,
  )
  const dataset = { defaultGraphs: [columnsOfText(lines.join(''))], namedGraphs: new Map() }
  for (const [group, count] of [
    ['BIND(<urn:n7> AS ?a) ?a ?q ?x', 2],
    ['BIND(IRI(CONCAT("urn:n", "7")) AS ?a) ?a <urn:v> ?x', 1],
    ['BIND(<urn:n7> AS ?a) BIND(7 AS ?v) ?a <urn:v> ?v ; <urn:p> ?b', 1],
    ['{ BIND(<urn:n7> AS ?a) } UNION { BIND(<urn:n8> AS ?a) } ?a <urn:p> ?b', 2],
    ['VALUES ?n { "7" UNDEF "8" } BIND(IRI(CONCAT("urn:n", ?n)) AS ?a) ?a <urn:v> 8', 2],
    ['{ SELECT ?a { ?a <urn:v> 7 } } UNION { BIND(<urn:n8> AS ?a) } ?a <urn:v> ?x', 2],
    ['BIND(1/0 AS ?a) ?a <urn:v> 7', 1],
  ] as const) {
    const evaluation = new Evaluation(dataset, {}, { base: BASE })
    const advance = t.capture(evaluation, 'advance', evaluation.advance)
    let found = 0
    withScratch(() => {
      const { query } = parseQuery(`SELECT * { ${group} }`, BASE)
      for (const batch of new Evaluator(evaluation).solutions(query.input)) found += batch.size
    })
    t.equal(found, count, group)
    const rows = advance().reduce((sum, { args: [some] }) => sum + some, 0)
    t.ok(rows < 100, `${rows} rows: ${group}`)
  }
  t.end()
})

/** Groups in which all or some solutions have one constant, for $. */
const WITH_CONSTANTS = [
  'BIND($ AS ?c) ?s ?p ?o FILTER(?o = ?c)',
  '?s ?p ?o BIND($ AS ?c) FILTER(?o != ?c || BOUND(?c) && ISIRI(?o))',
  '?s ?p ?o BIND($ AS ?c) FILTER(!BOUND(?c))',
  'VALUES ?c { $ } ?s ?p ?o FILTER(?o IN (?c, 1))',
  'VALUES ?c { $ $ } ?s ?p ?o FILTER(?o = ?c)',
  'VALUES (?c ?o) { ($ UNDEF) } ?s ?p ?o FILTER(?o = ?c || !BOUND(?o))',
  'BIND($ AS ?c) OPTIONAL { ?s ?p ?o FILTER(?o = ?c) }',
  '?s ?p ?o OPTIONAL { BIND($ AS ?c) FILTER(?o = ?c) }',
  '?s ?p ?o OPTIONAL { VALUES ?c { $ } ?s ?q ?c } FILTER(!BOUND(?c) || ?o = ?c)',
  '{ BIND($ AS ?c) } UNION { BIND(5 AS ?c) } UNION {} ?s ?p ?o FILTER(?o = ?c)',
  'BIND($ AS ?c) { ?s ?p ?o FILTER(?o = ?c) }',
  'BIND($ AS ?c) { ?s ?p ?o FILTER(!BOUND(?c)) }',
  'BIND($ AS ?c) ?s ?p ?c FILTER(SAMETERM(?c, $))',
  'BIND($ AS ?c) ?s ?p ?o FILTER EXISTS { ?s ?q ?c }',
  'BIND($ AS ?c) ?s ?p ?o FILTER(?o = ?c && NOT EXISTS { ?o ?q ?r FILTER(?r = ?c) })',
  '?s ?p ?o BIND(?o = $ AS ?t) BIND($ AS ?c) FILTER(?t && ?o = ?c)',
  '{ SELECT ?s ?c { ?s ?p ?o BIND($ AS ?c) } } ?s ?q ?x FILTER(?x = ?c)',
  '{ SELECT ?s { ?s ?p ?o BIND($ AS ?c) } } ?s ?q ?c FILTER(?c = $)',
  'BIND(1/0 AS ?c) ?s ?p ?o FILTER(COALESCE(?c, $) = ?o)',
  '?s ?p ?o MINUS { BIND($ AS ?c) ?s ?q ?c FILTER(?c = $) }',
  'BIND($ AS ?c) BIND(STR(?c) AS ?d) ?s ?p ?o FILTER(STR(?o) = ?d)',
  'GRAPH <http://example.org/g1> { BIND($ AS ?c) ?s ?p ?o FILTER(?o = ?c) }',
]

t.test(`constants of BIND and VALUES are those of all their solutions, seed ${seed}`, t => {
  startFrom(seed)
  let solutions = 0
  for (let run = 0; run < 4; run++) {
    const sample = makeSample()
    for (const constant of ['"a"', '12', '"abc"@fr', 'true', '<http://example.org/s1>', '2.5'])
      for (const group of WITH_CONSTANTS) {
        const text = `SELECT * { ${group.replaceAll('$', constant)} }`
        const expected = byEngine({ text, order: [] }, sample.engine)
        solutions += expected.length
        const found = difference(
          { text, order: [] },
          byColumns({ text, order: [] }, sample.columns),
          expected,
        )
        if (found !== null) t.equal(found, null, text)
      }
  }
  t.ok(solutions > 1000, `${solutions} solutions`)
  t.end()
})

t.test('conditions read constants, and come before what they do not read', t => {
  for (const [group, same] of [
    ['BIND(5 AS ?c) ?s ?p ?o FILTER(?o > ?c)', 'BIND(5 AS ?c) ?s ?p ?o FILTER(?o > 5)'],
    [
      'VALUES (?c ?d) { (5 UNDEF) } FILTER(BOUND(?c) && ?c > ?d)',
      'VALUES (?c ?d) { (5 UNDEF) } FILTER(true && 5 > ?d)',
    ],
    ['?s ?p ?o BIND(5 AS ?c) FILTER(?o > ?c)', '{ ?s ?p ?o FILTER(?o > 5) } BIND(5 AS ?c)'],
    ['?s ?p ?o BIND(?o + 1 AS ?n) FILTER(?n > 5)', '?s ?p ?o BIND(?o + 1 AS ?n) FILTER(?n > 5)'],
    [
      '?s ?p ?o OPTIONAL { ?t ?p ?x FILTER(?x > ?o) } FILTER(!BOUND(?t) && ?o > 1)',
      '?s ?p ?o FILTER(NOT EXISTS { ?t ?p ?x FILTER(?x > ?o) } && ?o > 1)',
    ],
    [
      '?s ?p ?o OPTIONAL { ?s ?q ?x OPTIONAL { ?x ?p ?y } } FILTER(!BOUND(?x))',
      '?s ?p ?o OPTIONAL { ?s ?q ?x OPTIONAL { ?x ?p ?y } } FILTER(!BOUND(?x))',
    ],
  ] as const) {
    const [given, expected] = [group, same].map(text => parseQuery(`SELECT ?s { ${text} }`, BASE).query)
    t.same(withBoundConstants(given as QueryOperation), expected, group)
  }
  const many = `SELECT * { BIND("${'x'.repeat(3000)}" AS ?c) ?s ?p ?o FILTER(?o IN (${'?c, '.repeat(999)}1)) }`
  const { query } = parseQuery(many, BASE)
  t.ok(JSON.stringify(withBoundConstants(query)).length < 100_000, 'long constants are written once')
  t.end()
})

/** Counts the rows that a query reads, and the functions that it calls. */
class CountedEvaluation extends Evaluation {
  read = 0
  steps = 0
  calls = 0

  override advance(rows: number): void {
    this.read += rows
    this.steps += 1
    super.advance(rows)
  }

  override checkedFor(values: readonly TermValue[]): readonly TermValue[] {
    this.calls += 1
    return super.checkedFor(values)
  }
}

function counted(group: string, lines: string): { evaluation: CountedEvaluation; found: number } {
  const evaluation = new CountedEvaluation({ defaultGraphs: [columnsOfText(lines)], namedGraphs: new Map() })
  const query = withBoundConstants(parseQuery(`SELECT * { ${group} }`, BASE).query)
  let found = 0
  for (const batch of new Evaluator(evaluation).solutions(query.input)) found += batch.size
  return { evaluation, found }
}

t.test('a path of many predicates is followed for the nodes of all of them together', t => {
  const size = 40
  const lines = Array.from(
    { length: size },
    (_, at) => `<urn:n${at}> <urn:p${at}> <urn:n${at + 1}> .\n<urn:n${at}> <urn:p${at}> "x${at}" .\n`,
  )
  for (const [path, found] of [
    ['!<urn:x>', 2 * size],
    ['!<urn:x>/!<urn:x>', 2 * (size - 1)],
    ['!<urn:p3>/!<urn:x>/(!<urn:x>|<urn:x>)', 2 * (size - 3)],
  ] as const) {
    const { evaluation, found: rows } = counted(`?a ${path} ?b`, lines.join(''))
    t.equal(rows, found, path)
    t.ok(evaluation.steps < 10 * size, `${evaluation.steps} steps`)
  }
  t.end()
})

t.test('the greatest of each group is found without comparing all with all', t => {
  const size = 6000
  const lines = Array.from(
    { length: size },
    (_, at) =>
      `<urn:s${at}> <urn:g> <urn:g${at % 3}> .\n<urn:s${at}> <urn:v> "${(at * 7919) % size}"^^<${XSD.integer}> .\n`,
  ).join('')
  const own = '?s <urn:g> ?g ; <urn:v> ?v'
  for (const [test, count] of [
    ['FILTER NOT EXISTS { ?o <urn:g> ?g ; <urn:v> ?w FILTER(?w > ?v) }', 3],
    ['OPTIONAL { ?o <urn:g> ?g ; <urn:v> ?w FILTER(?v > ?w) } FILTER(!BOUND(?o))', 3],
    ['FILTER EXISTS { ?o <urn:g> ?h ; <urn:v> ?w FILTER(?h = ?g && ?w >= ?v + 10) }', size - 12],
    ['FILTER NOT EXISTS { ?o <urn:g> ?g FILTER(?o != ?s) }', 0],
  ] as const) {
    const { evaluation, found } = counted(`${own} ${test}`, lines)
    t.equal(found, count, test)
    t.ok(evaluation.read < 30 * size, `${evaluation.read} rows are read`)
  }
  t.end()
})

t.test('a text is read in another case only where it may be the one that is sought', t => {
  const names = [
    '"Nice"',
    '"NICE"@fr',
    '"nice"',
    '"ni\u00e7e"',
    '"K"',
    '"\u212a"',
    '"k"@en',
    '"x"^^<urn:t>',
    '<urn:nice>',
  ]
  const more = Array.from({ length: 500 }, (_, at) => `"name ${at}"`)
  const lines = [...names, ...more].map((name, at) => `<urn:s${at}> <urn:n> ${name} .\n`).join('')
  for (const [condition, count] of [
    ['LCASE(?n) = "nice"', 2],
    ['"k" = LCASE(?n)', 2],
    ['UCASE(?n) = "NI\u00c7E"', 1],
    ['LCASE(?n) IN ("nice", "k")', 4],
    ['LCASE(?n) NOT IN ("nice", "k")', 503],
    ['!(LCASE(?n) = "nice")', 505],
  ] as const) {
    const { evaluation, found } = counted(`?s <urn:n> ?n FILTER(${condition})`, lines)
    t.equal(found, count, condition)
    t.ok(evaluation.calls < 50, `${evaluation.calls} calls`)
  }
  t.end()
})

t.test('a map of pairs gives equal pairs equal numbers', t => {
  let bytes = 0
  const pairs = new PairMap(change => {
    bytes += change
  })
  const expected = new Map<string, number>()
  let wrong = 0
  for (let turn = 0; turn < 20_000; turn++) {
    const [left, right] = [turn % 301, turn % 7 === 0 ? 2 ** 32 - 1 - (turn % 5) : (turn * 31) % 97]
    const key = `${left} ${right}`
    const known = expected.get(key)
    if (pairs.get(left, right) !== (known ?? -1)) wrong += 1
    if (pairs.add(left, right, expected.size) !== (known ?? expected.size)) wrong += 1
    if (known === undefined) expected.set(key, expected.size)
  }
  t.equal(wrong, 0)
  t.equal(pairs.size, expected.size)
  t.same(
    new Map([...pairs.entries()].map(([left, right, value]) => [`${left} ${right}`, value])),
    new Map([...expected].sort()),
    'all of them are there once',
  )
  t.ok(bytes >= 12 * 2 * pairs.size && bytes <= 12 * 4 * pairs.size, `${bytes} bytes are counted`)
  t.end()
})

t.test('many rows with a term in common are joined a part at a time', t => {
  const rows = 700
  const named = (letter: string) =>
    Array.from({ length: rows }, (_, at) => `<urn:${letter}${at}> <urn:${letter}> <urn:same> .\n`).join('')
  const dataset = { defaultGraphs: [columnsOfText(named('a') + named('b'))], namedGraphs: new Map() }
  const [left, right] = ['{ SELECT ?a ?k { ?a <urn:a> ?k } }', '{ SELECT ?b ?k { ?b <urn:b> ?k } }']
  const count = (group: string) =>
    byColumns({ text: `SELECT (COUNT(*) AS ?n) { ${group} }`, order: [] }, dataset)[0]?.n?.replace(
      ' integer',
      '',
    )
  t.equal(count(`${left} ${right}`), String(rows * rows))
  t.equal(count(`${left} OPTIONAL ${right}`), String(rows * rows))
  t.equal(count(`${left} MINUS ${right}`), '0')
  t.equal(count(`${left} MINUS { SELECT ?b ?k { ?b <urn:b> ?k FILTER(?b = <urn:b1>) } }`), '0')
  t.equal(count(`${left} MINUS { SELECT ?b ?k { ?b <urn:none> ?k } }`), String(rows))
  const bounded = (text: string, memory = 20e6) => {
    const evaluation = new Evaluation(dataset, { memory }, { base: BASE })
    for (const _ of new Evaluator(evaluation).solutions(parseQuery(text, BASE).query.input));
  }
  t.doesNotThrow(() => bounded(`SELECT * { ${left} ${right} }`), 'pairs are given away as they are found')
  const refused = { reason: 'memory' } as unknown as Error
  t.throws(
    () => bounded(`SELECT DISTINCT ?a ?b { ${left} { SELECT ?b { ?b <urn:b> ?k } } }`, 5e6),
    refused,
    'what is told apart is counted',
  )
  t.throws(
    () => bounded(`SELECT (COUNT(DISTINCT CONCAT(STR(?a), STR(?b))) AS ?n) { ${left} ${right} }`),
    refused,
  )
  const large = `{ SELECT DISTINCT ?a ?b { ${left} ${right} } }`
  t.throws(() => bounded(`SELECT * { ?a <urn:a> <urn:same> ${large} }`, 5e6), refused)
  for (const pattern of ['?a <urn:a> <urn:other>', '?a <urn:none> ?x'])
    t.doesNotThrow(() => bounded(`SELECT * { ${pattern} ${large} }`, 5e6), `no subquery after ${pattern}`)
  t.end()
})

t.test('LIMIT and OFFSET of CONSTRUCT and DESCRIBE are of their solutions', t => {
  const page = { type: 'slice', offset: 1, limit: 2, input: { type: 'order' } }
  const solutions = 'WHERE { ?s ?p ?o } ORDER BY ?s LIMIT 2 OFFSET 1'
  t.match(parseQuery(`CONSTRUCT { ?o ?p ?s } ${solutions}`).query, { type: 'construct', input: page })
  t.match(parseQuery(`CONSTRUCT ${solutions}`).query, { type: 'construct', input: page })
  t.match(parseQuery(`DESCRIBE ?s FROM <urn:g> ${solutions}`).query, { type: 'describe', input: page })
  t.end()
})
