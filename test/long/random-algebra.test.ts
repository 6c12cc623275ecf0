/** More cases of test/random-algebra.test.ts. */
import '../random-algebra.test.ts'
