/**
 * Whether a test takes its time: `npm run test:long` sets LONG=1, and its files that only import one of test/ run that one with all of its
 * cases, or with those that `npm test` leaves out.
 */
export const isLong = process.env.LONG === '1'
