/**
 * Whether a test takes its time: `npm run test:long` sets LONG=1, and its files that only import one of test/ run that one with all of its
 * cases, of which `npm test` takes some.
 */
export const isLong = process.env.LONG === '1'
