import type { Test } from 'tap'

/** What a folder contains, as `t.testdir` takes it. */
export type FolderFiles = Parameters<Test['testdir']>[0]

/**
 * Makes a folder that is removed once the test has ended and everything has been closed that the test registered with
 * `t.teardown`. `t.testdir` alone removes it before what is registered later is closed, while that may still write to it.
 */
export function temporaryFolder(t: Test, files?: FolderFiles): string {
  // What is registered before the folder is made runs before the folder is removed, and so does all that is registered later.
  t.teardown(() => undefined)
  return t.testdir(files)
}
