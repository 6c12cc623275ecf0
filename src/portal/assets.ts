import { readFile } from 'node:fs/promises'
import type { FastifyPluginAsync } from 'fastify'
import { Fault } from '../errors.ts'
import { ASSETS, ASSETS_PATH } from '../http/site/assets.ts'

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
  wasm: 'application/wasm',
}

/** The files that the build made for browsers: their names change with their contents, so that they are kept for good. */
export const assets: FastifyPluginAsync = async app => {
  app.get<{ Params: { file: string } }>(`${ASSETS_PATH}:file`, async (request, reply) => {
    const { file } = request.params
    const type = /^[\w-]+\.[A-Z0-9]{8}\.(\w+)$/.exec(file)?.[1]
    const content = type === undefined ? null : await readFile(new URL(file, ASSETS)).catch(() => null)
    if (type === undefined || content === null)
      throw new Fault('NotFoundResource', { kind: 'file', id: file.slice(0, 100) })
    return reply
      .type(TYPES[type] ?? 'application/octet-stream')
      .header('cache-control', 'public, max-age=31536000, immutable')
      .send(content)
  })
}
