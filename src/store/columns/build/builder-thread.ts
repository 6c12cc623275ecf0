import { once } from 'node:events'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { startThread } from '../../../runtime/thread.ts'
import { buildColumnsFile } from './columns-file.ts'
import type { GraphBuilderOptions } from './graph-builder.ts'

const BUILDER = 'lodestone-columns-builder'

interface BuilderData {
  readonly role: typeof BUILDER
  readonly triples: string
  readonly path: string
  readonly isSearched: boolean
}

/** Makes the file of columns of a graph from its gzip-compressed N-Triples in a thread of its own, while this one answers. */
export async function buildColumnsAside(
  triples: string,
  path: string,
  { isSearched = false }: Pick<GraphBuilderOptions, 'isSearched'> = {},
): Promise<void> {
  const data: BuilderData = { role: BUILDER, triples, path, isSearched }
  const thread = startThread(import.meta.url, './builder-thread', { workerData: data, name: BUILDER })
  // Rejects with the error that ended the thread.
  const [code] = (await once(thread, 'exit')) as [number]
  if (code !== 0) throw new Error(`the columns could not be made: the thread ended with ${code}`)
}

const given = workerData as BuilderData | null
if (!isMainThread && given?.role === BUILDER) {
  await buildColumnsFile(given.triples, given.path, { isSearched: given.isSearched })
  parentPort?.close()
}
