import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { publishAll } from '../../../src/publishing/publish-all.ts'

/**
 * Publishes the data of tests, a dataset for each that is different.
 *
 * @param texts N-Quads
 * @returns the folder, and the id of the dataset of each text
 */
export async function publishTexts(texts, base) {
  const portal = mkdtempSync(path.join(tmpdir(), 'lodestone-w3c-'))
  writeFileSync(path.join(portal, 'portal.yaml'), 'title: W3C\nfragment_size: 100\n')
  const ids = new Map()
  for (const text of new Set(texts)) {
    const id = `w3c-${ids.size}`
    ids.set(text, id)
    const folder = path.join(portal, 'data', id)
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, 'data.nq'), text)
    writeFileSync(path.join(folder, 'dataset.yaml'), 'source: { path: data.nq }\n')
  }
  await publishAll({ portal, base, now: () => new Date() }, null, message => {
    if (message.type === 'failed') process.stderr.write(`${JSON.stringify(message)}\n`)
  })
  return { portal, ids }
}

/** The tests that are about data. */
export const evaluations = tests => tests.filter(({ kind }) => kind === 'evaluation')
