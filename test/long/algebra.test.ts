/** More cases of test/algebra.test.ts. */
import '../algebra.test.ts'
