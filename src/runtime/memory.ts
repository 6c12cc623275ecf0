import { availableParallelism, totalmem } from 'node:os'
import { lookup } from '../model/lookup.ts'

/** Bytes of a process that serves nothing: code, its own heap, caches of answers. */
const PROCESS = 260e6

/** Least that a store works with. */
const LEAST = 64e6

/** Parts of what a store may use: columns, what one query works with, graphs in the engine; the rest is for answers on their way. */
const SHARES = { columns: 0.4, query: 0.15, resident: 0.3 }

/** Bytes that a store may use, by what for. */
export interface StoreMemory {
  /** Columns, dictionaries, and what is made of them. */
  readonly columns: number
  /** What one query works with. */
  readonly query: number
  /** Graphs that are resident in the engine. */
  readonly resident: number
}

/** Bytes of an engine beside its graphs, for what a query works with and for the batch that is being loaded. */
const ENGINE = 96e6
/** An engine's memory has 32 bits. */
const MAX_ENGINE = 4 * 2 ** 30
/** What the heap of an engine may have beside its graphs, by what these may have. */
const WORKING_SHARE = 0.5

/** Bytes that the graphs in an engine may take, the heap that it may fill, and the longest answer, in characters. */
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

/** Bytes of memory that this process may have: what its group is limited to, or all of the machine. */
export function availableMemory(): number {
  const limit = process.constrainedMemory()
  return limit > 0 && limit < totalmem() ? limit : totalmem()
}

/** What a process may use where nothing else is said: half of what there is. */
export function defaultMemory(): number {
  return Math.floor(availableMemory() / 2)
}

/** Threads that answer queries where nothing else is said: one for each processor, two at least. */
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

/** Part of what a store leaves that answers are cached in, and the least and the most of it. */
const ANSWERS = { share: 0.15, least: 12e6, most: 300e6 }

/** What may be cached of answers, all routes together. */
export interface AnswerMemory {
  /** Characters of bodies. */
  readonly bodies: number
  /** Bytes of responses, as they are sent. */
  readonly responses: number
  /** Characters, as JSON would write it, of what pages are made of. */
  readonly pages: number
}

/** The caches of answers in the memory of a process. */
export function answerMemory(memory: number): AnswerMemory {
  const { share, least, most: max } = ANSWERS
  const all = Math.min(max, Math.max(least, share * (memory - PROCESS)))
  // A character takes two bytes at most, and about eight in an object.
  return { bodies: Math.floor(all / 6), responses: Math.floor(all / 3), pages: Math.floor(all / 24) }
}

/** Threads that publish datasets at once, and what all of them may use: what a process may use, but for itself. */
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

/** A size as people write it. */
export const SIZE_PATTERN = '^\\d+(\\.\\d+)? ?(kB|MB|GB|KiB|MiB|GiB)$'

/** The bytes of a text of {@link SIZE_PATTERN}. */
export function bytesOfSize(text: string): number {
  const [, number = '', unit = ''] = /^([\d.]+) ?(\w+)$/.exec(text) ?? []
  return Math.floor(Number(number) * (lookup(UNITS, unit) ?? Number.NaN))
}
