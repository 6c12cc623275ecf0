import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import path from 'node:path'
import { type DeclaredFault, Fault, type FaultPlace, UNPROCESSABLE_ENTITY } from '../../errors/errors.ts'
import { FairQueue } from '../../runtime/fair-queue.ts'
import { isOutOfMemory, runJob } from '../../runtime/job.ts'
import { checkDataset } from '../check.ts'
import { readDefinition } from '../definition.ts'
import { completedChange } from './completed-fields.ts'
import { inspectDataset, previewDataset, understandFile } from './dataset-preview.ts'

/** What is read of the files of datasets at the desk, by name. */
const READINGS = { checkDataset, completedChange, inspectDataset, previewDataset, understandFile }

type Readings = typeof READINGS

/** The job of a thread: a reading and its arguments. */
export interface ReadingJob {
  readonly name: keyof Readings
  readonly args: readonly unknown[]
}

/** A fault that is sent between threads. */
interface SentFault extends Pick<DeclaredFault, 'code' | 'status' | 'isCounted'> {
  readonly message: string
  readonly parts: Fault['parts']
  readonly place: FaultPlace
  readonly hint: string | undefined
}

/** The answer of a thread: a result, or a fault. */
export type ReadingAnswer = { readonly result: unknown } | { readonly fault: SentFault }

/** Texts of at most this many bytes are read at once, in less time than a thread takes to start. */
const SMALL = 2 ** 17

/** Bytes at the beginning of a file that show whether it is text, and the least byte of texts. */
const [SNIFFED, TAB] = [512, 9]

/** Milliseconds that a reading may take. */
const DEADLINE = 15 * 60_000

/** Megabytes of the heap of a reading. */
const HEAP = 1024

/** Few readings at a time, because each takes the memory of a thread. No client is charged: the work of publishers is no query. */
const QUEUE = new FairQueue({ concurrency: 4, limit: 40, timeout: DEADLINE })

/**
 * Reads files of a dataset: small ones at once, others in a thread, so that requests are answered meanwhile. Faults: those of the
 * reading, StoreBusy where too many wait, UnprocessableEntity where it takes too long or too much memory.
 *
 * @param bytes of the files that are read, see {@link sourceBytes}
 * @param signal ends the reading, its reason is thrown
 */
export async function reading<Name extends keyof Readings>(
  bytes: number,
  name: Name,
  args: Parameters<Readings[Name]>,
  signal?: AbortSignal,
): Promise<Awaited<ReturnType<Readings[Name]>>> {
  type Result = Awaited<ReturnType<Readings[Name]>>
  const job: ReadingJob = { name, args }
  if (bytes <= SMALL) {
    const result = await perform(job)
    signal?.throwIfAborted()
    return result as Result
  }
  const limits = { deadline: DEADLINE, heap: HEAP, ...(signal === undefined ? {} : { signal }) }
  const options = { name: 'lodestone-reader', ...limits }
  const answer = await QUEUE.run(null, () =>
    runJob<ReadingAnswer>(import.meta.url, './reading-worker', job, options),
  ).catch((error: unknown) => {
    if (isOutOfMemory(error)) throw refused(`needs more than ${HEAP} MB of memory`)
    throw error
  })
  signal?.throwIfAborted()
  if (answer === null) throw refused(`takes longer than ${DEADLINE / 60_000} minutes`)
  if ('fault' in answer) throw receivedFault(answer.fault)
  return answer.result as Result
}

function refused(why: string): Fault {
  return new Fault(UNPROCESSABLE_ENTITY, { reason: `Reading the source ${why}.` })
}

/** Does a reading in this thread. */
export function perform({ name, args }: ReadingJob): Promise<unknown> {
  const read = READINGS[name] as (...given: readonly never[]) => Promise<unknown>
  return read(...(args as readonly never[]))
}

/** Bytes of the source of a dataset; infinite where it is more than one file, or is fetched, or has steps. */
export function sourceBytes(root: string, id: string): number {
  const { definition } = readDefinition(root, id)
  if (definition === null) return 0
  const { source, sourceFolder, processors } = definition
  if (source.path === undefined || processors.length > 0) return Number.POSITIVE_INFINITY
  return textBytes(path.join(sourceFolder, source.path))
}

/** Bytes of a file that seems to be text; infinite for others, which may be packed, and where there is no such file. */
export function textBytes(file: string): number {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return Number.POSITIVE_INFINITY
  let opened: number
  try {
    opened = openSync(file, 'r')
  } catch {
    // The reading says why.
    return Number.POSITIVE_INFINITY
  }
  try {
    const head = Buffer.alloc(SNIFFED)
    const length = readSync(opened, head)
    const isText = head.subarray(0, length).every(byte => byte >= TAB)
    return isText ? fstatSync(opened).size : Number.POSITIVE_INFINITY
  } finally {
    closeSync(opened)
  }
}

/** A fault as it is sent to the thread that asked; its cause stays behind. */
export function sentFault({ code, status, isCounted, message, parts, place, hint }: Fault): SentFault {
  return { code, status, isCounted, message, parts, place, hint }
}

function receivedFault({ message, parts, place, hint, ...declared }: SentFault): Fault {
  return new Fault(
    { ...declared, message: '{message}' },
    { ...parts, message },
    { place, ...(hint === undefined ? {} : { hint }) },
  )
}
