import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { sourceFiles } from '../sources/open.ts'
import type { Definition } from './definition.ts'
import { VERSION_FORMAT } from './versions.ts'

/**
 * A digest of everything that a published version is made from: dataset.yaml, the content of the source, the public
 * address in the IRIs, and the form of the version itself. Equal digests need no new publication.
 */
export async function fingerprintOf(definition: Definition, base: string, portal: string): Promise<string> {
  const digest = createHash('sha256')
  digest.update(JSON.stringify([VERSION_FORMAT, base, definition.id, definition.text]))
  for (const file of sourceFiles(definition.source, {
    datasetFolder: definition.folder,
    portalFolder: portal,
  })) {
    digest.update(`\n${file.slice(file.lastIndexOf('/') + 1)}\n`)
    for await (const piece of createReadStream(file)) digest.update(piece as Buffer)
  }
  return digest.digest('hex')
}
