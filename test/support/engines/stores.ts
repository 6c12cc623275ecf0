import { existsSync, readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { iri, literal } from '../../../src/sparql/build.ts'
import type { SharedStore } from '../../../src/store/remote/remote.ts'
import { QueryError } from '../../../src/store/store.ts'
import { textOf } from '../ask.ts'
import { lines } from '../store-contract.ts'
import { fileOf, travel } from './files.ts'

/** Records of a graph whose columns have several parts. */
const RECORDS = 20_000

export async function values(t: Test, store: SharedStore, folder: string): Promise<void> {
  const graph = 'urn:test:values'
  const typed = (value: string, type: string) => `"${value}"^^<http://www.w3.org/2001/XMLSchema#${type}>`
  const objects = [
    ...['"Zürich"', '"𝄞"', '"\uffee"', '"a\u0085"', '""', `"${'é'.repeat(5000)}"`],
    ...['1', '-5', '2147483648', '9007199254740993'].map(value => typed(value, 'integer')),
    ...['0.1', '0.30000000000000004', '123456789.125', '100000', '0.0000001'].map(each =>
      typed(each, 'double'),
    ),
    ...['2024-02-29', '0001-01-01', '-0044-03-15'].map(value => typed(value, 'date')),
    ...['2024-02-29T23:59:59.999Z', '1582-10-10T00:00:00Z'].map(value => typed(value, 'dateTime')),
    '"POINT(2.352222123456789 48.85)"^^<http://www.opengis.net/ont/geosparql#wktLiteral>',
    '"chat"@fr',
    `<urn:${'y'.repeat(2500)}>`,
  ]
  const text = objects.map((object, at) => `<urn:s:${at}> <urn:p:${at % 3}> ${object} .\n`).join('')
  await store.dropShared([graph])
  const source = fileOf(folder, { graph, text })
  await store.upload(source, {})
  const query = 'SELECT ?o { ?s ?p ?o }'
  const found = await textOf(
    await store.query({
      parsed: null,
      base: 'http://portal.example/',
      format: 'json',
      defaultGraphs: [graph],
      namedGraphs: [],
      engineText: () => query,
    }),
  )
  t.notMatch(
    found.replaceAll('urn:lodestone:literal:iri', ''),
    /urn:lodestone:literal/,
    'a stranger sees no datatype of ours',
  )
  t.match(found, /2147483648/)
  // Made of what the engine has: the same triples, whatever forms it has for values.
  await store.dropShared([`${graph}:none`])
  const rebuilt = { ...source, path: null, columns: `${source.columns}.rebuilt` }
  await store.change([{ type: 'drop', graph: `${graph}:columns` }])
  await store.fetch({ ...rebuilt, stored: objects.length })
  await store.load([rebuilt])
  const { triples } = await store.match(graph, {}, { offset: 0, limit: 1000 })
  t.same(triples.split('\n').sort(), text.split('\n').sort())
}

export async function columnsAgain(t: Test, store: SharedStore, folder: string): Promise<void> {
  const graph = 'urn:test:lost'
  const text = lines(RECORDS, 'lost')
  await store.dropShared([graph])
  const source = fileOf(folder, { graph, text })
  await store.upload(source, {})
  t.ok((await store.withColumns()).has(graph))
  const part = { subject: iri(`${graph}:columns:0`), predicate: iri('urn:lodestone:columns#part') }
  const required = text.trimEnd().split('\n').sort()
  const fetched = async (name: string) => {
    const columns = `${source.columns}.${name}`
    await store.fetch({ graph, columns, isSearched: false, stored: RECORDS })
    await store.load([{ ...source, path: null, columns }])
    let lines = ''
    for await (const piece of store.lines(graph, RECORDS, RECORDS)) lines += piece
    await store.drop([graph])
    return lines.trimEnd().split('\n').sort()
  }
  // One more part than there was.
  await store.change([
    { type: 'insert', graph: `${graph}:columns`, triples: [{ ...part, object: literal('000 AAAA') }] },
  ])
  t.same(await fetched('damaged'), required, 'damaged')
  t.notOk((await store.withColumns()).has(graph), 'what is damaged is dropped')
  t.same(await fetched('missing'), required, 'missing')
  await store.sendColumns(source)
  t.ok((await store.withColumns()).has(graph), 'put there again')
  await store.fetch({ ...source, columns: `${source.columns}.again`, stored: null })
  t.same(readFileSync(`${source.columns}.again`), readFileSync(source.columns))
  const refused = { graph, columns: `${source.columns}.none`, isSearched: false, stored: RECORDS + 1 }
  await store.dropShared([graph])
  await t.rejects(store.fetch(refused), { code: 'LoadRefused' }, 'triples are missing as well')
  t.notOk(existsSync(refused.columns))
}

/** Queries of strangers, who see the graphs of their dataset alone. */
export async function untrusted(t: Test, store: SharedStore, folder: string): Promise<void> {
  const [open, secret] = ['urn:test:open', 'urn:test:secret']
  await store.dropShared([open, secret])
  await travel(store, fileOf(folder, { graph: open, text: '<urn:a> <urn:p> "open" .\n' }))
  await travel(store, fileOf(folder, { graph: secret, text: '<urn:a> <urn:p> "secret" .\n' }))
  const ask = async (text: string, defaultGraphs: readonly string[], namedGraphs: readonly string[] = []) =>
    textOf(
      await store.query({
        parsed: null,
        base: 'http://portal.example/',
        format: 'json',
        defaultGraphs,
        namedGraphs: namedGraphs.map(graph => [graph, graph] as const),
        engineText: () => text,
      }),
    )
  const values = (text: string) => [...text.matchAll(/"(open|secret)"/g)].map(([, word]) => word)
  t.same(values(await ask('SELECT ?o { ?s ?p ?o }', [open])), ['open'])
  t.same(values(await ask('SELECT ?o { GRAPH ?g { ?s ?p ?o } }', [open])), [], 'no named graph')
  t.same(values(await ask('SELECT ?o { GRAPH ?g { ?s ?p ?o } }', [], [open])), ['open'])
  t.same(
    values(await ask(`SELECT ?o { GRAPH <${secret}> { ?s ?p ?o } }`, [open], [open])),
    [],
    'not by its name',
  )
  t.same(values(await ask('SELECT ?o { ?s ?p ?o }', [])), [], 'no graph at all')
  t.same(values(await ask('SELECT ?o { <urn:a> !<urn:z> ?o }', [open])), ['open'], 'no path leads there')
  t.same(
    values(await ask('SELECT ?p { ?s ?p ?o FILTER EXISTS { GRAPH ?g { ?s ?p "secret" } } }', [open], [open])),
    [],
    'nothing is known of it',
  )
  t.same(values(await ask('SELECT ?o { GRAPH ?g { ?s ?p ?o } }', [])), [], 'no named graph of none')
  await t.rejects(ask('SELECT ?o {\n ?s ?p }', [open]), QueryError, 'a mistake is told')
  if (store.engine.kind === 'virtuoso')
    for (const [prologue, call] of [
      ['', '<bif:upper>("x")'],
      ['', '< sql:rnd>(9)'],
      ['', '<\\u0062if:upper>("x")'],
      ['PREFIX b: <bif:>', 'b:upper("x")'],
      ['PREFIX b: <B>', 'b:if:upper("x")'],
      ['PREFIX b: <>', 'b:bif:upper("x")'],
      ['BASE <bif:> PREFIX b: <x>', 'b:upper("x")'],
    ] as const)
      await t.rejects(
        ask(`${prologue} SELECT (${call} AS ?o) { ?s ?p ?x }`, [open]),
        { code: 'BadRequest', message: /functions of the engine/ },
        `${prologue} ${call}`,
      )
}
