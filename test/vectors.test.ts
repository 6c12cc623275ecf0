import t from 'tap'
import { XSD } from '../src/rdf/vocab.ts'
import type { AggregateCall } from '../src/sparql/algebra.ts'
import { domainsOf, Evaluation } from '../src/store/columns/evaluate/evaluation.ts'
import { DistinctPairs } from '../src/store/columns/evaluate/groups/distinct-pairs.ts'
import { grouped } from '../src/store/columns/evaluate/groups/group.ts'
import { percentile } from '../src/store/columns/evaluate/groups/percentile.ts'
import { ordered } from '../src/store/columns/evaluate/order/order.ts'
import { Batch, Deferred, numbersFrom } from '../src/store/columns/evaluate/vectors/batch.ts'
import { concatenatedTexts } from '../src/store/columns/evaluate/vectors/concat.ts'
import { type Domain, PositionDomain } from '../src/store/columns/evaluate/vectors/domain.ts'
import { addIntegers, countPlaces, countPlacesOf } from '../src/store/columns/evaluate/vectors/lanes.ts'
import {
  markInRange,
  markWithBit,
  merged,
  rowsBound,
  rowsInRange,
  rowsMarked,
  rowsOfTable,
  rowsPresent,
  rowsPresentInAll,
  without,
} from '../src/store/columns/evaluate/vectors/row-filters.ts'
import {
  type RetainedScratch,
  scratchUint32,
  withScratch,
} from '../src/store/columns/evaluate/vectors/scratch.ts'
import { literalOf } from '../src/store/columns/evaluate/vectors/value.ts'
import {
  gathered,
  isBound,
  type Vector,
  vectorValueAt,
} from '../src/store/columns/evaluate/vectors/vector.ts'
import { columnsOfText } from './support/columns.ts'
import { between, chance, startFrom } from './support/random.ts'
import { seedOf } from './support/seed.ts'

/** What is worked out of vectors by counting and selecting, against plain sorts and loops over the same numbers. */
const seed = seedOf()
startFrom(seed)

/** Also such that leave some rows where loops take four or eight at a turn. */
const SIZES = [0, 1, 7, 31, 301, 2_002, 9_000]

/** A domain in which several numbers have one place in the order. */
class TiedDomain implements Domain {
  readonly size: number
  private readonly inner: Domain
  private readonly order: Uint32Array

  constructor(size: number) {
    this.size = size
    this.inner = new PositionDomain(size)
    this.order = Uint32Array.from({ length: size + 1 }, () => between(0, size >> 2))
  }

  term(id: number) {
    return this.inner.term(id)
  }

  value(id: number) {
    return this.inner.value(id)
  }

  find(term: Parameters<Domain['find']>[0]): number {
    return this.inner.find(term)
  }

  ranks(): Uint32Array {
    return this.order
  }
}

interface Key {
  readonly vector: Vector
  readonly descending: boolean
  /** Where a row is in the order; unbound ones are lowest. */
  readonly placeOf: (row: number) => number
}

function makeIds(size: number, domain: Domain, hasUnbound: boolean): Uint32Array {
  const terms = between(1, domain.size)
  return Uint32Array.from({ length: size }, () => (hasUnbound && chance(0.1) ? 0 : between(1, terms)))
}

function makeKey(size: number): Key {
  const descending = chance(0.5)
  if (chance(0.3)) {
    const values = Float64Array.from({ length: size }, () => between(-50, 50) / (chance(0.5) ? 1 : 7))
    const bound = chance(0.5) ? Uint8Array.from(values, () => between(0, 1)) : null
    const placeOf = (row: number) =>
      bound !== null && bound[row] === 0 ? Number.NEGATIVE_INFINITY : (values[row] as number)
    return { vector: { type: 'numbers', kind: 'double', values, bound }, descending, placeOf }
  }
  const terms = between(1, chance(0.5) ? 5 : 4 * size + 1)
  const domain: Domain = chance(0.5) ? new PositionDomain(terms) : new TiedDomain(terms)
  const ids = makeIds(size, domain, chance(0.5))
  const ranks = domain.ranks()
  const placeOf = (row: number) => {
    const id = ids[row] as number
    return id === 0 ? -1 : ranks === null ? id : (ranks[id] as number)
  }
  return { vector: { type: 'ids', domain, ids }, descending, placeOf }
}

function evaluationOf(): Evaluation {
  return new Evaluation({ defaultGraphs: [], namedGraphs: new Map() })
}

/** A batch in one piece or in several. */
function* pieces(batch: Batch): Generator<Batch> {
  const size = chance(0.5) ? batch.size : between(1, Math.max(1, batch.size))
  for (let from = 0; from < batch.size; from += size)
    yield batch.slice(from, Math.min(batch.size, from + size))
}

t.test(`pages of an order are those of a stable sort, seed ${seed}`, async t => {
  for (let run = 0; run < 150; run++) {
    const size = SIZES[run % SIZES.length] as number
    const keys = Array.from({ length: between(1, 3) }, () => makeKey(size))
    const rows = Array.from({ length: size }, (_, row) => row)
    rows.sort((a, b) => {
      for (const { placeOf, descending } of keys) {
        const [left, right] = [placeOf(a), placeOf(b)]
        if (left !== right) return (left < right ? -1 : 1) * (descending ? -1 : 1)
      }
      return a - b
    })
    const position: Vector = {
      type: 'numbers',
      kind: 'integer',
      values: Float64Array.from({ length: size }, (_, row) => row),
      bound: null,
    }
    const vectors = keys.map(({ vector }, at) => [`key${at}`, vector] as const)
    const batch = new Batch(size, new Map([['row', position], ...vectors]))
    const conditions = keys.map(({ descending }, at) => ({
      expression: { type: 'variable', name: `key${at}` } as const,
      descending,
    }))
    const from = between(0, size)
    const to = chance(0.2) ? Number.POSITIVE_INFINITY : from + between(0, chance(0.5) ? 20 : size)
    const vectorOf = ({ name }: { readonly name: string }, some: Batch) => some.get(name) as Vector
    const found = withScratch(() => {
      const { batch: page, total } = ordered(
        pieces(batch),
        conditions,
        { from, to },
        vectorOf as never,
        evaluationOf(),
      )
      const vector = page?.get('row')
      return { total, rows: vector?.type === 'numbers' ? [...vector.values] : [] }
    })
    t.strictSame(found, { total: size, rows: rows.slice(from, to) }, `${size} rows, ${from} to ${to}`)
    if (!t.passing()) break
  }
})

t.test('what is not ordered by is worked out for the page alone', async t => {
  const size = 5000
  const values = Float64Array.from({ length: size }, (_, row) => (row * 7919) % size)
  const number: Vector = { type: 'numbers', kind: 'integer', values, bound: null }
  const input = new Batch(size, new Map([['number', number]]))
  const made: number[] = []
  const make = (rows: Batch): Vector => {
    made.push(rows.size)
    return rows.get('number') as Vector
  }
  const copy = new Deferred(input, { type: 'variable', name: 'number' }, make)
  const batch = new Batch(
    size,
    new Map<string, Vector | Deferred>([
      ['number', number],
      ['copy', copy],
    ]),
  )
  const parts = [batch.slice(0, 2000), batch.slice(2000, size)]
  const keys = [{ expression: { type: 'variable', name: 'number' }, descending: true }] as const
  const vectorOf = (_: unknown, some: Batch) => some.get('number') as Vector
  const { batch: page } = ordered(parts, keys, { from: 10, to: 30 }, vectorOf as never, evaluationOf())
  const vector = page?.get('copy')
  const expected = Array.from({ length: 20 }, (_, at) => size - 11 - at)
  t.same(vector?.type === 'numbers' ? [...vector.values] : null, expected)
  t.same(made, [20])
})

t.test('variables that are worked out of one another are worked out once', t => {
  const size = 100
  const values = Float64Array.from({ length: size }, (_, row) => row)
  const number: Vector = { type: 'numbers', kind: 'integer', values, bound: null }
  let batch = new Batch(size, new Map([['v0', number]]))
  // Each is the sum of the one before with itself: as a tree, the last has as many leaves as no computer can visit.
  const last = 60
  let made = 0
  for (let at = 1; at <= last; at++) {
    const make = (rows: Batch): Vector => {
      made++
      const before = rows.get(`v${at - 1}`) as typeof number
      return { ...before, values: before.values.map(value => value * 2) }
    }
    batch = batch.with([[`v${at}`, new Deferred(batch, { type: 'variable', name: `v${at - 1}` }, make)]])
  }
  const pages = [batch.slice(10, 90), batch.slice(90, 95)].map(part => part.rows(Uint32Array.of(2, 1)))
  const whole = concatenatedTexts(pages, evaluationOf())
  const found = whole.get(`v${last}`)
  const doubled = [12, 11, 92, 91].map(row => row * 2 ** last)
  t.same(found?.type === 'numbers' ? [...found.values] : null, doubled)
  t.equal(made, last)
  t.end()
})

t.test(`percentiles are between the two nearest values, seed ${seed}`, async t => {
  for (let run = 0; run < 100; run++) {
    const size = SIZES[run % SIZES.length] as number
    const count = between(1, 6)
    const odd = [Number.NaN, Number.POSITIVE_INFINITY, -0]
    const values = Float64Array.from({ length: size }, () =>
      run % 5 === 0 && chance(0.01) ? (odd[between(0, 2)] as number) : between(-9, 40),
    )
    const bound = chance(0.5) ? null : Uint8Array.from(values, () => between(0, 1))
    const groups = Uint32Array.from(values, () => between(0, count - 1))
    const vector: Vector = { type: 'numbers', kind: 'double', values, bound }
    const rank = [0, 12.5, 50, 95, 100][run % 5] as number
    const found = percentilesOf(rank, vector, groups, count)
    const expected = expectedPercentiles(
      rank,
      Array.from(values, (value, row) => (bound?.[row] === 0 ? null : value)),
      groups,
      count,
    )
    t.strictSame(found, expected, `${size} rows`)
    if (!t.passing()) break
  }
})

t.test(`percentiles of the values of a column are those of its numbers, seed ${seed}`, async t => {
  for (let run = 0; run < 12; run++) {
    const size = [40, 700, 9_000][run % 3] as number
    const numbers = Array.from({ length: size }, () => between(-40, run % 2 === 0 ? 40 : 60_000))
    const lines = numbers.map((number, at) => `<urn:s${at}> <urn:p> "${number}"^^<${XSD.integer}> .\n`)
    const graph = columnsOfText(lines.join(''))
    const column = graph.column('urn:p')
    if (column === undefined) throw new Error('no column')
    const vector: Vector = {
      type: 'ids',
      domain: domainsOf(graph).of(column),
      ids: column.codes.slice(0, size),
    }
    const groups = Uint32Array.from(numbers, () => (chance(0.9) ? 0 : between(1, 3)))
    const rank = [0, 12.5, 50, 100][run % 4] as number
    const expected = expectedPercentiles(rank, numbers, groups, 4)
    t.strictSame(percentilesOf(rank, vector, groups, 4), expected, `${size} rows`)
  }
})

/** The percentile of each group as the aggregate finds it. */
function percentilesOf(rank: number, vector: Vector, groups: Uint32Array, count: number) {
  const parameters = [literalOf(String(rank), XSD.double)]
  const aggregate = percentile(batch => batch.get('x') as Vector, evaluationOf(), parameters)
  aggregate.add(new Batch(groups.length, new Map([['x', vector]])), groups, count)
  const result = aggregate.result(count)
  return Array.from({ length: count }, (_, group) => {
    const value = vectorValueAt(result, group)
    return value?.type === 'number' ? value.value : null
  })
}

/** The same by a sort of each group. */
function expectedPercentiles(
  rank: number,
  values: readonly (number | null)[],
  groups: Uint32Array,
  count: number,
): readonly (number | null)[] {
  return Array.from({ length: count }, (_, group) => {
    const own = Float64Array.from(
      values.filter((value, row): value is number => groups[row] === group && value !== null),
    ).sort()
    const place = (rank / 100) * (own.length - 1)
    const [low, high] = [own[Math.floor(place)], own[Math.ceil(place)]]
    return low === undefined || high === undefined ? null : low + (high - low) * (place - Math.floor(place))
  })
}

t.test(`groups are counted once, seed ${seed}`, async t => {
  for (let run = 0; run < 60; run++) {
    const size = SIZES[run % SIZES.length] as number
    const names = ['a', 'b', 'c'].slice(0, between(1, 3))
    const batches = Array.from({ length: between(1, 3) }, () => {
      const domains = names.map(() => new PositionDomain(between(1, chance(0.5) ? 9 : 3_000)))
      return new Batch(
        size,
        new Map(
          names.map((name, at) => {
            const domain = domains[at] as Domain
            return [name, { type: 'ids', domain, ids: makeIds(size, domain, true) } satisfies Vector]
          }),
        ),
      )
    })
    const isAdded = chance(0.5)
    const added = Array.from({ length: batches.length * size }, (_, at) => (at * 31) % 17)
    const expected = new Map<string, readonly number[]>()
    batches.forEach((batch, number) => {
      for (let row = 0; row < size; row++) {
        const key = names.map(name => textAt(batch, name, row)).join(' ')
        const [rows = 0, sum = 0] = expected.get(key) ?? []
        const value = added[number * size + row] as number
        expected.set(key, isAdded ? [rows + 1, sum + value] : [rows + 1])
      }
    })
    const count: AggregateCall = { name: 'COUNT', distinct: false, operand: null }
    const sum: AggregateCall = { name: 'SUM', distinct: false, operand: { type: 'variable', name: 'x' } }
    const aggregates = [
      { variable: 'n', aggregate: count },
      ...(isAdded ? [{ variable: 's', aggregate: sum }] : []),
    ]
    let taken = 0
    const found = grouped(batches, names, aggregates, {
      variables: names,
      evaluation: evaluationOf(),
      vectorOf: (): Vector => {
        if (!isAdded) throw new Error('nothing is worked out')
        taken += size
        const values = Float64Array.from(added.slice(taken - size, taken))
        return { type: 'numbers', kind: 'integer', values, bound: null }
      },
    })
    const rows = Array.from({ length: found.size }, (_, row) => {
      const figures = aggregates.map(({ variable }) => Number(textAt(found, variable, row)))
      return [names.map(name => textAt(found, name, row)).join(' '), figures] as const
    })
    t.strictSame(new Map(rows), expected, `${size} rows by ${names}`)
    t.equal(rows.length, expected.size, 'each group once')
    if (!t.passing()) break
  }
})

function textAt(batch: Batch, name: string, row: number): string {
  const vector = batch.get(name) as Vector
  const value = isBound(vector, row) ? vectorValueAt(vector, row) : null
  return value?.type === 'number' ? String(value.value) : '-'
}

t.test(`rows are added to their groups as one by one, seed ${seed}`, async t => {
  for (let run = 0; run < 40; run++) {
    const size = SIZES[run % SIZES.length] as number
    // Few groups are added in lanes, many are not.
    const count = between(1, chance(0.5) ? 5 : 4 * size + 9_000)
    const terms = between(1, 50)
    const groups = Uint32Array.from({ length: size }, () => between(0, count - 1))
    const ids = Uint32Array.from({ length: size }, () => between(0, terms))
    const table = Float64Array.from({ length: terms + 1 }, () => between(-1000, 2 ** 31))
    const rows = Uint32Array.from(ids.keys()).filter(() => chance(0.6))
    const before = Array.from({ length: count }, () => between(0, 9))
    const expected = { counted: [...before], some: [...before], sums: [...before], terms: [...before] }
    const met = new Set<string>()
    groups.forEach((group, row) => {
      const id = ids[row] as number
      const add = (numbers: number[], number: number) => {
        numbers[group] = (numbers[group] as number) + number
      }
      add(expected.counted, 1)
      add(expected.sums, table[id] as number)
      if (id !== 0 && !met.has(`${group} ${id}`)) add(expected.terms, 1)
      met.add(`${group} ${id}`)
    })
    for (const row of rows)
      expected.some[groups[row] as number] = (expected.some[groups[row] as number] as number) + 1
    const [counted, some] = [Uint32Array.from(before), Uint32Array.from(before)]
    const [sums, distinct] = [Float64Array.from(before), Float64Array.from(before)]
    countPlaces(counted, groups)
    countPlaces(some, gathered(groups, rows))
    const uncopied = Uint32Array.from(before)
    countPlacesOf(uncopied, groups, rows)
    t.strictSame(uncopied, some, 'rows are counted without a copy of their places')
    addIntegers(sums, groups, table, ids, count)
    const pairs = new DistinctPairs(evaluationOf())
    pairs.prepare(count, terms)
    pairs.countNew(groups, ids, { count, terms }, distinct)
    const found = { counted: [...counted], some: [...some], sums: [...sums], terms: [...distinct] }
    t.strictSame(found, expected, `${size} rows in ${count} groups`)
    pairs.countNew(groups, ids, { count, terms }, distinct)
    t.strictSame([...distinct], expected.terms, 'a pair counts once')
    if (!t.passing()) break
  }
})

t.test('consecutive numbers are not copied for each batch of a large scan', t => {
  const [, second, third] = [1, 2, 3].map(at => numbersFrom(2 ** 22 + at, 2 ** 22 + at + 1))
  t.same([second, third], [Uint32Array.of(2 ** 22 + 2), Uint32Array.of(2 ** 22 + 3)])
  t.equal(second?.buffer, third?.buffer)
  t.end()
})

t.test('rows are those that a test of each finds', async t => {
  for (let run = 0; run < 60; run++) {
    const size = SIZES[run % SIZES.length] as number
    const domain = new PositionDomain(between(1, 60))
    const ids = makeIds(size, domain, true)
    const all = Array.from({ length: size }, (_, row) => row)
    const some = all.filter(() => chance(0.5))
    const from = between(1, domain.size)
    const to = between(from, domain.size + 1)
    for (const isInside of [true, false]) {
      const holds = (row: number) => {
        const id = ids[row] as number
        return id !== 0 && (id >= from && id < to) === isInside
      }
      t.strictSame([...rowsInRange(ids, from, to, isInside, null)], all.filter(holds))
      t.strictSame([...rowsInRange(ids, from, to, isInside, Uint32Array.from(some))], some.filter(holds))
      const marks = new Uint8Array(size)
      markInRange(marks, ids, from, to, isInside)
      t.strictSame([...rowsOfTable(marks, 1, null)], all.filter(holds))
      const truths = Uint8Array.from({ length: domain.size + 1 }, () => [1, 2, 4][between(0, 2)] as number)
      const bit = isInside ? 1 : 2
      markWithBit(marks, ids, truths, bit)
      const isMarked = (row: number) => holds(row) || truths[ids[row] as number] === bit
      t.strictSame([...rowsOfTable(marks, 1, Uint32Array.from(some))], some.filter(isMarked))
      t.strictSame(
        [...rowsOfTable(marks, 0, null)],
        all.filter(row => !isMarked(row)),
      )
    }
    const table = Uint8Array.from({ length: domain.size + 1 }, () => between(0, 3))
    const mark = between(0, 3)
    const marked = some.filter(row => ids[row] !== 0 && table[ids[row] as number] === mark)
    t.strictSame([...rowsMarked(ids, table, mark, Uint32Array.from(some))], marked)
    t.strictSame(
      [...rowsPresent(ids)],
      all.filter(row => ids[row] !== 0),
    )
    const vectors = [1, 2, 3].map(() => Uint32Array.from(ids, () => between(0, 3)))
    for (const several of [vectors, vectors.slice(1), vectors.slice(2)])
      for (const among of [all, some])
        t.strictSame(
          [...rowsPresentInAll(several, among === all ? null : Uint32Array.from(some))],
          among.filter(row => several.every(each => each[row] !== 0)),
        )
    const rest = all.filter(row => !some.includes(row))
    const [left, right] = [Uint32Array.from(some), Uint32Array.from(rest)]
    t.strictSame([...without(Uint32Array.from(all), left)], rest)
    t.strictSame([...merged(left, right)], all)
    for (const required of [true, false])
      t.strictSame(
        [...rowsBound({ type: 'ids', domain, ids }, Uint32Array.from(some), required)],
        some.filter(row => (ids[row] !== 0) === required),
      )
    if (!t.passing()) break
  }
})

t.test('what goes on later keeps the memory that it has written to, what ends gives it back', t => {
  const filled = (number: number) => scratchUint32(10_000).fill(number)
  const later: RetainedScratch[] = []
  const begin = (number: number) =>
    withScratch(
      () => filled(number),
      () => memory => later.push(memory),
    )
  const kept = begin(1)
  const ended = withScratch(() => filled(2))
  const next = withScratch(() => filled(3))
  t.ok(kept.every(number => number === 1))
  t.equal(ended.buffer, next.buffer)
  t.not(kept.buffer, next.buffer)
  t.throws(
    () =>
      withScratch(() => {
        filled(4)
        throw new Error('ended')
      }),
    /ended/,
  )
  t.equal(withScratch(() => filled(5)).byteOffset, 0, 'also where it ends with an error')
  t.not(filled(6).buffer, next.buffer, 'outside of it arrays are allocated')
  const goesOn = begin(7)
  later[1]?.giveBack()
  t.equal(withScratch(() => filled(8)).buffer, goesOn.buffer, 'what is given back is written to by the next')
  later[0]?.giveBack()
  t.not(withScratch(() => filled(9)).buffer, kept.buffer, 'there is enough of it')
  t.end()
})

t.test('arrays larger than a chunk have blocks, which the next query writes to', t => {
  const large = (length: number) => withScratch(() => scratchUint32(length))
  const first = large(3 * 2 ** 20)
  t.equal(large(2 ** 21).buffer, first.buffer)
  const [one, other] = withScratch(() => [scratchUint32(2 ** 21), scratchUint32(2 ** 21)] as const)
  t.same([one.buffer === first.buffer, one.buffer === other.buffer], [true, false], 'each its own')
  t.not(large(2 ** 22 + 1).buffer, first.buffer, 'one that is too small is replaced')
  t.not(large(2 ** 25).buffer, large(2 ** 25).buffer, 'what is larger than all of them is allocated')
  const later: RetainedScratch[] = []
  const goesOn = withScratch(
    () => scratchUint32(2 ** 21),
    () => memory => later.push(memory),
  )
  t.not(large(2 ** 21).buffer, goesOn.buffer)
  later[0]?.giveBack()
  t.equal(large(2 ** 21).length, 2 ** 21)
  t.end()
})
