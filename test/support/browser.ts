import { existsSync } from 'node:fs'

/** The packages that start a browser, installed by those who have one. */
export const PEERS = new URL('../peers/browser/', import.meta.url)

/** Why no browser can visit; false where one can. */
export const noBrowser = lacking()

function lacking(): string | false {
  const names = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser']
  if (!names.some(name => name !== undefined && existsSync(name))) return 'there is no Chromium'
  const isThere = existsSync(new URL('node_modules/playwright-core/package.json', PEERS))
  return isThere ? false : 'npm install --prefix test/peers/browser was not done'
}
