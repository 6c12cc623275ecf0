import { runJob } from '../../../runtime/job.ts'

/** What a thread makes columns of. */
export interface BuildSetup {
  /** Gzip-compressed N-Triples. */
  readonly triples: string
  /** File of columns, which is there when it is whole. */
  readonly columns: string
  readonly isSearched: boolean
}

/** Makes the file of columns of a graph from its triples, in a thread of its own. Rejects with the error that prevented it. */
export async function buildColumnsInThread(setup: BuildSetup): Promise<void> {
  await runJob(import.meta.url, './build-worker', setup, { name: 'lodestone-build' })
}
