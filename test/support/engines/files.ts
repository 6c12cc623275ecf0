import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { FileSource, SharedStore } from '../../../src/store/remote/remote.ts'
import type { TextGraph } from '../store-contract.ts'

/** The files of a graph as a publication has them: compressed triples, and a place for columns. */
export function fileOf(folder: string, { graph, text }: TextGraph): FileSource {
  const file = path.join(folder, graph.replaceAll(/[^a-z0-9]/gi, '-'))
  writeFileSync(`${file}.nt.gz`, gzipSync(text))
  const columns = `${file}.columns`
  rmSync(columns, { force: true })
  const triples = new Set(text.trimEnd().split('\n')).size
  return { graph, path: `${file}.nt.gz`, columns, triples, bytes: text.length, isSearched: false }
}

export async function travel(store: SharedStore, source: FileSource): Promise<void> {
  await store.upload(source, {})
  const fetched = { ...source, path: null, columns: `${source.columns}.fetched` }
  await store.fetch({ ...fetched, stored: null })
  t.same(readFileSync(fetched.columns), readFileSync(source.columns), 'the same bytes')
  await store.load([fetched])
}
