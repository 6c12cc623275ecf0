import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

/** The browser of the system, and what it says while pages are open in it. */

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Where Chromium is: CHROMIUM of the environment, else where Debian and its like put it; undefined where it is not. */
export function chromiumPath() {
  return [process.env.CHROMIUM, ...PLACES].find(place => place !== undefined && existsSync(place))
}

/** Starts a browser with an empty profile, which asks nobody for anything but the pages that it is sent to. */
export function startBrowser() {
  const executablePath = chromiumPath()
  if (executablePath === undefined) throw new Error('there is no Chromium: apt-get install chromium')
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/**
 * Notes all that goes wrong in a page beside its own state: errors of the console and of scripts, what the
 * Content-Security-Policy refused, requests that leave the host, answers of errors.
 *
 * @returns the list that grows while the page lives
 */
export function watchPage(page, base) {
  const host = new URL(base).host
  const found = []
  page.on('console', message => {
    if (message.type() === 'error') found.push(`console: ${message.text().slice(0, 300)}`)
  })
  page.on('pageerror', error => found.push(`script: ${String(error.message).slice(0, 300)}`))
  page.on('request', request => {
    const url = new URL(request.url())
    if (/^(?:https?|wss?):$/.test(url.protocol) && url.host !== host)
      found.push(`request to another host: ${url.href.slice(0, 200)}`)
  })
  page.on('requestfailed', request => {
    const reason = request.failure()?.errorText ?? ''
    if (reason !== 'net::ERR_ABORTED') found.push(`failed: ${request.url()} ${reason}`)
  })
  return found
}

/** Counts the bytes that come over the wire, compressed and with the headers, the cache of the browser being off. */
export async function countBytes(page) {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  const names = new Map()
  const sizes = []
  session.on('Network.requestWillBeSent', ({ requestId, request }) => names.set(requestId, request.url))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
    sizes.push([names.get(requestId) ?? '', encodedDataLength]),
  )
  return { sum: () => sizes.reduce((sum, [, size]) => sum + size, 0), sizes }
}
