import path from 'node:path'

const TESTS = path.resolve(import.meta.dirname, '..')
const BUILT = path.resolve(TESTS, '../.built')

/**
 * The arguments of node that run a TypeScript file of test/ in a process of its own: as it was built where this test was, too
 * (test/build.js), else with a loader, which takes seconds of every start. A test file runs in a working folder of its own (`cwd`)
 * where another process may run it, too: the folders of its fixtures are below.
 *
 * @param name path below test/, without its ending
 */
export function scriptArguments(name: string): readonly string[] {
  return process.argv[1]?.startsWith(BUILT + path.sep)
    ? [...FLAGS, path.join(BUILT, `${name}.js`)]
    : ['--import=tsx', path.join(TESTS, `${name}.ts`)]
}

/** The options of node under which `test/run.js` runs tests, for what a test starts: V8 optimises later. */
export const FLAGS: readonly string[] = process.execArgv.filter(flag => flag.startsWith('--interrupt-budget'))
