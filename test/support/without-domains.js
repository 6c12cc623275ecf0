/**
 * Loaded before tap: without hooks at every promise and timer, by which tap finds the test that an error which nobody caught belongs
 * to, tests take a tenth less. Such an error still fails its file; run alone (`node --import=tsx test/x.test.ts`) it tells the test.
 */
import hooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const none = { enable: () => none, disable: () => none }
hooks.createHook = () => none
syncBuiltinESMExports()
