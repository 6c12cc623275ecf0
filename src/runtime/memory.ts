import { availableParallelism, totalmem } from 'node:os'
import { lookup } from '../model/lookup.ts'

/** Bytes of an idle process: code, its own heap, caches of answers. */
const PROCESS = 260e6

/** Minimum memory of a store. */
const LEAST = 64e6

/** Shares of the memory of a store: columns, working memory of one query, graphs in the engine; the rest is for responses in progress. */
const SHARES = { columns: 0.4, query: 0.15, resident: 0.3 }

/** Bytes that a store may use, by purpose. */
export interface StoreMemory {
  /** Columns, dictionaries, and structures derived from them. */
  readonly columns: number
  /** Working memory of one query. */
  readonly query: number
  /** Graphs that are resident in the engine. */
  readonly resident: number
}

/** Bytes of an engine in addition to its graphs, for the working memory of a query and the batch that is being loaded. */
const ENGINE = 96e6
/** The address space of an engine has 32 bits. */
const MAX_ENGINE = 4 * 2 ** 30
/** Maximum heap of an engine in addition to its graphs, as a share of the maximum size of these. */
const WORKING_SHARE = 0.5

/** Maximum bytes of the graphs in an engine, maximum size of its heap, and maximum characters of an answer. */
export interface EngineMemory {
  readonly graphs: number
  readonly ceiling: number
  readonly maxAnswer: number
}

/** The shares of an engine in the memory of a store. */
export function engineMemory({ resident, query }: StoreMemory): EngineMemory {
  const graphs = Math.min(resident, (MAX_ENGINE - 2 * ENGINE) / (1 + WORKING_SHARE))
  return {
    graphs,
    ceiling: Math.floor((1 + WORKING_SHARE) * graphs + ENGINE),
    maxAnswer: Math.min(2 ** 28, Math.max(8e6, query)),
  }
}

/** Bytes of memory available to this process: the limit of its control group, or the memory of the machine. */
export function availableMemory(): number {
  const limit = process.constrainedMemory()
  return limit > 0 && limit < totalmem() ? limit : totalmem()
}

/** Default memory of a process: half of what is available. */
export function defaultMemory(): number {
  return Math.floor(availableMemory() / 2)
}

/** Default number of threads that answer queries: one for each processor, at least two. */
export function defaultWorkers(): number {
  return Math.min(16, Math.max(2, availableParallelism()))
}

/** The shares of a store in the memory of its process. */
export function storeMemory(memory: number): StoreMemory {
  const all = Math.max(LEAST, memory - PROCESS - ENGINE)
  return {
    columns: Math.floor(SHARES.columns * all),
    query: Math.floor(SHARES.query * all),
    resident: Math.floor(SHARES.resident * all),
  }
}

/** The share of the memory left by the store in which answers are cached, with minimum and maximum. */
const ANSWERS = { share: 0.15, least: 12e6, most: 300e6 }

/** Sizes of the caches of answers, for all routes together. */
export interface AnswerMemory {
  /** Characters of bodies. */
  readonly bodies: number
  /** Bytes of responses, as sent. */
  readonly responses: number
  /** Characters of the data of pages, in their JSON form. */
  readonly pages: number
}

/** The caches of answers in the memory of a process. */
export function answerMemory(memory: number): AnswerMemory {
  const { share, least, most: max } = ANSWERS
  const all = Math.min(max, Math.max(least, share * (memory - PROCESS)))
  // A character takes at most two bytes, and about eight in an object.
  return { bodies: Math.floor(all / 6), responses: Math.floor(all / 3), pages: Math.floor(all / 24) }
}

/** Threads that publish datasets in parallel, and their total memory: that of the process without its own share. */
export function publishingShare(memory: number): { readonly threads: number; readonly memory: number } {
  return { threads: defaultWorkers(), memory: Math.max(LEAST, memory - PROCESS) }
}

/** `1,234 MB`, for messages. */
export function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`
}

const UNITS: Readonly<Record<string, number>> = {
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
}

/** The bytes of a size with a unit, as in settings. */
export function bytesOfSize(text: string): number {
  const [, number = '', unit = ''] = /^([\d.]+) ?(\w+)$/.exec(text) ?? []
  return Math.floor(Number(number) * (lookup(UNITS, unit) ?? Number.NaN))
}
