/**
 * Address of the module that a thread begins with. Threads run built files: where the calling module is a TypeScript
 * source, as in tests, that is its counterpart in dist, for loaders of TypeScript do not reach into threads.
 *
 * @param caller `import.meta.url` of the calling module
 * @param module relative path of the thread's module, without ending: `./worker`
 */
export function threadModule(caller: string, module: string): URL {
  if (!caller.endsWith('.ts')) return new URL(`${module}.js`, caller)
  const built = caller.replace(/\/src\/((?:[^/]+\/)*[^/]+)\.ts$/, '/dist/$1.js')
  return new URL(`${module}.js`, built)
}
