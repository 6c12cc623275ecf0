import { existsSync } from 'node:fs'
import { createServer } from 'node:net'

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

/** A port that nobody listens on. */
export function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number }
      server.close(() => resolve(port))
    })
  })
}
