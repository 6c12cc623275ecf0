import { spawn } from 'node:child_process'
import path from 'node:path'
import { BASE, type BenchPortal, root } from './support.ts'
import { percentile, type Row, under } from './table.ts'

const SET = '/api/odata/cities'
const ROUNDS = 15
const WARM_UP = 3
/** The last pages of a reading may take so much of the time of the first. */
const STEADY = 1.3

const WORDS =
  'burg ville stad ford field dorf hausen berg wood mouth santa port nova grad pur abad heim bach'.split(' ')

/** Requests that differ from round to round, so that no kept answer is measured. */
const REQUESTS: Readonly<Record<string, (round: number) => string>> = {
  'page of 100': round => `$top=100&$skip=${round}`,
  'page of 1,000': round => `$top=1000&$skip=${round}`,
  contains: round => `$filter=contains(name,'${WORDS[round]}')`,
  'filter with order': round => `$filter=population gt ${50_000 + round}&$orderby=population desc`,
  'deep page': round => `$top=100&$skip=${100_000 + round}`,
  groups: round => `$apply=groupby((country_code),aggregate($count as n${round}))`,
}

/** The OData service over HTTP: the time of single requests, and of pages through next links from the first to the last. */
export async function benchOData({ folder }: BenchPortal): Promise<readonly Row[]> {
  const server = await begin(folder)
  try {
    const rows: Row[] = []
    for (const [what, query] of Object.entries(REQUESTS)) {
      const times: number[] = []
      for (let round = 0; round < ROUNDS + WARM_UP; round++) {
        const { milliseconds } = await ask(`${server.origin}${SET}?${query(round).replaceAll(' ', '%20')}`)
        if (round >= WARM_UP) times.push(milliseconds)
      }
      rows.push({ what: `OData: ${what}`, value: `${percentile(times, 0.5).toFixed(1)} ms` })
    }
    const pages = await pageThrough(server.origin)
    const [first, last] = [mean(pages.slice(0, 10)), mean(pages.slice(-10))]
    const whole = `${first.toFixed(1)} ms each at first, ${last.toFixed(1)} ms at last`
    rows.push({ what: `OData: ${pages.length} pages`, value: whole })
    return [...rows, under('OData: last ten pages to first ten', last / first, STEADY, 'times', 2)]
  } finally {
    await server.stop()
  }
}

/** Milliseconds of every page of all cities. */
async function pageThrough(origin: string): Promise<readonly number[]> {
  const times: number[] = []
  let next: string | undefined = BASE + SET
  while (next !== undefined) {
    const { body, milliseconds } = await ask(next.replace(BASE, origin))
    times.push(milliseconds)
    next = (JSON.parse(body) as { readonly '@odata.nextLink'?: string })['@odata.nextLink']
  }
  return times
}

async function ask(url: string) {
  const begun = performance.now()
  const headers = { 'accept-encoding': 'identity', prefer: 'maxpagesize=1000' }
  const response = await fetch(url, { headers: url.includes('$top=1000') ? headers : {} })
  const body = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${url}: ${body}`)
  return { body, milliseconds: performance.now() - begun }
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** Serves a portal on a port that the system chooses. */
function begin(folder: string): Promise<{ readonly origin: string; readonly stop: () => Promise<unknown> }> {
  const script = path.join(root, 'bin/lodestone.js')
  const args = [script, 'serve', '--portal', folder, '--port', '0', '--base', BASE]
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
  const stop = () => {
    const ended = new Promise(resolve => child.once('exit', resolve))
    child.kill('SIGTERM')
    return ended
  }
  return new Promise((resolve, reject) => {
    let printed = ''
    child.stdout.setEncoding('latin1').on('data', (text: string) => {
      printed += text
      const port = /\(port (\d+)\)/.exec(printed)?.[1]
      if (port !== undefined) resolve({ origin: `http://127.0.0.1:${port}`, stop })
    })
    child.once('exit', code => reject(new Error(`the server ended with ${code}: ${printed}`)))
  })
}
