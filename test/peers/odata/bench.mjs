/**
 * `node bench.mjs [BASE]`: the service beside SAP CAP on SQLite, both with the same cities, in one run. Every round asks
 * something that was not asked before, so that no kept answer is measured, both servers in turn and both warm. Without the address of
 * a served demonstration portal, one is begun.
 */
import { serveCap, serveLodestone } from './servers.mjs'

const ROUNDS = 15
const WARM_UP = 5

const WORDS =
  'burg,ville,stad,ford,field,dorf,hausen,berg,wood,mouth,santa,port,nova,grad,pur,abad,heim,bach,kirch,land'.split(
    ',',
  )
const COUNTRIES = 'FR,DE,IT,ES,US,GB,IN,BR,MX,JP,RU,PL,UA,TR,NL,CN,PH,ID,AR,CO'.split(',')

/** What is asked in a round; `keys` are those of cities. */
const REQUESTS = {
  'page of 100': round => ({ path: `cities?$top=100&$skip=${round}` }),
  'page of 1,000': round => ({
    path: `cities?$top=1000&$skip=${round}`,
    headers: { prefer: 'maxpagesize=1000' },
  }),
  count: () => ({ path: 'cities/$count' }),
  contains: round => ({
    path: `cities?$filter=contains(name,'${WORDS[round]}')&$count=true&$top=100`,
    same: 'count',
  }),
  'filter with order': round => ({
    path: `cities?$filter=country_code eq '${COUNTRIES[round]}' and population gt 10000&$orderby=population desc&$top=100`,
    same: true,
  }),
  'deep page': round => ({ path: `cities?$top=100&$skip=${100_000 + round}` }),
  key: (round, keys) => ({ path: `cities('${keys[round * 997]}')`, same: true }),
  'group by': round => ({
    path: `cities?$apply=groupby((country_code),aggregate($count as n${round},population with sum as total))&$top=1000`,
    headers: { prefer: 'maxpagesize=1000' },
  }),
}
/** Asked for interest, beside the eight. */
const MORE = {
  'count of a filter': round => ({ path: `cities/$count?$filter=population gt ${round * 1000}` }),
  'search (LIKE in CAP)': round => ({ path: `cities?$search=${WORDS[round]}&$top=100` }),
  'order of all': round => ({
    path: `cities?$orderby=population desc&$top=100&$skip=${round}`,
    same: true,
  }),
  metadata: () => ({ path: '$metadata' }),
}

async function ask(root, { path, headers = {} }) {
  const url = `${root}/${path.replaceAll(' ', '%20')}`
  const begun = performance.now()
  const response = await fetch(url, { headers: { 'accept-encoding': 'identity', ...headers } })
  const body = await response.text()
  const milliseconds = performance.now() - begun
  if (!response.ok) throw new Error(`${response.status} ${url} ${body.slice(0, 300)}`)
  return { milliseconds, body }
}

const median = values => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]
const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length

/** What both servers must say alike: how many there are where the order is free, the values of the order where not. */
function told(body, same) {
  const { '@odata.count': count, value, population } = JSON.parse(body)
  return same === 'count' ? String(count) : JSON.stringify(value?.map(each => each.population) ?? population)
}

/** All cities in pages of the longest kind, as the rows of a table. */
async function readAll(root) {
  const rows = []
  let url = `${root}/cities`
  while (url !== undefined) {
    const page = await (await fetch(url, { headers: { prefer: 'maxpagesize=10000' } })).json()
    for (const { coordinates, alternate_names, ...row } of page.value)
      rows.push({
        ...row,
        alternate_names: JSON.stringify(alternate_names),
        coordinates_latitude: coordinates?.latitude ?? null,
        coordinates_longitude: coordinates?.longitude ?? null,
      })
    url = page['@odata.nextLink']
  }
  return rows
}

/** Time of the first ten and the last ten pages of a reading through next links, in milliseconds. */
async function pageThrough(root, size) {
  const times = []
  let url = `${root}/cities`
  while (url !== undefined) {
    const begun = performance.now()
    const headers = { 'accept-encoding': 'identity', ...(size && { prefer: `maxpagesize=${size}` }) }
    const page = await (await fetch(url, { headers })).json()
    times.push(performance.now() - begun)
    url = page['@odata.nextLink']
  }
  return {
    pages: times.length,
    seconds: (mean(times) * times.length) / 1000,
    first: mean(times.slice(0, 10)),
    last: mean(times.slice(-11, -1)),
  }
}

const given = process.argv[2]
const ours = given === undefined ? await serveLodestone() : { base: given, stop: async () => {} }
const root = `${ours.base}/api/odata`
const begun = performance.now()
const rows = await readAll(root)
const reading = (performance.now() - begun) / 1000
process.stdout.write(`${rows.length} cities read in ${reading.toFixed(1)} s in pages of 10,000\n`)
const theirs = await serveCap(rows)
const keys = rows.map(({ recordid }) => recordid)

for (let round = 0; round < 100; round++)
  for (const path of [
    `cities?$top=100&$skip=${5000 + round}`,
    `cities('${keys[50_000 + round]}')`,
    `cities?$filter=country_code eq 'AT' and population gt ${round}&$orderby=population desc&$top=100`,
  ])
    for (const base of [root, theirs.base]) await ask(base, { path })

let faster = 0
process.stdout.write(
  `${'median of 15, ms'.padEnd(24)}${'ours'.padStart(9)}${'CAP'.padStart(9)}${'CAP/ours'.padStart(10)}\n`,
)
for (const [what, request] of Object.entries({ ...REQUESTS, ...MORE })) {
  const times = { ours: [], theirs: [] }
  let differing = 0
  try {
    for (let round = 0; round < ROUNDS + WARM_UP; round++) {
      const asked = request(round, keys)
      const inTurn = round % 2 === 0 ? ['ours', 'theirs'] : ['theirs', 'ours']
      const answers = {}
      for (const side of inTurn) {
        answers[side] = await ask(side === 'ours' ? root : theirs.base, asked)
        if (round >= WARM_UP) times[side].push(answers[side].milliseconds)
      }
      if (asked.same && told(answers.ours.body, asked.same) !== told(answers.theirs.body, asked.same))
        differing++
    }
    const [one, other] = [median(times.ours), median(times.theirs)]
    if (what in REQUESTS && one < other) faster++
    const remark = differing > 0 ? `  ${differing} answers differ` : ''
    process.stdout.write(
      `${what.padEnd(24)}${one.toFixed(1).padStart(9)}${other.toFixed(1).padStart(9)}${(other / one).toFixed(2).padStart(10)}${remark}\n`,
    )
  } catch (error) {
    process.stdout.write(`${what.padEnd(24)} ${error.message}\n`)
  }
}
process.stdout.write(`faster on ${faster} of ${Object.keys(REQUESTS).length}\n`)

for (const size of [undefined, 1000]) {
  const { pages, seconds, first, last } = await pageThrough(root, size)
  process.stdout.write(
    `${pages} pages of ${size ?? 'the usual size'} in ${seconds.toFixed(1)} s: the first ten ${first.toFixed(1)} ms, the last ten ${last.toFixed(1)} ms each: ${(last / first).toFixed(2)}\n`,
  )
}
await Promise.all([ours.stop(), theirs.stop()])
