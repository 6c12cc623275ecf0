import fastify from 'fastify'
import { Parser, type Quad } from 'n3'
import t from 'tap'
import { fragments } from '../../src/api/fragments/routes.ts'
import { AnswerCache } from '../../src/http/conditional.ts'
import { parseQueryString } from '../../src/http/query-string.ts'
import { literalText, termText } from '../../src/rdf/ntriples.ts'
import { parseTerm, parseTriples } from '../../src/rdf/ntriples-reader.ts'
import type { Term, TriplePattern } from '../../src/rdf/term.ts'
import { FOAF, HYDRA, RDF, VOID, XSD } from '../../src/rdf/vocab.ts'
import type { Store } from '../../src/store/store.ts'
import { isData, key, objects, parse } from '../support/fragment-server.ts'
import { graphOf, testStore } from '../support/test-store.ts'

/** Every page of many patterns, read by the rules that clients depend on, and the order of pages far from the first. */
const EX = 'http://example.org/'
const BASE = 'http://portal.example'

/** A generator of the same numbers in every run (Park and Miller). */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

/** Records with fields, some with several values, as the direct mapping makes them. */
function records(count: number): string {
  return Array.from({ length: count }, (_, i) => {
    const subject = `<${EX}records/${i}>`
    return [
      `${subject} <${EX}name> ${literalText(`n "${i}"\n`)} .\n`,
      `${subject} <${EX}kind> "k${i % 4}" .\n`,
      `${subject} <${EX}size> "${i % 50}"^^<${XSD.integer}> .\n`,
      ...(i % 3 === 0 ? ['a', 'b'].map(tag => `${subject} <${EX}tag> "${tag}"@en .\n`) : []),
    ].join('')
  }).join('')
}

/** Records that share resources, whose triples stand far from one another, as a mapping of one's own makes them. */
function linked(count: number): string {
  return Array.from({ length: count }, (_, i) => {
    const [record, kind] = [`<${EX}records/${i}>`, `<${EX}kinds/${i % 7}>`]
    return [
      `${record} <${RDF.type}> <${EX}Record> .\n${record} <${EX}kind> ${kind} .\n`,
      `${kind} <${EX}holds> ${record} .\n<${EX}hub> <${EX}says> ${literalText(`${i} "é"\n`, XSD.string, 'en')} .\n`,
      ...(i % 5 === 0 ? [`<urn:x:${i % 11}> <${EX}size> "${i}"^^<${XSD.integer}> .\n`] : []),
    ].join('')
  }).join('')
}

const SITE = { title: 'Portal', description: '', languages: ['en'] }

async function server(store: Store, graph: string, pageSize: number) {
  const http = fastify({ routerOptions: { ignoreTrailingSlash: true, querystringParser: parseQueryString } })
  const dataset = { id: 'd', title: 'D', description: null, version: 'v1', graph }
  const answers = new AnswerCache(1e6)
  await http.register(fragments, { ...SITE, answers, base: BASE, pageSize, store, dataset: () => dataset })
  return http
}

/** Patterns of every shape, made of random triples of the data. */
function patternsOf(quads: readonly Quad[], count: number, random: (below: number) => number) {
  return Array.from({ length: count }, (_, i) => {
    const quad = quads[random(quads.length)] as Quad
    const has = (bit: number) => (i & bit) !== 0
    const { value, language, datatype } = quad.object as unknown as {
      value: string
      language?: string
      datatype?: { value: string }
    }
    const object =
      datatype === undefined
        ? value
        : language
          ? `"${value}"@${language}`
          : `"${value}"^^${i % 3 === 0 ? `<${datatype.value}>` : datatype.value}`
    const parts = [
      has(1) ? `subject=${encodeURIComponent(quad.subject.value)}` : i % 5 === 0 ? 'subject=' : '',
      has(2) ? `predicate=${encodeURIComponent(`<${quad.predicate.value}>`)}` : '',
      has(4) ? `object=${encodeURIComponent(object)}` : i % 3 === 0 ? 'object=?o' : '',
    ].filter(part => part !== '')
    const matches = (other: Quad) =>
      (!has(1) || other.subject.equals(quad.subject)) &&
      (!has(2) || other.predicate.equals(quad.predicate)) &&
      (!has(4) || other.object.equals(quad.object))
    return { query: parts.join('&'), matches }
  })
}

/** What is wrong with a page for a client that follows its controls (Hydra core; TPF specification, "Controls"). */
function faultsOf(
  all: readonly Quad[],
  url: string,
  expected: { total: number; page: number; size: number },
) {
  const faults: string[] = []
  const check = (holds: boolean, what: string) => {
    if (!holds) faults.push(what)
  }
  const said = (predicate: string) => all.filter(quad => quad.predicate.value === predicate)
  const subset = said(VOID.subset).filter(quad => quad.object.value === url)
  const fragment = subset.at(-1)?.subject.value
  check(fragment !== undefined, 'the page is the subset of no fragment')
  const topics = said(FOAF.primaryTopic).filter(quad => quad.object.value === fragment)
  const graph = topics[0]?.graph.value ?? ''
  check(topics.length === 1 && graph !== '', 'no graph of metadata')
  const metadata = all.filter(quad => !isData(quad))
  check(
    metadata.every(quad => quad.graph.value === graph),
    'metadata in another graph',
  )
  const counts = all.filter(quad => [HYDRA.totalItems, VOID.triples].includes(quad.predicate.value))
  check(
    counts.length === 2 &&
      counts.every(quad => quad.subject.value === url && Number(quad.object.value) === expected.total),
    `counts are ${counts.map(quad => quad.object.value)}, not ${expected.total}`,
  )
  const forms = said(HYDRA.search)
  check(forms.length === 1, 'not one form')
  const mappings = said(HYDRA.mapping).map(quad => quad.object.value)
  check(new Set(mappings).size === 3 && mappings.length === 3, 'not three mappings')
  const properties = said(HYDRA.property)
    .map(quad => quad.object.value)
    .sort()
  check(properties.join() === [RDF.object, RDF.predicate, RDF.subject].join(), 'other properties')
  check(said(HYDRA.template).length === 1 && said(HYDRA.variable).length === 3, 'no template')
  const { total, page, size } = expected
  const isStart = !/[?&](?:subject|predicate|object)=[^&?]/.test(url)
  const lengths = said(HYDRA.itemsPerPage).map(quad => Number(quad.object.value))
  const described = !isStart && total > 8 * size ? [size] : []
  check(lengths.join() === described.join(), `says that pages hold ${lengths}, not ${described}`)
  for (const [predicate, target] of [
    [HYDRA.first, 1],
    [HYDRA.previous, page > 1 ? page - 1 : null],
    [HYDRA.next, page * size < total ? page + 1 : null],
  ] as const) {
    const links = said(predicate)
    check(links.length === (target === null ? 0 : 1), `${predicate}: ${links.length} links`)
    check(
      links.every(quad => quad.subject.value === url),
      `${predicate} is not of the page`,
    )
    check(
      links.every(quad => new RegExp(`[?&]page=${target}$`).test(quad.object.value)),
      `${predicate} leads to ${links[0]?.object.value}`,
    )
  }
  const data = all.filter(isData)
  check(data.length === Math.max(0, Math.min(size, total - (page - 1) * size)), `${data.length} triples`)
  check(!all.some(quad => quad.subject.termType === 'BlankNode' && isData(quad)), 'a blank node')
  return faults
}

t.test(
  'every page of every shape of pattern keeps the rules, and together they are what matches',
  async t => {
    for (const [name, text] of [
      ['records', records(60)],
      ['linked', linked(60)],
    ] as const) {
      const store = await testStore(t, { 'urn:g': text })
      const quads = new Parser({ format: 'N-Triples' }).parse(text)
      const random = numbers(7)
      for (const size of [2, 7, 100]) {
        const http = await server(store, 'urn:g', size)
        for (const { query, matches } of patternsOf(quads, 24, random)) {
          const expected = quads.filter(matches).map(key).sort()
          const found: string[] = []
          const faults: string[] = []
          let url = `${BASE}/api/tpf/d${query === '' ? '' : `?${query}`}`
          for (let page = 1; page <= 200; page++) {
            const { body } = await http.inject(url.slice(BASE.length))
            const all = parse(body, 'application/trig')
            faults.push(...faultsOf(all, url, { total: expected.length, page, size }))
            found.push(...all.filter(isData).map(key))
            const [next] = objects(all, HYDRA.next)
            if (next === undefined) break
            url = next
          }
          t.strictSame(faults, [], `${name} ${query}`)
          t.strictSame(found.sort(), expected, `${name} ${query}, pages of ${size}`)
        }
        await http.close()
      }
    }
  },
)

t.test('pages far into a pattern are those of the whole answer', async t => {
  for (const [name, text] of [
    ['records', records(3000)],
    ['linked', linked(3000)],
    ['blank nodes', records(100).replaceAll(`<${EX}records/5>`, '_:b')],
  ] as const) {
    const store = await testStore(t, { 'urn:g': text })
    const random = numbers(11)
    const lines = text.split('\n').slice(0, -1)
    const patterns: TriplePattern[] = [
      {},
      { subject: parseTerm(`<${EX}hub>`) },
      { subject: parseTerm(`<${EX}kinds/3>`), predicate: parseTerm(`<${EX}holds>`) },
      ...['name', 'kind', 'size', 'tag', 'says'].map(local => ({ predicate: parseTerm(`<${EX}${local}>`) })),
      ...Array.from({ length: 6 }, (_, i) => {
        const [subject = '', predicate = ''] = (lines[random(lines.length)] ?? '').split(' ')
        return i % 2 === 0 ? { predicate: parseTerm(predicate) } : { subject: parseTerm(subject) }
      }),
      { subject: parseTerm(`<${EX}hub>`), predicate: parseTerm(`<${EX}says>`), object: parseTerm('"1"') },
    ].filter(({ subject }: TriplePattern) => subject?.type !== 'blank')
    for (const pattern of patterns) {
      const all = await store.match('urn:g', pattern, { offset: 0, limit: 1_000_000 })
      const whole = all.triples.split(/(?<=\n)/).filter(line => line !== '')
      const matching = lines.filter(line => matchesPattern(line, pattern)).map(line => `${line}\n`)
      t.strictSame(whole.toSorted(), [...new Set(matching)].toSorted(), `${name} ${JSON.stringify(pattern)}`)
      for (let i = 0; i < 12; i++) {
        const limit = [1, 7, 100, 500][i % 4] ?? 1
        const offset = random(whole.length + 20)
        const page = await store.match('urn:g', pattern, { offset, limit })
        const required = whole.slice(offset, offset + limit).join('')
        if (page.triples !== required || page.count !== whole.length)
          t.equal(page.triples, required, `${name} ${JSON.stringify(pattern)} from ${offset}, ${limit}`)
      }
    }
  }
})

/** True for a line of N-Triples that a pattern matches. */
function matchesPattern(line: string, { subject, predicate, object }: TriplePattern): boolean {
  const [triple] = parseTriples(`${line}\n`)
  const same = (requested: Term | undefined, found: Term | undefined) =>
    requested === undefined || (found !== undefined && termText(requested) === termText(found))
  return same(subject, triple?.subject) && same(predicate, triple?.predicate) && same(object, triple?.object)
}

t.test('pages of a whole graph have every triple once, and nothing of a graph that was dropped', async t => {
  const text = linked(4000)
  const store = await testStore(t, { 'urn:g': text })
  const total = text.split('\n').length - 1
  const found: string[] = []
  for (let offset = 0; offset < total; offset += 1500) {
    const { triples, count } = await store.match('urn:g', {}, { offset, limit: 1500 })
    t.equal(count, total)
    found.push(...triples.split(/(?<=\n)/))
  }
  t.equal(found.length, total)
  t.equal(new Set(found).size, total, 'every triple once')
  const beyond = await store.match('urn:g', {}, { offset: 999_999_999, limit: 10 })
  t.strictSame(beyond, { triples: '', count: total })
  await store.drop(['urn:g'])
  await store.load([graphOf('urn:g', records(4000))])
  const after = await store.match('urn:g', {}, { offset: 6000, limit: 10 })
  t.notMatch(after.triples, 'hub', 'nothing is left of a graph that was dropped')
})
