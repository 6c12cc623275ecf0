import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { intoConfig, replicateLDES } from 'ldes-client'
import { Parser } from 'n3'

/**
 * Rebuilds every kept version of a dataset from its event stream with ldes-client, and compares it with the export of that version:
 * node ldes.mjs [VERSIONS] [ROWS]
 */
const [VERSIONS = 5, ROWS = 1200] = process.argv.slice(2).map(Number)
const PORT = 4810
const lodestone = path.resolve(import.meta.dirname, '../../../bin/lodestone.js')
const portal = mkdtempSync(path.join(tmpdir(), 'lodestone-ldes-'))
const folder = path.join(portal, 'data/things')
mkdirSync(folder, { recursive: true })
writeFileSync(path.join(portal, 'portal.yaml'), `keep_versions: ${VERSIONS}\n`)
writeFileSync(path.join(folder, 'dataset.yaml'), 'source: { path: things.csv }\nid: [nr]\n')

for (let version = 0; version < VERSIONS; version++) {
  const rows = Array.from({ length: ROWS }, (_, nr) => nr)
    .filter(nr => (nr * 7 + version) % 5 !== 0)
    .map(nr => `${nr},name ${nr % 3 === 0 ? version : 0},${(nr + version) % 11 === 0 ? '' : nr / 2}`)
  writeFileSync(path.join(folder, 'things.csv'), `nr,name,size\n${rows.join('\n')}\n`)
  execFileSync(process.execPath, [lodestone, 'publish', '--portal', portal, '--port', String(PORT)], {
    stdio: 'ignore',
  })
}
const server = spawn(process.execPath, [lodestone, 'serve', '--portal', portal, '--port', String(PORT)], {
  stdio: 'ignore',
})
const base = `http://localhost:${PORT}`
try {
  while (
    !(await fetch(`${base}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await sleep(100)
  const { versions } = await (await fetch(`${base}/api/versions/things`)).json()
  const states = []
  const client = replicateLDES(intoConfig({ url: `${base}/api/versions/things/ldes` }), 'ascending')
  const reader = client.stream({ highWaterMark: 10 }).getReader()
  for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read())
    states.push(stateOf(value))
  let failures = 0
  for (const { version, published } of versions) {
    const rebuilt = new Map()
    for (const { of, time, facts, isGone } of states) {
      if (time > Date.parse(published)) continue
      if (isGone) rebuilt.delete(of)
      else rebuilt.set(of, facts)
    }
    const lines = [...rebuilt].flatMap(([subject, facts]) => facts.map(fact => `${subject} ${fact}`)).sort()
    const text = await (
      await fetch(`${base}/api/explore/v2.1/catalog/datasets/things/exports/n3?version=${version}`)
    ).text()
    const expected = new Parser()
      .parse(text)
      .map(({ subject, predicate, object }) => `${subject.value} ${predicate.value} ${object.value}`)
      .sort()
    const isSame = JSON.stringify(lines) === JSON.stringify(expected)
    if (!isSame) failures += 1
    console.log(
      `${version}: ${expected.length} triples, ${isSame ? 'rebuilt' : `${lines.length} were rebuilt`}`,
    )
  }
  console.log(`${states.length} members`)
  process.exitCode = failures === 0 ? 0 : 1
} finally {
  server.kill()
  rmSync(portal, { recursive: true, force: true })
}

/** What a member says of the resource that it is a version of. */
function stateOf({ id, quads, timestamp, isVersionOf }) {
  const own = quads.filter(({ subject }) => subject.equals(id))
  const facts = own
    .filter(({ predicate }) => !/isVersionOf|generatedAtTime/.test(predicate.value))
    .map(({ predicate, object }) => `${predicate.value} ${object.value}`)
  const isGone = own.some(({ object }) => object.value === 'https://www.w3.org/ns/activitystreams#Delete')
  return { of: isVersionOf, time: Number(new Date(timestamp)), facts, isGone }
}
