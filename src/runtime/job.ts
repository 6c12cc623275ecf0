import { startThread } from './thread.ts'

/** How a job runs; without a deadline or a signal it ends by itself. */
export interface JobOptions {
  /** Name of its thread, for those who look at the process. */
  readonly name?: string
  /** Milliseconds after which it is ended. */
  readonly deadline?: number
  readonly signal?: AbortSignal
}

/**
 * Runs a job in a thread of its own: a module that reads `workerData`, posts at most one message, its result, and ends.
 * Rejects with what ended it early.
 *
 * @param caller `import.meta.url` of the calling module
 * @param module relative path of the job's module, without ending: `./build-worker`
 * @param data what the job is given
 * @returns its result; null where it has none, or was ended by the deadline or the signal
 */
export function runJob<Result = never>(
  caller: string,
  module: string,
  data: unknown,
  { name = 'lodestone-job', deadline, signal }: JobOptions = {},
): Promise<Result | null> {
  return new Promise((resolve, reject) => {
    const worker = startThread(caller, module, { workerData: data, name })
    let result: Result | null = null
    let isStopped = false
    const stop = () => {
      isStopped = true
      void worker.terminate()
    }
    const timer = deadline === undefined ? undefined : setTimeout(stop, deadline)
    signal?.addEventListener('abort', stop, { once: true })
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
