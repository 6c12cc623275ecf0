import { runJob } from '../../../runtime/job.ts'

/** The input and output of a thread that builds columns. */
export interface BuildSetup {
  /** Gzip-compressed N-Triples. */
  readonly triples: string
  /** File of columns, which exists only when it is complete. */
  readonly columns: string
  readonly isSearched: boolean
}

/** Builds the columns file of a graph from its triples, in its own thread. Rejects with the error that prevented it. */
export async function buildColumnsInThread(setup: BuildSetup): Promise<void> {
  await runJob(import.meta.url, './build-worker', setup, { name: 'lodestone-build' })
}
