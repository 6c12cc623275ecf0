import path from 'node:path'
import t from 'tap'

/**
 * Runs built test files one after another in this process, each as a test of its own: what they share is loaded and compiled once.
 * TEST_FILES has their paths below .built/ (tap makes names of folders of the arguments of a process); each takes its `t` from here,
 * see test/build.js.
 */
for (const file of process.env.TEST_FILES?.split(' ') ?? [])
  await t.test(file, async fileTest => {
    Object.assign(globalThis, { fileTest })
    await import(path.resolve(import.meta.dirname, '../../.built', file))
  })
