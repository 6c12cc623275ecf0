import { workerData } from 'node:worker_threads'
import type { BuildSetup } from './build-thread.ts'
import { buildColumnsFile } from './columns-file.ts'

/** Entry of a thread that makes one file of columns. */
const { triples, columns, isSearched } = workerData as BuildSetup
await buildColumnsFile(triples, columns, { isSearched })
