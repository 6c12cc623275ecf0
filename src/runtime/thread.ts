import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Starts a thread. It runs built files: if the calling module is a TypeScript source, as in tests, that is its counterpart in
 * dist, and the loaders of the caller are not passed on, because they do not work in threads.
 *
 * @param caller `import.meta.url` of the calling module
 * @param module relative path of the thread's module, without extension: `./worker`
 */
export function startThread(caller: string, module: string, options: WorkerOptions): Worker {
  return new Worker(threadModule(caller, module), { ...options, execArgv: [] })
}

function threadModule(caller: string, module: string): URL {
  if (!caller.endsWith('.ts')) return new URL(`${module}.js`, caller)
  const built = caller.replace(/\/src\/((?:[^/]+\/)*[^/]+)\.ts$/, '/dist/$1.js')
  return new URL(`${module}.js`, built)
}
