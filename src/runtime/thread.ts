import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Starts a thread. It runs built files: where the calling module is a TypeScript source, as in tests, that is its
 * counterpart in dist, and the loaders of the caller are left behind, for they do not reach into threads.
 *
 * @param caller `import.meta.url` of the calling module
 * @param module relative path of the thread's module, without ending: `./worker`
 */
export function startThread(caller: string, module: string, options: WorkerOptions): Worker {
  return new Worker(threadModule(caller, module), { ...options, execArgv: [] })
}

function threadModule(caller: string, module: string): URL {
  if (!caller.endsWith('.ts')) return new URL(`${module}.js`, caller)
  const built = caller.replace(/\/src\/((?:[^/]+\/)*[^/]+)\.ts$/, '/dist/$1.js')
  return new URL(`${module}.js`, built)
}
