/** More cases of test/column-dates.test.ts. */
import '../column-dates.test.ts'
