import type { Test } from 'tap'
import { literalText } from '../../src/rdf/ntriples.ts'
import type { NamedNode, Term, TriplePattern } from '../../src/rdf/term.ts'
import { XSD } from '../../src/rdf/vocab.ts'
import { construct, inGraph, optional, select, triple, variable } from '../../src/sparql/build.ts'
import type { Store } from '../../src/store/store.ts'

/** Some triples of a graph, as text. */
export interface TextGraph {
  readonly graph: string
  readonly text: string
}

const GRAPH = 'urn:test:graph'
const RECORDS = 2000

const S = variable('s')
const O = variable('o')
const SPO = { subject: S, predicate: variable('p'), object: O }
const ALL = inGraph(GRAPH, triple(S, SPO.predicate, O))

const iri = (value: string): NamedNode => ({ type: 'iri', value })
const literal = (value: string, datatype: string = XSD.string, language = ''): Term => ({
  type: 'literal',
  value,
  datatype,
  language,
})

/** As many triples with subjects of their own. */
export function lines(count: number, name = 'x'): string {
  return Array.from(
    { length: count },
    (_, at) => `<http://${name}/${at}> <http://p/${at % 3}> "value ${at % 50} of ${name}" .\n`,
  ).join('')
}

export function textGraph(count: number, graph = GRAPH): TextGraph {
  return { graph, text: lines(count, graph.replace(/.*:/, '')) }
}

/** What every store answers, wherever its graphs are. */
export async function storeContract(
  t: Test,
  name: string,
  open: (t: Test, graphs: readonly TextGraph[]) => Promise<Store>,
): Promise<void> {
  await t.test(`${name}: terms come back as they went in`, async t => {
    const terms: readonly Term[] = [
      ...[
        '',
        ' ',
        '"',
        '\\',
        '\\n',
        'a\nb\r\tc',
        '\u0000\u0001\u001f\u007f',
        '\u0085\u2028\ufeff',
        '𝄞 é e\u0301',
      ],
      ...[
        '_:b0',
        ' _:b1 <http://x> .',
        '<http://x>',
        "'''",
        '"""',
        '?x {} # no comment',
        '%41',
        'x'.repeat(70_000),
      ],
    ].map(text => literal(text))
    const typed: readonly Term[] = [
      // In canonical form: the store keeps the values of numbers, not their spelling.
      literal('-7', XSD.integer),
      literal('1.5', XSD.decimal),
      literal('0.001', XSD.double),
      literal('NaN', XSD.double),
      literal('no number', XSD.integer),
      literal('2024-02-30', XSD.date),
      literal('2024-03-31T01:30:00+01:00', XSD.dateTime),
      literal('true', XSD.boolean),
      literal('POINT(1 2)', 'http://www.opengis.net/ont/geosparql#wktLiteral'),
      literal('chat', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString', 'fr'),
      literal('chat', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString', 'en-gb'),
      iri('http://example.org/é/%20?x=1&y#z'),
      iri('urn:x:y'),
    ]
    const all = [...terms, ...typed]
    const subject = (at: number) => `http://s/${at}`
    const text = all
      .map((term, at) => {
        const object =
          term.type === 'literal' ? literalText(term.value, term.datatype, term.language) : `<${term.value}>`
        return `<${subject(at)}> <http://p> ${object} .\n`
      })
      .join('')
    const store = await open(t, [{ graph: GRAPH, text }])
    const rows = await store.select(select([S, O], ALL))
    const found = new Map(rows.map(row => [row.s?.value, row.o]))
    for (const [at, term] of all.entries()) {
      const label = JSON.stringify(term)
        .replace(/[^ -~]/g, '?')
        .slice(0, 80)
      t.same(found.get(subject(at)), term, `select ${label}`)
      t.equal(await store.count(GRAPH, { subject: iri(subject(at)), object: term }), 1, `count ${label}`)
      const { triples } = await store.match(GRAPH, { object: term }, { offset: 0, limit: 10 })
      t.ok(text.split('\n').includes(triples.trimEnd()), `match ${label}`)
    }
    const built = await store.construct(construct([SPO], ALL))
    t.same(
      built.trimEnd().split('\n').sort(),
      text.trimEnd().split('\n').sort(),
      'construct gives the same lines',
    )
    const y = variable('y')
    const where = optional(ALL, inGraph(GRAPH, triple(S, iri('http://q'), y)))
    const [row] = await store.select(select([S, y, O], where, { limit: 1 }))
    t.same(Object.keys(row ?? {}), ['s', 'o'], 'unbound is absent')
  })

  await t.test(`${name}: match and count`, async t => {
    const store = await open(t, [textGraph(RECORDS), textGraph(5, 'urn:test:other')])
    const patterns: readonly (readonly [string, TriplePattern, number])[] = [
      ['all', {}, RECORDS],
      ['subject', { subject: iri('http://graph/7') }, 1],
      ['predicate', { predicate: iri('http://p/0') }, 667],
      ['object', { object: literal('value 7 of graph') }, 40],
      ['predicate and object', { predicate: iri('http://p/1'), object: literal('value 7 of graph') }, 14],
      [
        'everything',
        { subject: iri('http://graph/7'), predicate: iri('http://p/1'), object: literal('value 7 of graph') },
        1,
      ],
      ['of another graph', { subject: iri('http://other/1') }, 0],
      ['another datatype', { object: literal('value 7 of graph', XSD.integer) }, 0],
      ['a literal as subject', { subject: literal('x') }, 0],
      ['a literal as predicate', { predicate: literal('x') }, 0],
      ['a blank node', { object: { type: 'blank', value: 'b' } }, 0],
      ['no IRI', { subject: iri('no iri') }, 0],
      ['an injection', { subject: iri('http://x> ?p ?o } #') }, 0],
    ]
    for (const [name, pattern, required] of patterns) {
      t.equal(await store.count(GRAPH, pattern), required, `count of ${name}`)
      const whole = await store.match(GRAPH, pattern, { offset: 0, limit: 5000 })
      t.equal(whole.count, required, `count with the page of ${name}`)
      const distinct = whole.triples.split('\n').filter(line => line !== '')
      t.equal(new Set(distinct).size, required, `triples of ${name}`)
      for (const size of [1, 7, 100]) {
        if (required / size > 150) continue
        let pages = ''
        for (let offset = 0; offset < required + size; offset += size) {
          const page = await store.match(GRAPH, pattern, { offset, limit: size })
          if (page.count !== required) t.fail(`count on a page of ${name} at ${offset}: ${page.count}`)
          pages += page.triples
        }
        t.equal(pages, whole.triples, `pages of ${size} make the whole of ${name}`)
      }
    }
    await t.rejects(store.count('urn:test:unknown', {}), { code: 'StoreUnavailable' }, 'an unknown graph')
    t.equal(
      (await store.match(GRAPH, {}, { offset: 9999, limit: 10 })).count,
      RECORDS,
      'count beyond the end',
    )
  })
}
