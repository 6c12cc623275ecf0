import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyPluginAsync } from 'fastify'
import { Fault, NOT_FOUND_RESOURCE } from '../errors/errors.ts'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { acceptsCoding, type Coding } from '../http/content-coding.ts'
import { configureRoutes } from '../http/route-config.ts'
import { lookup } from '../model/lookup.ts'
import { ASSETS, ASSETS_PATH } from '../site/assets.ts'

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
  wasm: 'application/wasm',
}

/** Maximum bytes of a file that is compressed at the highest level; larger ones would take seconds. */
const SMALL = 300_000

/**
 * The built files for browsers: their names contain hashes of their contents, so that they are cached forever, and
 * compressed once.
 */
export const assets: FastifyPluginAsync = async app => {
  configureRoutes(app, { endpoint: 'assets', access: 'everybody' }, [ASSETS_PATH.slice(0, -1)])
  const compressed = new Map<string, Promise<Buffer>>()
  app.get<{ Params: { file: string } }>(`${ASSETS_PATH}:file`, async (request, reply) => {
    const { file } = request.params
    const type = /^[\w-]+(?:\.part)?\.[A-Z0-9]{8}\.(\w+)$/.exec(file)?.[1]
    const content =
      type === undefined
        ? null
        : ((await ignoreRejection(readFile(new URL(file, ASSETS)), 'it is answered with 404')) ?? null)
    if (type === undefined || content === null)
      throw new Fault(NOT_FOUND_RESOURCE, { kind: 'file', id: file.slice(0, 100) })
    reply
      .type(lookup(TYPES, type) ?? 'application/octet-stream')
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('vary', 'Accept-Encoding')
    const coding = codingOf(request.headers['accept-encoding'])
    if (coding === null) return reply.send(content)
    const key = `${coding} ${file}`
    const encoded = compressed.get(key) ?? compress(content, coding)
    compressed.set(key, encoded)
    return reply.header('content-encoding', coding).send(await encoded)
  })
}

function codingOf(accepted: string | undefined): Coding | null {
  if (accepted === undefined) return null
  return acceptsCoding(accepted, 'br') ? 'br' : acceptsCoding(accepted, 'gzip') ? 'gzip' : null
}

function compress(content: Buffer, coding: Coding): Promise<Buffer> {
  const isSmall = content.length <= SMALL
  if (coding === 'gzip') return promisify(gzip)(content, { level: isSmall ? 9 : 6 })
  const quality = isSmall ? 11 : 6
  return promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })
}
