import { startThread } from './thread.ts'

/** Options of a job; without a deadline or a signal it ends by itself. */
export interface JobOptions {
  /** Name of its thread, for process inspection. */
  readonly name?: string
  /** Milliseconds after which it is terminated. */
  readonly deadline?: number
  readonly signal?: AbortSignal
  /** Megabytes of its heap; with more it ends, and not the process. */
  readonly heap?: number
}

/** True for the error of a job whose heap was too small. */
export function isOutOfMemory(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

/**
 * Runs a job in a separate thread: a module that reads `workerData`, posts at most one message, its result, and ends. Rejects
 * with the error that ended it early.
 *
 * @param caller `import.meta.url` of the calling module
 * @param module relative path of the job's module, without extension: `./build-worker`
 * @param data the input of the job
 * @returns its result; null if it has none, or was terminated by the deadline or the signal
 */
export function runJob<Result = never>(
  caller: string,
  module: string,
  data: unknown,
  { name = 'lodestone-job', deadline, signal, heap }: JobOptions = {},
): Promise<Result | null> {
  return new Promise((resolve, reject) => {
    const resourceLimits = heap === undefined ? {} : { maxOldGenerationSizeMb: heap }
    const worker = startThread(caller, module, { workerData: data, name, resourceLimits })
    let result: Result | null = null
    let isStopped = false
    const stop = () => {
      isStopped = true
      void worker.terminate()
    }
    const timer = deadline === undefined ? undefined : setTimeout(stop, deadline)
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted === true) stop()
    worker.once('message', (message: Result) => {
      result = message
    })
    worker.once('error', reject)
    worker.once('exit', code => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      if (code === 0 || isStopped) resolve(result)
      else reject(new Error(`the thread ${name} ended with ${code}`))
    })
  })
}
