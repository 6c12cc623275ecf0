import { createReadStream } from 'node:fs'
import readline from 'node:readline'

/**
 * How long pages and equality filters take over HTTP on the records that `test/bench/scale.ts` makes, published and served:
 * p50, p95 and the longest in milliseconds, and how many failed.
 *
 * node pages.mjs ADDRESS SCALE.CSV [REQUESTS]
 */
const [address, file, requests = '60'] = process.argv.slice(2)
if (address === undefined || file === undefined) {
  console.error('node pages.mjs ADDRESS SCALE.CSV [REQUESTS]')
  process.exit(2)
}

/** Records from all over the beginning of the file, whose values are asked for. */
const rows = []
for await (const line of readline.createInterface({ input: createReadStream(file, { end: 40_000_000 }) }))
  rows.push(line.split(','))
const pick = () => rows[1 + Math.floor(Math.random() * (rows.length - 2))]
const offset = most => String(Math.floor(Math.random() * most))
const CASES = {
  'a page': () => ({ offset: offset(9980) }),
  'name =': () => ({ where: `name = "${pick()[0]}"` }),
  'count =': () => ({ where: `\`count\` = ${pick()[1]}` }),
  'day =': () => ({ where: `\`day\` = date'${pick()[3]}'` }),
  'category =': () => ({ where: `category = "${pick()[4]}"` }),
  'category = at an offset': () => ({ where: `category = "${pick()[4]}"`, offset: offset(9000) }),
  'category and day': () => ({ where: `category = "${pick()[4]}" and \`day\` = date'${pick()[3]}'` }),
  'a word': () => ({ where: `"${pick()[0].split(' ')[0]}"` }),
  'order by amount': () => ({ order_by: 'amount desc', offset: offset(100) }),
}
for (const [name, clauses] of Object.entries(CASES)) {
  const times = []
  let failed = 0
  for (let request = 0; request < Number(requests); request++) {
    const query = new URLSearchParams({ limit: '20', ...clauses() })
    const begun = performance.now()
    const answer = await fetch(`${address}/api/explore/v2.1/catalog/datasets/scale/records?${query}`)
    await answer.text()
    times.push(performance.now() - begun)
    if (!answer.ok) failed += 1
  }
  times.sort((a, b) => a - b)
  const at = part => times[Math.min(times.length - 1, Math.floor(part * times.length))].toFixed(0)
  console.log(`${name}: p50 ${at(0.5)}, p95 ${at(0.95)}, longest ${at(1)} ms, ${failed} failed`)
}
