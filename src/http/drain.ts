import type { Server } from 'node:http'

/** How often connections are looked at that may have become idle, in milliseconds. */
const LOOK = 50

/**
 * Lets a server that takes no new connections finish what it is answering: those without an answer under way are ended at
 * once and as they come to be so, all others when the time is up.
 *
 * @param closing what resolves when the server has no connections left
 * @param timeout milliseconds
 * @returns false where answers were cut off
 */
export async function drain(server: Server, closing: Promise<unknown>, timeout: number): Promise<boolean> {
  let isWhole = true
  const looking = setInterval(() => server.closeIdleConnections(), LOOK)
  const cutting = setTimeout(() => {
    isWhole = false
    server.closeAllConnections()
  }, timeout)
  try {
    await closing
    return isWhole
  } finally {
    clearInterval(looking)
    clearTimeout(cutting)
  }
}
