/** Ends with 0 where Lodestone answers in this container: what HEALTHCHECK of the image runs. */
const { LODESTONE_PORT: port = '3000' } = process.env
const { ok } = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(4000) })
process.exitCode = ok ? 0 : 1
