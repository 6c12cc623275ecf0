import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Parser, Store } from 'n3'

/** Where the files of the suites are said to be, so that relative IRIs in them have a meaning. */
export const BASE = 'http://w3c.test/'
const MF = 'http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#'
const QT = 'http://www.w3.org/2001/sw/DataAccess/tests/test-query#'
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const LABEL = 'http://www.w3.org/2000/01/rdf-schema#label'

/** The types of tests that are about queries, by their names in manifests. */
const KINDS = new Map([
  ['QueryEvaluationTest', 'evaluation'],
  ['CSVResultFormatTest', 'evaluation'],
  ['PositiveSyntaxTest', 'positive syntax'],
  ['PositiveSyntaxTest11', 'positive syntax'],
  ['NegativeSyntaxTest', 'negative syntax'],
  ['NegativeSyntaxTest11', 'negative syntax'],
])

/** Finds the files of a copy of https://github.com/w3c/rdf-tests. */
export class Suite {
  constructor(root) {
    this.root = path.resolve(root)
  }

  path(iri) {
    return path.join(this.root, decodeURIComponent(iri.slice(BASE.length)))
  }

  bytes(iri) {
    return readFileSync(this.path(iri))
  }

  text(iri) {
    return readFileSync(this.path(iri), 'utf8')
  }

  /**
   * The tests of queries of a manifest and of those that it includes, in their order: `{kind, name, query, data, named: [{file,
   * name}], result}`, files by their IRIs; those of syntax have no data and no result.
   */
  tests(manifest, seen = new Set()) {
    if (seen.has(manifest)) return []
    seen.add(manifest)
    const store = new Store(new Parser({ baseIRI: manifest }).parse(this.text(manifest)))
    const one = (subject, predicate) =>
      subject === undefined ? undefined : store.getObjects(subject, predicate, null)[0]
    const members = list => {
      const found = []
      for (let at = list; at !== undefined && at.value !== `${RDF}nil`; at = one(at, `${RDF}rest`)) {
        const first = one(at, `${RDF}first`)
        if (first !== undefined) found.push(first)
      }
      return found
    }
    const included = store.getObjects(null, `${MF}include`, null).flatMap(members)
    const entries = store.getObjects(null, `${MF}entries`, null).flatMap(members)
    const own = entries.flatMap(test => {
      const action = one(test, `${MF}action`)
      const result = one(test, `${MF}result`)?.value
      const [kind] = store
        .getObjects(test, `${RDF}type`, null)
        .flatMap(({ value }) => KINDS.get(value.slice(MF.length)) ?? [])
      if (kind === undefined || action === undefined) return []
      if (kind === 'evaluation' && result === undefined) return []
      const named = store.getObjects(action, `${QT}graphData`, null).map(given => {
        const file = one(given, `${QT}graph`)
        return { file: (file ?? given).value, name: (file && one(given, LABEL)?.value) ?? given.value }
      })
      const data = store.getObjects(action, `${QT}data`, null).map(({ value }) => value)
      const folder = manifest.split('/').at(-2)
      const name = `${folder}/${test.value.replace(/.*[#/]/, '')}`
      return [{ kind, name, query: (one(action, `${QT}query`) ?? action).value, data, named, result }]
    })
    return [...included.flatMap(({ value }) => this.tests(value, seen)), ...own]
  }
}
