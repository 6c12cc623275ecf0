/**
 * `node --import=tsx run.mjs FOLDER [columns|endpoint|fragments|memory] [sparql10|sparql11|sparql12 …]`: the tests of the evaluation
 * and of the syntax of queries of the W3C's suites of SPARQL 1.0, 1.1 and 1.2. `TEST=name` runs the tests whose name has it; `LEAST=n` is the number of tests that have
 * to pass. `fragments` and `memory` ask with Comunica, over the fragments of the data and over the data itself. README.md tells how the suites are fetched.
 */
import { parseQuery } from '../../../src/sparql/parse.ts'
import { difference } from '../linked-data/results.mjs'
import { openColumns } from './columns.mjs'
import { answerOf, csvDifference, expectedOf, graphsOf } from './data.mjs'
import { openEndpoint } from './endpoint.mjs'
import { isPlain, openFragments, openMemory } from './fragments.mjs'
import { BASE, Suite } from './manifest.mjs'

const [folder, via = 'columns', ...versions] = process.argv.slice(2)
const OPENED = { columns: openColumns, endpoint: openEndpoint, fragments: openFragments, memory: openMemory }
if (folder === undefined || OPENED[via] === undefined) {
  process.stderr.write(
    'node --import=tsx run.mjs FOLDER [columns|endpoint|fragments|memory] [sparql10|sparql11|sparql12 …]\n',
  )
  process.exit(2)
}
const suite = new Suite(folder)
let passed = 0
for (const version of versions.length > 0 ? versions : ['sparql10', 'sparql11', 'sparql12']) {
  const tests = suite
    .tests(`${BASE}sparql/${version}/manifest.ttl`)
    .filter(({ name }) => process.env.TEST === undefined || name.includes(process.env.TEST))
    .map(test => ({
      ...test,
      base: test.query,
      bytes: suite.bytes(test.query),
      query: suite.text(test.query),
    }))
    .map(test => ({
      ...test,
      format: test.result?.endsWith('.csv') ? 'csv' : 'json',
      graphs: graphsOf(test, test.kind === 'evaluation' ? graphsIn(test) : [], suite),
    }))
  const asked = await OPENED[via](tests)
  const passedOf = new Map()
  for (const test of tests) {
    if (asked.answer !== undefined && test.kind !== 'evaluation') continue
    const kind = asked.answer === undefined ? test.kind : isPlain(test.graphs) ? 'one graph' : 'graphs'
    const [own = 0, all = 0] = passedOf.get(kind) ?? []
    const failure = await judge(test, asked)
    if (failure !== null) process.stdout.write(`${version} ${test.name}: ${failure.slice(0, 600)}\n`)
    passedOf.set(kind, [failure === null ? own + 1 : own, all + 1])
  }
  await asked.close()
  for (const [kind, [own, all]] of passedOf) {
    passed += own
    process.stdout.write(`${version} ${via}, ${kind}: ${own} of ${all}\n`)
  }
}
process.exit(passed < Number(process.env.LEAST ?? 0) ? 1 : 0)

/** The graphs that a query names with FROM. */
function graphsIn({ query, base }) {
  try {
    const { dataset } = parseQuery(query, base)
    return [...(dataset?.defaultGraphs ?? []), ...(dataset?.namedGraphs ?? [])]
  } catch {
    return []
  }
}

/** Null where the answer is the one that is expected, else what is wrong. */
async function judge(test, { answer, ask, isSyntax, genid }) {
  try {
    if (answer !== undefined) {
      const expected = await expectedOf(test, suite)
      return expected.type === 'csv' ? null : difference(expected, await answer(test), genid)
    }
    if (test.kind !== 'evaluation') {
      const isPositive = test.kind === 'positive syntax'
      if ((await isSyntax(test)) === isPositive) return null
      return isPositive ? 'is refused' : 'is not refused'
    }
    const { text, isGraph } = await ask(test)
    const expected = await expectedOf(test, suite)
    const found = answerOf(text, isGraph, test.format)
    return expected.type === 'csv'
      ? csvDifference(expected, found, genid)
      : difference(expected, found, genid)
  } catch (error) {
    return String(error.message)
  }
}
