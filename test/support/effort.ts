/**
 * Whether a test takes its time: `npm run test:long` sets LONG=1, and its files that only import one of test/ run the tests of that one
 * that have more cases then, with those that `npm test` leaves out. Where it has others as well, `t.runOnly = isLong` leaves them out.
 */
export const isLong = process.env.LONG === '1'

/** The options of a test that has more cases in a long run, beside others that have not. */
export const withMore = { only: isLong }
