import { workerData } from 'node:worker_threads'
import type { BuildSetup } from './build-thread.ts'
import { buildColumnsFile } from './columns-file.ts'

/** Entry point of a thread that builds one columns file. */
const { triples, columns, isSearched } = workerData as BuildSetup
await buildColumnsFile(triples, columns, { isSearched })
