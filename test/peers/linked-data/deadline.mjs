/**
 * `node deadline.mjs [SECONDS]`: a query that would run for hours at the SPARQL endpoint of the cities, while fragments are asked for
 * that were not asked before. Prints how long fragments take alone, beside the query until its deadline, and after it, when the store is
 * loaded anew.
 */
import { cpSync } from 'node:fs'
import path from 'node:path'
import { Client } from 'undici'
import { root, serveLodestone } from './servers.mjs'

const SECONDS = Number(process.argv[2] ?? 10)
const HEAVY = 'SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?c != ?f && ?f != ?i) }'

const { base, stop } = await serveLodestone(
  place => cpSync(path.join(root, 'data/cities'), place('cities'), { recursive: true }),
  { deadline: SECONDS },
)
const client = new Client(base)
const get = async address => {
  const begun = performance.now()
  const { statusCode, body } = await client.request({
    path: address,
    method: 'GET',
    headers: { accept: 'application/n-quads' },
  })
  const text = await body.text()
  return { statusCode, text, milliseconds: performance.now() - begun }
}
const quantile = (values, part) =>
  [...values].sort((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * part))]

/** Subjects and objects of some pages, so that patterns are of different kinds. */
const patterns = []
for (let page = 1; page <= 30; page++) {
  const { text } = await get(`/api/tpf/cities?page=${page * 60}`)
  for (const [, subject, predicate, object] of text.matchAll(
    /^<([^>]*)> <([^>]*)> ([^<\n]*(?:<[^>#]*#?[^>]*>)?) \.$/gm,
  )) {
    const value = object.replace(/\^\^<(.*)>$/, '^^$1')
    const bound = patterns.length % 3
    if (bound === 0) patterns.push(`subject=${encodeURIComponent(subject)}`)
    if (bound === 1)
      patterns.push(`subject=${encodeURIComponent(subject)}&predicate=${encodeURIComponent(predicate)}`)
    if (bound === 2 && object.startsWith('"'))
      patterns.push(`predicate=${encodeURIComponent(predicate)}&object=${encodeURIComponent(value)}`)
  }
}
for (let at = patterns.length - 1; at > 0; at--) {
  const other = Math.floor(Math.random() * (at + 1))
  ;[patterns[at], patterns[other]] = [patterns[other], patterns[at]]
}

/** Asks for fragments one after another, with a little rest, until a time or until something is done. */
async function measure(name, done, most = Number.POSITIVE_INFINITY) {
  const times = []
  const begun = performance.now()
  while (!done() && performance.now() - begun < most && patterns.length > 0) {
    const { statusCode, text, milliseconds } = await get(`/api/tpf/cities?${patterns.pop()}`)
    if (statusCode !== 200) process.stdout.write(`  a fragment is answered with ${statusCode}: ${text}\n`)
    times.push(milliseconds)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  const shown = [0.5, 0.95, 1].map(part => quantile(times, part).toFixed(1)).join(' / ')
  process.stdout.write(`${name}: ${times.length} fragments, p50 / p95 / most ${shown} ms\n`)
  return { half: quantile(times, 0.5), most: quantile(times, 0.95) }
}

await measure('warming up', () => false, 3000)
const alone = await measure('alone', () => false, 6000)
let ended = null
const begun = performance.now()
const asked = fetch(`${base}/api/sparql/cities?query=${encodeURIComponent(HEAVY)}`).then(async response => {
  ended = {
    status: response.status,
    text: await response.text(),
    seconds: (performance.now() - begun) / 1000,
  }
})
const beside = await measure('beside', () => ended !== null, (SECONDS + 30) * 1000)
await asked
process.stdout.write(
  `  the query: ${ended.status} after ${ended.seconds.toFixed(1)} s: ${ended.text.slice(0, 300)}\n`,
)
const after = await measure('after it', () => false, 6000)
for (const [name, times] of Object.entries({ beside, 'after it': after }))
  process.stdout.write(
    `${name} / alone: p50 ${(times.half / alone.half).toFixed(2)}, p95 ${(times.most / alone.most).toFixed(2)}\n`,
  )
await client.close()
await stop()
