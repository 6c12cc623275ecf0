/** More cases of test/column-expressions.test.ts. */
import '../column-expressions.test.ts'
