import fastify, { type FastifyInstance } from 'fastify'
import { Parser, type Quad } from 'n3'
import type { Test } from 'tap'
import { fragments } from '../../src/api/fragments/routes.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../../src/errors/errors.ts'
import { AnswerCache } from '../../src/http/conditional.ts'
import { parseQueryString } from '../../src/http/query-string.ts'
import { literalText } from '../../src/rdf/ntriples.ts'
import { XSD } from '../../src/rdf/vocab.ts'
import { freePort } from './serving.ts'
import { testStore, watched } from './test-store.ts'

const GRAPH = 'urn:test:facts'
export const EX = 'http://example.org/'
export const PAGE_SIZE = 10

/** 30 people in a chain, with what makes literals hard. */
export const NAMES = ['Zoë', 'say "hi"', 'back\\slash', 'a\nb', '😀', "L'Été", '^^<x>', '"@en', 'plain', '']
export const DATA = Array.from({ length: 30 }, (_, i) => {
  const person = `<${EX}person/${i}>`
  return [
    `${person} <${EX}name> ${literalText(`${NAMES[i % 10]}${i < 10 ? '' : i}`)} .\n`,
    `${person} <${EX}age> ${literalText(String(20 + (i % 7)), XSD.integer)} .\n`,
    `${person} <${EX}height> ${literalText(String(1 + i / 100), XSD.double)} .\n`,
    ...(i % 3 === 0
      ? [`${person} <${EX}label> ${literalText(`n${i}`, XSD.string, i % 2 === 0 ? 'en' : 'fr')} .\n`]
      : []),
    ...(i < 29 ? [`${person} <${EX}knows> <${EX}person/${i + 1}> .\n`] : []),
    ...(i % 10 === 0 ? [`${person} <${EX}knows> ${person} .\n`] : []),
  ].join('')
}).join('')
export const quads = new Parser({ format: 'N-Triples' }).parse(DATA)

const PEOPLE = {
  id: 'people',
  title: 'People "of" é',
  description: '<p>Some</p>',
  version: 'v1',
  graph: GRAPH,
}

export interface Server {
  readonly http: FastifyInstance
  readonly address: string
  readonly calls: readonly string[]
}

/** Serves the people; `listening` at the very address that the fragments tell. */
export async function servePeople(t: Test, listening = false): Promise<Server> {
  const port = listening ? await freePort() : 80
  const address = listening ? `http://127.0.0.1:${port}` : 'http://127.0.0.1'
  const store = watched(await testStore(t, { [GRAPH]: DATA }))
  const http = fastify({ routerOptions: { ignoreTrailingSlash: true, querystringParser: parseQueryString } })
  await http.register(fragments, {
    answers: new AnswerCache(1e6),
    title: 'Portal',
    description: '',
    languages: ['en'],
    base: address,
    pageSize: PAGE_SIZE,
    store,
    dataset: id => {
      if (id !== 'people') throw new Fault(NOT_FOUND_RESOURCE, { kind: 'dataset', id })
      return PEOPLE
    },
    datasets: () => ({ version: 'v1', entries: [{ ...PEOPLE, triples: quads.length }] }),
  })
  if (listening) await http.listen({ port, host: '127.0.0.1' })
  t.teardown(() => http.close())
  return { http, address, calls: store.calls }
}

export const parse = (text: string, format: string) => new Parser({ format }).parse(text)

export function isData(quad: Quad): boolean {
  return quad.graph.termType === 'DefaultGraph'
}

export interface AnyTerm {
  readonly termType: string
  readonly value: string
  readonly language?: string
  readonly datatype?: { readonly value: string }
}

/** A term by its parts: readers order the properties of their objects differently. */
export const termKey = (term: AnyTerm) => [
  term.termType,
  term.value,
  term.language ?? '',
  term.datatype?.value ?? '',
]

export const key = (quad: Quad) =>
  JSON.stringify([quad.subject, quad.predicate, quad.object].map(term => termKey(term)))

export function objects(page: readonly Quad[], predicate: string): readonly string[] {
  return page.filter(quad => quad.predicate.value === predicate).map(quad => quad.object.value)
}
