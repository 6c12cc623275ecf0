import { readFileSync } from 'node:fs'
import t from 'tap'

/** What a server is installed with: few packages, each with a licence that allows everything, none that runs at its installation. */
interface Package {
  readonly license?: string
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
  readonly resolved?: string
  readonly integrity?: string
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  readonly packages: Readonly<Record<string, Package>>
}
const installed = Object.entries(lock.packages).filter(([path, { dev = false }]) => path !== '' && !dev)

const PERMISSIVE =
  /^\(?(?:MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0|Unlicense|CC0-1\.0|EDL-1\.0|WTFPL)\b/

t.test('production packages', async t => {
  t.ok(installed.length > 50, 'they are found')
  t.ok(installed.length < 350, `${installed.length} packages`)
  for (const [path, { license = 'none', hasInstallScript = false, integrity }] of installed) {
    t.match(license, PERMISSIVE, `${path}: licence ${license}`)
    t.equal(hasInstallScript, false, `${path} runs nothing at its installation`)
    t.match(integrity, /^sha512-/, `${path} has a sum`)
  }
})
