import { startThread } from '../../../runtime/thread.ts'

/** What a thread makes columns of. */
export interface BuildSetup {
  /** Gzip-compressed N-Triples. */
  readonly triples: string
  /** File of columns, which is there when it is whole. */
  readonly columns: string
  readonly isSearched: boolean
}

/** Makes the file of columns of a graph from its triples, in a thread of its own. Rejects with what kept it from that. */
export function buildColumnsInThread(setup: BuildSetup): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = startThread(import.meta.url, './build-worker', {
      workerData: setup,
      name: 'lodestone-build',
    })
    worker.once('error', reject)
    worker.once('exit', code => {
      if (code === 0) resolve()
      else reject(new Error(`the thread that makes ${setup.columns} ended with ${code}`))
    })
  })
}
